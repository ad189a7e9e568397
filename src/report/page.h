/* One result on its way into a page: the parts of RESULT in docs/report.md, one file each. */
#ifndef BG_REPORT_PAGE_H
#define BG_REPORT_PAGE_H

#include "report/json.h"
#include "report/scene.h"

typedef struct bg_page_result {
    const char *name; /* of the file, without folder and ending */
    bg_result_file *file;
    bg_scene *scene;          /* NULL: plots only ... */
    char note[BG_SCENE_NOTE]; /* ... and why, or what the scene leaves out; empty: nothing */
    json_t *setup, *summary;  /* as in the file; NULL: not there, or no JSON */
    long rows, drawn;         /* rows with usable times, and points of a plot */
    long steps, drawn_steps;  /* the same of the step history */
    int order;                /* of the method; 0: none, or it varies */
    long not_finite;          /* numbers in the plots that are not finite ... */
    double not_finite_t;      /* ... the first of them, s */
} bg_page_result;

/* Each writes members of the object j is in. Out of memory, or a file that cannot be read. */
bg_status bg_page_write_channels(bg_json *j, bg_page_result *r,
                                 bg_error *err); /* "t", "channels" */
bg_status bg_page_write_steps(bg_json *j, bg_page_result *r,
                              bg_error *err); /* "steps", "residuals" */
bg_status bg_page_write_events(bg_json *j, bg_page_result *r, bg_error *err);
bg_status bg_page_write_scene(bg_json *j, const bg_page_result *r, bg_error *err);
/* After the others, which count. */
void bg_page_write_facts(bg_json *j, const bg_page_result *r);
bool bg_page_write_summary(bg_json *j, const bg_page_result *r); /* false: out of memory */

/* "plots"; size [noutputs]: the largest value of each output, NAN: not finite; NULL: not known. */
void bg_page_write_plots(bg_json *j, const bg_page_result *r, const double *size);
/* "view" of a scene. */
void bg_page_write_view(bg_json *j, const bg_model *model);

/* The unit of a column of "q", "v" or "outputs"; "" where it is not known. */
const char *bg_page_find_unit(const bg_scene *scene, const char *dataset, int column);

#endif
