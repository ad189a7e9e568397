/* Pages that verbs write of a result, which may be needed for nothing else. */
#ifndef BG_CLI_PAGE_H
#define BG_CLI_PAGE_H

#include "bogie/status.h"

#include <limits.h>

/* Whether --html can name this page (NULL: not given), before anything is computed. */
bg_status bg_page_check(const char *html, bg_error *err);
/* Of a result; title may be NULL. */
bg_status bg_page_write(const char *result, const char *title, const char *html, bg_error *err);

/* A result in a folder of its own, for what only a page needs; its name is the page's. */
typedef struct bg_page_folder {
    char folder[PATH_MAX];
    char path[PATH_MAX + NAME_MAX + 8]; /* "": there is none */
} bg_page_folder;

bg_status bg_page_folder_open(const char *html, bg_page_folder *result, bg_error *err);
/* Removes it, if it is there. */
void bg_page_folder_close(bg_page_folder *result);

#endif
