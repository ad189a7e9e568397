/* States of an instance: saved, restored, and as bytes.
 *
 * A state is an archive of what the instance was told and of its session. As bytes it stands behind
 * a header: a mark, which also shows the order of bytes, the format, the token of the FMU, size and
 * checksum. */
#include "fmi/instance_parts.h"

#include "base/memory.h"
#include "run/fingerprint.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_FORMAT = 1, TOKEN_SIZE = 64 };

struct bg_fmi_state {
    bg_archive archive;
};

typedef struct fmu_state_header {
    uint64_t mark; /* by its value; its bytes lie as the machine has them */
    uint64_t format, size, checksum;
    char token[TOKEN_SIZE];
} fmu_state_header;

static const uint64_t state_mark = 0x424f474945464d55u; /* BOGIEFMU */

/* What the host has said. */
static void archive_told(bg_fmi_instance *x, bg_archive *a)
{
    const bg_fmi_variables *v = &x->variables;
    int phase = (int)x->phase;
    bg_archive_mark(a, "instance");
    bg_archive_whole(a, &phase, 1, 1, BG_FMI_ANY);
    bg_archive_doubles(a, &x->tolerance, 1);
    bg_archive_doubles(a, &x->t_start, 1);
    bg_archive_doubles(a, &x->t_stop, 1);
    bg_archive_finite(a, &x->t, 1);
    bg_archive_flags(a, &x->ended, sizeof x->ended);
    for (int i = 0; i < v->nparameters; i++) {
        bg_archive_flags(a, &x->parameters[i].given, sizeof x->parameters[i].given);
        bg_archive_finite(a, &x->parameters[i].value, 1);
    }
    for (int i = 0; i < v->ninputs; i++) {
        bg_fmi_input *u = &x->inputs[i];
        bg_archive_flags(a, &u->given, sizeof u->given);
        bg_archive_flags(a, &u->fresh, sizeof u->fresh);
        bg_archive_finite(a, &u->value, 1);
        bg_archive_finite(a, &u->rate, 1);
        bg_archive_finite(a, &u->t, 1);
    }
    if (a->loading && !a->failed)
        x->phase = (bg_fmi_phase)phase;
}

static bg_status archive_all(bg_fmi_instance *x, bg_archive *a, bg_error *err)
{
    archive_told(x, a);
    bool moves = x->session != NULL;
    bg_archive_flags(a, &moves, sizeof moves);
    bg_status st = BG_OK;
    if (a->failed)
        return a->loading && !a->out_of_memory
                   ? bg_error_set(err, BG_BAD_INPUT, "the state is damaged")
                   : bg_error_set(err, BG_NO_MEMORY, "out of memory for a state");
    if (!a->loading)
        return moves ? bg_session_archive(x->session, a, err) : BG_OK;
    st = bg_fmi_instance_compile(x, err);
    bg_session_destroy(x->session);
    x->session = NULL;
    if (st == BG_OK && moves)
        st = bg_fmi_instance_open(x, err);
    if (st == BG_OK && moves)
        st = bg_session_archive(x->session, a, err);
    if (st == BG_OK && a->position != a->size)
        st = bg_error_set(err, BG_BAD_INPUT, "the state is damaged");
    return st;
}

void bg_fmi_state_destroy(bg_fmi_state *state)
{
    if (!state)
        return;
    bg_archive_clear(&state->archive);
    free(state);
}

bg_fmi_status bg_fmi_instance_save(bg_fmi_instance *x, bg_fmi_state **state)
{
    bg_error err = {0};
    bg_fmi_state *s = *state ? *state : BG_NEW(bg_fmi_state);
    if (!s)
        return bg_fmi_instance_tell(x, BG_FMI_ERROR, "out of memory for a state");
    s->archive.size = 0;
    s->archive.failed = false;
    if (archive_all(x, &s->archive, &err) == BG_OK) {
        *state = s;
        return BG_FMI_OK;
    }
    if (!*state)
        bg_fmi_state_destroy(s);
    return bg_fmi_instance_tell_error(x, &err);
}

bg_fmi_status bg_fmi_instance_restore(bg_fmi_instance *x, const bg_fmi_state *state)
{
    bg_error err = {0};
    if (!state)
        return bg_fmi_instance_tell(x, BG_FMI_ERROR, "there is no state to restore");
    bg_archive a = {.loading = true, .data = state->archive.data, .size = state->archive.size};
    return archive_all(x, &a, &err) == BG_OK ? BG_FMI_OK : bg_fmi_instance_tell_error(x, &err);
}

size_t bg_fmi_state_get_size(const bg_fmi_state *state)
{
    return sizeof(fmu_state_header) + state->archive.size;
}

void bg_fmi_state_serialise(const bg_fmi_instance *x, const bg_fmi_state *state, void *bytes)
{
    const bg_archive *a = &state->archive;
    fmu_state_header head = {state_mark, STATE_FORMAT, a->size,
                             bg_fingerprint_add(BG_FINGERPRINT_START, a->data, a->size), ""};
    strncpy(head.token, x->setup.token, TOKEN_SIZE - 1);
    memcpy(bytes, &head, sizeof head);
    memcpy((char *)bytes + sizeof head, a->data, a->size);
}

bg_fmi_status bg_fmi_instance_deserialise(bg_fmi_instance *x, const void *bytes, size_t size,
                                          bg_fmi_state **state)
{
    fmu_state_header head;
    char token[TOKEN_SIZE] = "";
    strncpy(token, x->setup.token, TOKEN_SIZE - 1);
    const unsigned char *data = (const unsigned char *)bytes + sizeof head;
    if (size >= sizeof head)
        memcpy(&head, bytes, sizeof head);
    if (size < sizeof head || head.mark != state_mark || head.format != STATE_FORMAT ||
        head.size != size - sizeof head ||
        head.checksum != bg_fingerprint_add(BG_FINGERPRINT_START, data, head.size))
        return bg_fmi_instance_tell(
            x, BG_FMI_ERROR,
            "these %zu bytes are no complete state of this FMU on a machine "
            "of this kind",
            size);
    if (memcmp(head.token, token, TOKEN_SIZE) != 0)
        return bg_fmi_instance_tell(x, BG_FMI_ERROR, "the state is of another FMU, %.63s",
                                    head.token);
    bg_fmi_state *s = *state ? *state : BG_NEW(bg_fmi_state);
    unsigned char *copy = bg_calloc((size_t)head.size, 1);
    if (!s || !copy) {
        free(copy);
        if (!*state)
            free(s);
        return bg_fmi_instance_tell(x, BG_FMI_ERROR, "out of memory for a state");
    }
    memcpy(copy, data, (size_t)head.size);
    bg_archive_clear(&s->archive);
    s->archive = (bg_archive){
        .data = copy, .size = (size_t)head.size, .capacity = (size_t)head.size};
    *state = s;
    return BG_FMI_OK;
}
