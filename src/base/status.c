#include "bogie/status.h"

#include <stdarg.h>
#include <stdio.h>

const char *bg_status_name(bg_status status)
{
    switch (status) {
#define NAME(name, value, text) \
    case name:                  \
        return #name;
        BG_STATUS_LIST(NAME)
#undef NAME
    }
    return "unknown status";
}

const char *bg_status_text(bg_status status)
{
    switch (status) {
#define TEXT(name, value, text) \
    case name:                  \
        return text;
        BG_STATUS_LIST(TEXT)
#undef TEXT
    }
    return "unknown status";
}

bg_status bg_error_set(bg_error *err, bg_status status, const char *format, ...)
{
    if (err) {
        va_list arguments;
        va_start(arguments, format);
        err->status = status;
        vsnprintf(err->text, sizeof err->text, format, arguments);
        va_end(arguments);
        for (char *c = err->text; *c; c++) /* names come from files: one sentence, one line */
            if ((unsigned char)*c < ' ' || *c == 0x7F)
                *c = ' ';
    }
    return status;
}
