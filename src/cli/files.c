#include "cli/files.h"

#include <string.h>

bg_status bg_cli_check_distinct(const bg_cli_file *files, int n, bg_error *err)
{
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n; k++)
            if (files[i].path && files[k].path && bg_place_is_same(files[i].path, files[k].path))
                return bg_error_set(err, BG_BAD_INPUT, "%s and %s both name '%s'; give two files",
                                    files[i].option, files[k].option, files[i].path);
    return BG_OK;
}

bg_status bg_cli_check_places(const bg_cli_file *files, int n, bg_error *err)
{
    bg_status status = BG_OK;
    for (int i = 0; i < n && status == BG_OK; i++)
        if (files[i].path && strcmp(files[i].path, "-") != 0)
            status = bg_place_check(files[i].path, files[i].kind, err);
    return status;
}
