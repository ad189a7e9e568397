/* Where the resources of an FMU are. */
#ifndef BG_FMI_PLACE_H
#define BG_FMI_PLACE_H

/* The path of a file URI, file:///a%20b or file:/a, to be released with free(); NULL: it is none,
 * or out of memory. */
char *bg_fmi_place_from_uri(const char *uri);

#endif
