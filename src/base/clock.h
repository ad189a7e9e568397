/* Clocks, in seconds. */
#ifndef BG_CLOCK_H
#define BG_CLOCK_H

double bg_clock_get_wall(void); /* monotonic */
double bg_clock_get_cpu(void);  /* of this process */

#endif
