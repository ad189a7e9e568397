/* The machine under a real-time run. */
#ifndef BG_HOST_H
#define BG_HOST_H

/* Seconds since it was switched on in which a virtual machine wanted to run and its host ran
 * something else, all processors together; NAN: not known. */
double bg_host_find_stolen(void);

#endif
