/* PKWARE's APPNOTE, section 4.3: for each file a local header and its bytes, then for each an entry
 * of the central directory, then the end of that. All numbers are little-endian. Dates are the
 * first that the format knows, so that the same files give the same archive. */
#include "fmi/zip.h"

#include "base/memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct bg_zip_entry {
    char *path;
    uint32_t checksum, size, offset;
};

enum { VERSION = 20, UTF8 = 0x800, FIRST_DAY = 0x21 }; /* 2.0; names are UTF-8; 1980-01-01 */

/* CRC-32, polynomial 0xedb88320, byte by byte. */
static uint32_t calc_checksum(const unsigned char *data, size_t size)
{
    uint32_t table[256], crc = 0xffffffffu;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int k = 0; k < 8; k++)
            table[i] = table[i] & 1 ? 0xedb88320u ^ (table[i] >> 1) : table[i] >> 1;
    }
    for (size_t i = 0; i < size; i++)
        crc = table[(crc ^ data[i]) & 0xff] ^ (crc >> 8);
    return ~crc;
}

static void put(bg_zip *zip, const void *data, size_t size)
{
    if (!zip->failed && size > 0 && fwrite(data, 1, size, zip->out) != size)
        zip->failed = errno ? errno : EIO;
}

/* One number of n bytes. */
static void put_number(bg_zip *zip, uint32_t value, int n)
{
    unsigned char bytes[4];
    for (int i = 0; i < n; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
    put(zip, bytes, (size_t)n);
}

/* What both headers have in common: versions to names. */
static void put_entry(bg_zip *zip, const struct bg_zip_entry *e)
{
    put_number(zip, VERSION, 2);
    put_number(zip, UTF8, 2);
    put_number(zip, 0, 2); /* stored */
    put_number(zip, 0, 2);
    put_number(zip, FIRST_DAY, 2);
    put_number(zip, e->checksum, 4);
    put_number(zip, e->size, 4);
    put_number(zip, e->size, 4);
    put_number(zip, (uint32_t)strlen(e->path), 2);
    put_number(zip, 0, 2);
}

void bg_zip_begin(bg_zip *zip, FILE *out)
{
    *zip = (bg_zip){.out = out};
}

void bg_zip_add(bg_zip *zip, const char *path, const void *data, size_t size)
{
    const long offset = ftell(zip->out);
    struct bg_zip_entry *more = realloc(zip->entries, (size_t)(zip->count + 1) * sizeof *more);
    char *copy = strdup(path);
    if (more)
        zip->entries = more;
    if (!more || !copy || offset < 0 || size > UINT32_MAX || (size_t)offset > UINT32_MAX - size) {
        zip->failed = zip->failed ? zip->failed : !more || !copy ? ENOMEM : EFBIG;
        free(copy);
        return;
    }
    struct bg_zip_entry *e = &zip->entries[zip->count++];
    *e = (struct bg_zip_entry){copy, calc_checksum(data, size), (uint32_t)size, (uint32_t)offset};
    put_number(zip, 0x04034b50, 4);
    put_entry(zip, e);
    put(zip, e->path, strlen(e->path));
    put(zip, data, size);
}

int bg_zip_end(bg_zip *zip)
{
    const long begin = ftell(zip->out);
    for (int i = 0; i < zip->count; i++) {
        const struct bg_zip_entry *e = &zip->entries[i];
        put_number(zip, 0x02014b50, 4);
        put_number(zip, VERSION, 2);
        put_entry(zip, e);
        put_number(zip, 0, 2); /* comment */
        put_number(zip, 0, 2); /* disk */
        put_number(zip, 0, 2); /* attributes */
        put_number(zip, 0, 4);
        put_number(zip, e->offset, 4);
        put(zip, e->path, strlen(e->path));
    }
    const long end = ftell(zip->out);
    put_number(zip, 0x06054b50, 4);
    put_number(zip, 0, 4); /* disks */
    put_number(zip, (uint32_t)zip->count, 2);
    put_number(zip, (uint32_t)zip->count, 2);
    put_number(zip, (uint32_t)(end - begin), 4);
    put_number(zip, (uint32_t)begin, 4);
    put_number(zip, 0, 2);
    if (!zip->failed && fflush(zip->out) != 0)
        zip->failed = errno;
    for (int i = 0; i < zip->count; i++)
        free(zip->entries[i].path);
    free(zip->entries);
    zip->entries = NULL;
    return zip->failed;
}
