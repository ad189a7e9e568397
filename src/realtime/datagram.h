/* The datagrams of real time, in and out: docs/realtime.md describes them for other programs.
 *
 *   offset  0   4 bytes  "BGRT"
 *           4   u16      version, 1
 *           6   u16      n, how many values follow
 *           8   u64      sequence number, growing
 *          16   f64      time of the sender, s
 *          24   n f64    values
 *
 * All numbers are little-endian. */
#ifndef BG_DATAGRAM_H
#define BG_DATAGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BG_DATAGRAM_HEADER = 24, BG_DATAGRAM_VALUES = 8000, BG_DATAGRAM_VERSION = 1 };

#define BG_DATAGRAM_SIZE(n) ((size_t)BG_DATAGRAM_HEADER + 8 * (size_t)(n))

/* Writes BG_DATAGRAM_SIZE(n) bytes. */
void bg_datagram_write(unsigned char *bytes, uint64_t sequence, double t, const double *values,
                       int n);
/* False: not a datagram with n finite values; nothing is written then. */
bool bg_datagram_read(const unsigned char *bytes, size_t size, int n, uint64_t *sequence, double *t,
                      double *values);

#endif
