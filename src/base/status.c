#include "bogie/status.h"

#include "base/text.h"

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
        char text[BG_ERROR_LENGTH];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        err->status = status;
        bg_text_escape(text, err->text, sizeof err->text); /* names come from files */
    }
    return status;
}
