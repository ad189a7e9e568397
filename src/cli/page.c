#include "cli/page.h"

#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bg_status bg_page_check(const char *html, bg_error *err)
{
    if (html && !bg_template_get())
        return bg_error_set(err, BG_MISSING,
                            "this bogie was built without the viewer, so it writes no pages; leave "
                            "out --html, or build it where npm reaches its registry");
    if (html && strcmp(html, "-") == 0)
        return bg_error_set(err, BG_BAD_INPUT, "--html needs the name of a file, not '-'");
    return BG_OK;
}

bg_status bg_page_write(const char *result, const char *title, const char *html, bg_error *err)
{
    bg_report *report;
    bg_status st = bg_report_create(&report, err);
    if (st != BG_OK)
        return st;
    st = bg_report_add(report, result, err);
    if (st == BG_OK)
        st = bg_report_write(report, bg_template_get(), title, html, err);
    bg_report_destroy(report);
    return st;
}

bg_status bg_page_folder_open(const char *html, bg_page_folder *result, bg_error *err)
{
    const char *base = getenv("TMPDIR");
    snprintf(result->folder, sizeof result->folder, "%s/bogie-XXXXXX",
             base && *base ? base : "/tmp");
    if (!mkdtemp(result->folder))
        return bg_error_set(
            err, BG_IO,
            "cannot make the folder '%s' for a file on the way: %s; let TMPDIR name "
            "one where files can be written, or give -o FILE.h5",
            result->folder, strerror(errno));
    const char *slash = strrchr(html, '/'), *name = slash ? slash + 1 : html;
    const char *dot = strrchr(name, '.');
    snprintf(result->path, sizeof result->path, "%s/%.*s.h5", result->folder,
             (int)(dot && dot > name ? dot - name : (long)strlen(name)), name);
    return BG_OK;
}

void bg_page_folder_close(bg_page_folder *result)
{
    if (!*result->path)
        return;
    unlink(result->path);
    rmdir(result->folder);
    *result->path = '\0';
}
