/* A crew made of the ranks of mpirun. Every rank has one worker process of its own, so that a crash
 * costs a case and never a rank; rank 0 hands out cases to all of them, its own included, and
 * collects. The other ranks only pass messages on.
 *
 * A module of its own: it is the only part of Bogie that needs MPI (study/mpi.c loads it). */
#include "study/crew.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG_MESSAGE = 1, TAG_LOST, TAG_KILL, TAG_QUIT };

/* A message on its way; sending never blocks, so two ranks never wait for each other. */
typedef struct letter {
    struct letter *next;
    MPI_Request request;
    char *data;
} letter;

typedef struct ranks {
    bg_crew crew;
    bg_crew *own; /* the one worker of this rank */
    letter *outbox;
} ranks;

static void pause_for(double seconds)
{
    struct timespec t = {0, (long)(1e9 * seconds)};
    nanosleep(&t, NULL);
}

/* Releases what has arrived. */
static void clear_outbox(ranks *c, bool all)
{
    for (letter **at = &c->outbox; *at;) {
        int done = 1;
        if (all)
            MPI_Wait(&(*at)->request, MPI_STATUS_IGNORE);
        else
            MPI_Test(&(*at)->request, &done, MPI_STATUS_IGNORE);
        letter *gone = *at;
        if (!done) {
            at = &gone->next;
            continue;
        }
        *at = gone->next;
        free(gone->data);
        free(gone);
    }
}

static bg_status post(ranks *c, int rank, int tag, const void *data, size_t size, bg_error *err)
{
    letter *l = calloc(1, sizeof *l);
    if (l)
        l->data = calloc(size + 1, 1);
    if (!l || !l->data || size > INT_MAX) {
        if (l)
            free(l->data);
        free(l);
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for messages between ranks");
    }
    if (size > 0)
        memcpy(l->data, data, size);
    MPI_Isend(l->data, (int)size, MPI_BYTE, rank, tag, MPI_COMM_WORLD, &l->request);
    l->next = c->outbox;
    c->outbox = l;
    return BG_OK;
}

/* Receives a message from any rank; false: there is none. *data belongs to the caller. */
static bool receive(int *rank, int *tag, char **data, size_t *size)
{
    int there, n;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (!there)
        return false;
    MPI_Get_count(&status, MPI_BYTE, &n);
    *data = calloc((size_t)n + 1, 1);
    if (!*data)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Recv(*data, n, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    *rank = status.MPI_SOURCE;
    *tag = status.MPI_TAG;
    *size = (size_t)n;
    return true;
}

static bg_status ranks_send(bg_crew *crew, int w, const void *data, size_t size, bg_error *err)
{
    ranks *c = (ranks *)crew;
    return w == 0 ? c->own->class_->send(c->own, 0, data, size, err)
                  : post(c, w, TAG_MESSAGE, data, size, err);
}

static bg_status ranks_wait(bg_crew *crew, double seconds, bg_crew_event *event, bg_error *err)
{
    ranks *c = (ranks *)crew;
    double end = MPI_Wtime() + seconds, nap = 20e-6;
    do {
        bg_status st = c->own->class_->wait(c->own, 0, event, err);
        if (st != BG_OK || event->kind != BG_CREW_NOTHING)
            return st;
        int tag;
        if (receive(&event->worker, &tag, &event->data, &event->size)) {
            event->kind = tag == TAG_LOST ? BG_CREW_LOST : BG_CREW_MESSAGE;
            return BG_OK;
        }
        clear_outbox(c, false);
        pause_for(nap); /* the processor belongs to the workers */
        nap = nap < 1e-3 ? 1.5 * nap : nap;
    } while (MPI_Wtime() < end);
    return BG_OK;
}

static void ranks_kill(bg_crew *crew, int w)
{
    ranks *c = (ranks *)crew;
    if (w == 0)
        c->own->class_->kill(c->own, 0);
    else
        post(c, w, TAG_KILL, NULL, 0, NULL);
}

static void ranks_destroy(bg_crew *crew)
{
    ranks *c = (ranks *)crew;
    for (int w = 1; w < crew->size; w++)
        post(c, w, TAG_QUIT, NULL, 0, NULL);
    clear_outbox(c, true);
    c->own->class_->destroy(c->own);
    free(c);
    MPI_Finalize();
}

/* The life of a rank other than 0. */
static bg_status serve(ranks *c, bg_error *err)
{
    bg_status st = BG_OK;
    double nap = 20e-6;
    for (bool more = true; more && st == BG_OK;) {
        int rank, tag;
        char *data;
        size_t size;
        bg_crew_event event;
        bool idle = true;
        if (receive(&rank, &tag, &data, &size)) {
            idle = false;
            if (tag == TAG_MESSAGE)
                st = c->own->class_->send(c->own, 0, data, size, err);
            else if (tag == TAG_KILL)
                c->own->class_->kill(c->own, 0);
            more = tag != TAG_QUIT;
            free(data);
        }
        if (st == BG_OK)
            st = c->own->class_->wait(c->own, 0, &event, err);
        if (st == BG_OK && event.kind != BG_CREW_NOTHING) {
            idle = false;
            st = post(c, 0, event.kind == BG_CREW_LOST ? TAG_LOST : TAG_MESSAGE, event.data,
                      event.size, err);
            free(event.data);
        }
        clear_outbox(c, false);
        nap = idle ? (nap < 1e-3 ? 1.5 * nap : nap) : 20e-6;
        if (idle)
            pause_for(nap);
    }
    if (st != BG_OK) { /* rank 0 would wait for ever */
        fprintf(stderr, "bogie: %s\n", err->text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    clear_outbox(c, true);
    return st;
}

/* All ranks must have read the same study. */
static bg_status compare_studies(const bg_study *study, bg_error *err)
{
    unsigned long long mine = study->hash, first = mine;
    int same, all;
    MPI_Bcast(&first, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    same = first == mine;
    MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all ? BG_OK
               : bg_error_set(err, BG_BAD_INPUT,
                              "the ranks of mpirun see different versions of '%s', its models or "
                              "Bogie; run all of them on the same files",
                              study->path);
}

bg_mpi_entry bogie_mpi_crew;

bg_status bogie_mpi_crew(const bg_study *study, bg_crew_creator *create_pool, bg_crew **crew,
                         bg_error *err)
{
    static const bg_crew_class class_ = {ranks_send, ranks_wait, ranks_kill, ranks_destroy};
    int rank, size;
    *crew = NULL;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ranks *c = calloc(1, sizeof *c);
    bg_status st = compare_studies(study, err);
    if (st == BG_OK)
        st = c ? create_pool(study, 1, &c->own, err)
               : bg_error_set(err, BG_NO_MEMORY, "out of memory for the ranks of mpirun");
    if (st == BG_OK && rank == 0) {
        c->crew = (bg_crew){&class_, size};
        *crew = &c->crew;
        return BG_OK;
    }
    if (st == BG_OK) {
        st = serve(c, err);
        c->own->class_->destroy(c->own);
    }
    free(c);
    MPI_Finalize();
    return st;
}
