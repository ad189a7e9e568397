#include "realtime/datagram.h"

#include <math.h>
#include <string.h>

static const unsigned char magic[4] = {'B', 'G', 'R', 'T'};

static void write_number(unsigned char *bytes, uint64_t x, int size)
{
    for (int i = 0; i < size; i++)
        bytes[i] = (unsigned char)(x >> (8 * i));
}

static uint64_t read_number(const unsigned char *bytes, int size)
{
    uint64_t x = 0;
    for (int i = 0; i < size; i++)
        x |= (uint64_t)bytes[i] << (8 * i);
    return x;
}

static void write_double(unsigned char *bytes, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    write_number(bytes, bits, 8);
}

static double read_double(const unsigned char *bytes)
{
    uint64_t bits = read_number(bytes, 8);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

void bg_datagram_write(unsigned char *bytes, uint64_t sequence, double t, const double *values,
                       int n)
{
    memcpy(bytes, magic, sizeof magic);
    write_number(bytes + 4, BG_DATAGRAM_VERSION, 2);
    write_number(bytes + 6, (uint64_t)n, 2);
    write_number(bytes + 8, sequence, 8);
    write_double(bytes + 16, t);
    for (int i = 0; i < n; i++)
        write_double(bytes + BG_DATAGRAM_SIZE(i), values[i]);
}

bool bg_datagram_read(const unsigned char *bytes, size_t size, int n, uint64_t *sequence, double *t,
                      double *values)
{
    if (size != BG_DATAGRAM_SIZE(n) || memcmp(bytes, magic, sizeof magic) != 0 ||
        read_number(bytes + 4, 2) != BG_DATAGRAM_VERSION ||
        read_number(bytes + 6, 2) != (uint64_t)n || !isfinite(read_double(bytes + 16)))
        return false;
    for (int i = 0; i < n; i++)
        if (!isfinite(read_double(bytes + BG_DATAGRAM_SIZE(i))))
            return false;
    *sequence = read_number(bytes + 8, 8);
    *t = read_double(bytes + 16);
    for (int i = 0; i < n; i++)
        values[i] = read_double(bytes + BG_DATAGRAM_SIZE(i));
    return true;
}
