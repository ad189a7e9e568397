/* The viewer's page, put into the program as it is: the assembler reads the file, which is empty
 * where npm could not make it. */
#include "cli/cli.h"

#ifdef BOGIE_TEMPLATE
__asm__(".section .rodata\n"
        ".global bg_template_text\n"
        "bg_template_text:\n"
        ".incbin \"" BOGIE_TEMPLATE "\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char bg_template_text[];

const char *bg_template_get(void)
{
    return *bg_template_text ? bg_template_text : NULL;
}
#else
const char *bg_template_get(void)
{
    return NULL;
}
#endif
