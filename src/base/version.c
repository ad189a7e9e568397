#include "bogie/version.h"

const char *bg_version_get(void)
{
    return BG_VERSION;
}
