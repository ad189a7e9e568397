/* Reports: results and studies as one HTML page, and the motion of a result as glTF.
 *
 * docs/report.md describes the data inside of a page. */
#ifndef BOGIE_REPORT_H
#define BOGIE_REPORT_H

#include "bogie/status.h"

BG_API_BEGIN

typedef struct bg_report bg_report;

bg_status bg_report_create(bg_report **report, bg_error *err);
void bg_report_destroy(bg_report *report);

/* Adds a result (HDF5) or the output of a study (JSON), which is told by what is in the file. A
 * file that cannot be shown is refused with its reason. */
bg_status bg_report_add(bg_report *report, const char *path, bg_error *err);

/* Adds a study by its output (JSON) itself; name stands for a file in messages. */
bg_status bg_report_add_study(bg_report *report, const char *name, const char *text, bg_error *err);

/* Writes the page. template_ is the text of the viewer, with one line for the data; title may be
 * NULL. At every moment the old or the new page is under the name. A file there that is no
 * page of Bogie is not replaced. */
bg_status bg_report_write(bg_report *report, const char *template_, const char *title,
                          const char *path, bg_error *err);

/* Writes the motion of the only result as binary glTF 2.0, in the same way. */
bg_status bg_report_write_gltf(bg_report *report, const char *path, bg_error *err);

BG_API_END
#endif
