#include "base/commit.h"

const char *bg_commit_get(void)
{
    return BOGIE_COMMIT;
}
