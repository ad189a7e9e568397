/* Random draws without a state: a generator that maps (seed, case, key) to numbers.
 *
 * Philox 4x32-10 (J. Salmon, M. Moraes, R. Dror, D. Shaw: Parallel random numbers: as easy as
 * 1, 2, 3, SC 2011) encrypts a counter of 128 bits with a key of 64 bits. The key is the seed, the
 * counter is the number of the draw and a hash of what is drawn. So a draw depends neither on who
 * computes it nor on what else is drawn. Normal numbers by Box and Muller. */
#include "study/study.h"

#include <math.h>
#include <string.h>

void bg_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c[4], k0 = key[0], k1 = key[1];
    memcpy(c, counter, sizeof c);
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * c[0], b = (uint64_t)0xCD9E8D57u * c[2];
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k0, (uint32_t)b,
                            (uint32_t)(a >> 32) ^ c[3] ^ k1, (uint32_t)a};
        memcpy(c, next, sizeof c);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    memcpy(out, c, sizeof c);
}

uint64_t bg_hash_bytes(uint64_t hash, const void *data, size_t n)
{
    const unsigned char *byte = data;
    hash = hash ? hash : 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

uint32_t bg_crc32(const void *data, size_t n)
{
    const unsigned char *byte = data;
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < n; i++) {
        crc ^= byte[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (0xedb88320u & (0u - (crc & 1u)));
    }
    return ~crc;
}

/* In (0, 1): the middle of one of 2^52 equal parts. */
static double to_unit(uint32_t high, uint32_t low)
{
    uint64_t bits = ((uint64_t)high << 32 | low) >> 12;
    return ((double)bits + 0.5) * 0x1p-52;
}

double bg_draw_calc(const bg_draw *draw, uint64_t seed, uint64_t k)
{
    static const double two_pi = 6.283185307179586477;
    uint64_t name = bg_hash_bytes(0, draw->key, strlen(draw->key));
    uint32_t counter[4] = {(uint32_t)k, (uint32_t)(k >> 32), (uint32_t)name,
                           (uint32_t)(name >> 32)};
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)}, r[4];
    bg_philox(counter, key, r);
    double u = to_unit(r[0], r[1]);
    if (draw->distribution == BG_UNIFORM)
        return draw->a + (draw->b - draw->a) * u;
    double normal = sqrt(-2 * log(u)) * cos(two_pi * to_unit(r[2], r[3]));
    return draw->distribution == BG_NORMAL ? draw->a + draw->b * normal
                                           : draw->a * exp(draw->b * normal);
}
