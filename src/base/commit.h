/* The commit that a program or library was built from. Apart, so that a new commit compiles this
 * alone. */
#ifndef BG_COMMIT_H
#define BG_COMMIT_H

/* "3415057c6a1b", with "-changed" behind it where files differed; "": not built from a clone. */
const char *bg_commit_get(void);

#endif
