/* What the library shows: everything that a public header declares between these two, and nothing
 * else. */
#ifndef BOGIE_API_H
#define BOGIE_API_H

#if defined(__GNUC__)
#define BG_VISIBLE_ _Pragma("GCC visibility push(default)")
#define BG_VISIBLE_END_ _Pragma("GCC visibility pop")
#else
#define BG_VISIBLE_
#define BG_VISIBLE_END_
#endif

#ifdef __cplusplus
#define BG_API_BEGIN       \
    BG_VISIBLE_ extern "C" \
    {
#define BG_API_END \
    }              \
    BG_VISIBLE_END_
#else
#define BG_API_BEGIN BG_VISIBLE_
#define BG_API_END BG_VISIBLE_END_
#endif

#endif
