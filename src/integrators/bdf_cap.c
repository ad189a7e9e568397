#include "integrators/bdf.h"
bg_status bg_bdf_cap_create(bg_integrator *ig, bg_error *err)
{
    (void)ig;
    (void)err;
    return BG_OK;
}
void bg_bdf_cap_destroy(bg_bdf_cap *cap)
{
    (void)cap;
}
void bg_bdf_cap_update(bg_integrator *ig)
{
    (void)ig;
}
bool bg_bdf_cap_check(const bg_integrator *ig, int k, double h, double *longest)
{
    (void)ig;
    (void)k;
    (void)h;
    (void)longest;
    return false;
}
void bg_bdf_cap_archive(bg_integrator *ig, bg_archive *archive)
{
    (void)ig;
    (void)archive;
}
