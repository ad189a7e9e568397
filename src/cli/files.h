/* The files that options of a verb name, looked at before the work begins. */
#ifndef BG_CLI_FILES_H
#define BG_CLI_FILES_H

#include "base/place.h"

typedef struct bg_cli_file {
    const char *option; /* "--json" */
    const char *path;   /* NULL: not given; "-": stdout */
    bg_place_kind kind;
} bg_cli_file;

/* One file cannot serve two purposes. */
bg_status bg_cli_check_distinct(const bg_cli_file *files, int n, bg_error *err);
/* Whether each of them can be written. */
bg_status bg_cli_check_places(const bg_cli_file *files, int n, bg_error *err);

#endif
