#include "cli/cli.h"

#include <math.h>
#include <stdio.h>

enum { BAR_WIDTH = 24 };

static void print_bar(double fraction)
{
    char bar[BAR_WIDTH + 1];
    int filled = (int)(fraction * BAR_WIDTH);
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %3.0f%%", bar, 100 * fraction);
}

static void print_time_left(double seconds)
{
    if (seconds < 100)
        fprintf(stderr, ", %.0f s left", ceil(seconds));
    else if (seconds < 6000)
        fprintf(stderr, ", %.0f min left", ceil(seconds / 60));
    else
        fprintf(stderr, ", %.1f h left", seconds / 3600);
}

void bg_progress_bar_update(void *self, const bg_progress *progress)
{
    bg_progress_bar *bar = self;
    double span = progress->t_end - progress->t_start, done = progress->t - progress->t_start;
    double fraction = span > 0 ? fmin(fmax(done / span, 0), 1) : 1;
    print_bar(fraction);
    fprintf(stderr, " t = %.4g of %.4g s", progress->t, progress->t_end);
    if (progress->wall_seconds > 0 && done > 0) {
        double speed = done / progress->wall_seconds; /* simulated per real second */
        fprintf(stderr, ", %.3g x real time", speed);
        print_time_left((span - done) / speed);
    }
    fputs("\033[K", stderr); /* what is left of a longer line */
    fflush(stderr);
    bar->shown = true;
}

void bg_progress_bar_erase(bg_progress_bar *bar)
{
    if (bar->shown)
        fputs("\r\033[K", stderr);
    bar->shown = false;
}
