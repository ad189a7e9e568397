#include "fmi/skin/place.h"

#include <stdlib.h>
#include <string.h>

static int read_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

char *bg_fmi_place_from_uri(const char *uri)
{
    if (!uri || strncmp(uri, "file:", 5) != 0)
        return NULL;
    const char *path = uri + 5;
    if (strncmp(path, "//", 2) == 0) { /* behind the host, which is this one */
        path = strchr(path + 2, '/');
        if (!path)
            return NULL;
    }
    char *out = strdup(path), *to = out;
    for (const char *c = path; out && *c; c++) {
        const int high = *c == '%' ? read_digit(c[1]) : -1, low = high >= 0 ? read_digit(c[2]) : -1;
        *to++ = low >= 0 ? (char)(16 * high + low) : *c;
        c += low >= 0 ? 2 : 0;
    }
    if (out)
        *to = '\0';
    return out;
}
