/* Workers that run cases in processes of their own, so that a crash costs one case.
 *
 * A crew delivers messages to numbered workers and reports what they answer. A worker that dies is
 * replaced at once; the report of its loss says why. Messages to one worker arrive in order. */
#ifndef BG_CREW_H
#define BG_CREW_H

#include "study/study.h"

typedef enum bg_crew_kind { BG_CREW_NOTHING, BG_CREW_MESSAGE, BG_CREW_LOST } bg_crew_kind;

typedef struct bg_crew_event {
    bg_crew_kind kind;
    int worker;
    char *data; /* MESSAGE: the bytes; LOST: the reason, a text. To be released with free() */
    size_t size;
} bg_crew_event;

typedef struct bg_crew bg_crew;

typedef struct bg_crew_class {
    bg_status (*send)(bg_crew *crew, int worker, const void *data, size_t size, bg_error *err);
    /* What happened, after at most so many seconds; NOTHING also when a signal came. */
    bg_status (*wait)(bg_crew *crew, double seconds, bg_crew_event *event, bg_error *err);
    void (*kill)(bg_crew *crew, int worker); /* its loss is reported */
    void (*destroy)(bg_crew *crew);
} bg_crew_class;

struct bg_crew {
    const bg_crew_class *class_;
    int size;
};

/* Workers on this machine, forked from this process. */
bg_status bg_pool_create(const bg_study *study, int size, bg_crew **crew, bg_error *err);

/* The messages. To a worker: 'C' runs a case with the references in the given slots, 'R' fills a
 * slot with samples, 'F' runs a reference. From a worker: 'J' the record of a case, 'B' the samples
 * of a reference, 'E' why there are none. */
typedef struct bg_message {
    char type;
    long k;          /* C, F: the case */
    int r;           /* F: the reference; R: the slot */
    const int *slot; /* C: [nreferences], -1: none */
} bg_message;

/* The bytes of a message, with samples behind 'R' and 'B'; to be released with free(). */
char *bg_message_encode(const bg_study *study, const bg_message *message,
                        const bg_trajectory *samples, size_t *size);
bool bg_samples_decode(const char *data, size_t size, bg_trajectory *samples);
/* The loop of a worker process on its socket. Returns at the end of the stream. */
void bg_worker_serve(const bg_study *study, int socket);

/* Under mpirun: whether this process is one of several, and the module's entry. On rank 0 *crew is
 * made of all ranks; the others serve until the end, and *crew is NULL. */
bool bg_mpi_is_asked(void);
bool bg_mpi_is_first(void); /* rank 0, or not under mpirun */
typedef bg_status bg_crew_creator(const bg_study *study, int size, bg_crew **crew, bg_error *err);
typedef bg_status bg_mpi_entry(const bg_study *study, bg_crew_creator *create_pool, bg_crew **crew,
                               bg_error *err);
#define BG_MPI_ENTRY "bogie_mpi_crew"
bg_status bg_mpi_create(const bg_study *study, bg_crew **crew, bg_error *err);

#endif
