/* Any bytes as a tableau file: a pair whose conditions hold, or a sentence. */
#include "fuzz.h"
#include "integrators/prk_pair.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    bg_prk_pair pair;
    bg_prk_condition worst;
    bg_error err = {0};
    int fd = memfd_create("tableaus", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bg_status st = bg_prk_pair_read(path, &pair, &err);
    if (st != BG_OK)
        expect_sentence(st, &err);
    else if (!(bg_prk_pair_find_worst(&pair, pair.order, &worst) <= pair.tolerance))
        abort();
    close(fd);
    return 0;
}
