#include "bogie/warning.h"
#include "base/archive.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *bg_verdict_get_name(bg_verdict verdict)
{
    static const char *const names[] = {"good", "doubtful", "bad"};
    return names[verdict];
}

static void add(bg_warnings *list, const bg_warning *one)
{
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->items[i].text, one->text) == 0)
            return;
    if (list->count == list->capacity) {
        int capacity = list->capacity > 0 ? 2 * list->capacity : 8;
        bg_warning *more = realloc(list->items, (size_t)capacity * sizeof *more);
        if (!more) {
            list->lost++;
            return;
        }
        list->items = more;
        list->capacity = capacity;
    }
    list->items[list->count++] = *one;
}

void bg_warnings_add(bg_warnings *list, bg_verdict verdict, const char *topic, const char *format,
                     ...)
{
    bg_warning one = {.verdict = verdict};
    va_list arguments;
    if (!list)
        return;
    strncpy(one.topic, topic, sizeof one.topic - 1);
    va_start(arguments, format);
    vsnprintf(one.text, sizeof one.text, format, arguments);
    va_end(arguments);
    for (char *c = one.text; *c; c++) /* names come from files: one sentence, one line */
        if ((unsigned char)*c < ' ' || *c == 0x7F)
            *c = ' ';
    add(list, &one);
}

void bg_warnings_append(bg_warnings *list, const bg_warnings *more)
{
    for (int i = 0; i < more->count; i++)
        add(list, &more->items[i]);
    list->lost += more->lost;
}

bg_verdict bg_warnings_judge(const bg_warnings *list, const bg_warning **reason)
{
    const bg_warning *worst = NULL;
    for (int i = 0; i < list->count; i++)
        if (list->items[i].verdict > (worst ? worst->verdict : BG_GOOD))
            worst = &list->items[i];
    if (reason)
        *reason = worst;
    return worst ? worst->verdict : list->lost > 0 ? BG_DOUBTFUL : BG_GOOD;
}

void bg_warnings_archive(bg_warnings *list, bg_archive *archive)
{
    int count = list->count;
    bg_archive_ints(archive, &count, 1);
    for (int i = 0; i < count && !archive->failed; i++) {
        bg_warning one = {0};
        if (!archive->loading)
            one = list->items[i];
        int verdict = (int)one.verdict;
        bg_archive_ints(archive, &verdict, 1);
        bg_archive_bytes(archive, one.topic, sizeof one.topic);
        bg_archive_bytes(archive, one.text, sizeof one.text);
        if (!archive->loading || archive->failed)
            continue;
        archive->failed = verdict < BG_GOOD || verdict > BG_BAD ||
                          one.topic[sizeof one.topic - 1] != '\0' ||
                          one.text[sizeof one.text - 1] != '\0';
        if (!archive->failed)
            bg_warnings_add(list, (bg_verdict)verdict, one.topic, "%s", one.text);
    }
}

void bg_warnings_clear(bg_warnings *list)
{
    free(list->items);
    *list = (bg_warnings){0};
}
