#include "realtime/host.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal, in ticks. */
double bg_host_find_stolen(void)
{
    unsigned long long stolen = 0;
    FILE *file = fopen("/proc/stat", "r");
    if (!file)
        return NAN;
    int found = fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &stolen);
    fclose(file);
    return found == 1 ? (double)stolen / (double)sysconf(_SC_CLK_TCK) : NAN;
}
