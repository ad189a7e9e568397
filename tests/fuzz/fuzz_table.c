/* Any bytes as a CSV table: of a signal (two columns), and of a study's reference (titles and many
 * columns). What is read can be evaluated; what is refused has its sentence. */
#include "fuzz.h"
#include "model/signal.h"
#include "study/study.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void read_signal(const char *path, bg_signal_kind kind)
{
    bg_signal signal = {.kind = kind};
    bg_error err = {0};
    bg_status st = bg_signal_read_csv(&signal, path, &err);
    if (st == BG_OK)
        st = bg_signal_prepare(&signal, &err);
    if (st == BG_OK) {
        double u[3];
        bg_signal_calc(&signal, signal.x[0], u);
        bg_signal_calc(&signal, 0.5 * (signal.x[0] + signal.x[signal.n - 1]), u);
        for (int k = 0; k < bg_signal_count_corners(&signal); k++)
            bg_signal_get_corner(&signal, k);
    } else {
        expect_sentence(st, &err);
    }
    bg_signal_clear(&signal);
}

static void read_reference(const char *path)
{
    bg_trajectory tr = {0};
    char **columns = NULL;
    int count = 0;
    bg_error err = {0};
    bg_status st = bg_trajectory_read_csv(path, &tr, &columns, &count, &err);
    double *y = calloc((size_t)tr.width + 1, sizeof *y);
    if (st == BG_OK && y) {
        bg_trajectory_interpolate(&tr, tr.t[0], 4, y);
        bg_trajectory_interpolate(&tr, 0.3 * tr.t[0] + 0.7 * tr.t[tr.rows - 1], 4, y);
        bg_trajectory_interpolate(&tr, tr.t[tr.rows - 1] + 1, 6, y);
    } else if (st != BG_OK) {
        expect_sentence(st, &err);
    }
    for (int k = 0; k < count; k++)
        free(columns[k]);
    free(columns);
    free(y);
    bg_trajectory_clear(&tr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = memfd_create("table", 0);
    if (fd < 0)
        abort();
    if (write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    read_signal(path, BG_SIGNAL_LINEAR);
    read_signal(path, BG_SIGNAL_SPLINE);
    read_reference(path);
    close(fd);
    return 0;
}
