/* Scratch memory of a formalism, and forks of it: the structure is copied as it is, with all that
 * is constant, and gets scratch memory of its own. */
#include "base/memory.h"
#include "formalism/multibody.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool bg_multibody_create_scratch(bg_multibody *mb)
{
    if (!bg_arena_create(&mb->scratch, mb->form->list_scratch, mb))
        return false;
    mb->t_signals = NAN;
    mb->nlive = 0;
    mb->body[0].R = bg_mat3_identity();
    mb->body[0].r = bg_scale(-1, mb->origin);
    mb->world = (bg_world){.body = mb->body,
                           .measured = mb->measured,
                           .joint_rows = mb->joint_rows,
                           .contacts = mb->model->contacts,
                           .contact_state = mb->contact_state,
                           .memo = mb->memo};
    if (mb->form->detach)
        mb->form->detach(mb);
    bg_multibody_forget(mb);
    return true;
}

void bg_multibody_forget(void *self)
{
    bg_multibody *mb = self;
    for (int k = 0; k < mb->model->ncontacts; k++)
        mb->contact_state[k].order = 0;
    if (mb->form->forget)
        mb->form->forget(mb);
}

void *bg_multibody_fork(const void *self)
{
    const bg_multibody *of = self;
    bg_multibody *mb = bg_calloc(1, of->form->size);
    if (!mb)
        return NULL;
    memcpy(mb, of, of->form->size);
    if (bg_multibody_create_scratch(mb))
        return mb;
    free(mb);
    return NULL;
}

void bg_multibody_join(void *fork)
{
    bg_multibody *mb = fork;
    if (mb->form->clear)
        mb->form->clear(mb);
    bg_arena_clear(&mb->scratch);
    free(mb);
}
