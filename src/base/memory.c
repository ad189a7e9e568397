#include "base/memory.h"

#include <stdlib.h>

void *bg_calloc(size_t count, size_t size)
{
    return calloc(count > 0 ? count : 1, size);
}
