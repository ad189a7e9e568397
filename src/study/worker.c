/* Inside a worker process: takes messages, runs cases and references, answers. */
#include "base/memory.h"
#include "study/crew.h"
#include "study/simulation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

typedef struct head {
    int64_t k, rows;
    int32_t r, width;
    int32_t slot[BG_MAX_REFERENCES];
    char type;
} head;

char *bg_message_encode(const bg_study *s, const bg_message *message, const bg_trajectory *samples,
                        size_t *size)
{
    head h;
    memset(&h, 0, sizeof h);
    h.type = message->type;
    h.k = message->k;
    h.r = message->r;
    for (int i = 0; message->slot && i < s->nreferences; i++)
        h.slot[i] = message->slot[i];
    size_t nt = 0, ny = 0;
    if (samples) {
        h.rows = samples->rows;
        h.width = samples->width;
        nt = (size_t)h.rows * sizeof(double);
        ny = nt * (size_t)h.width;
    }
    *size = sizeof h + nt + ny;
    char *data = malloc(*size);
    if (!data)
        return NULL;
    memcpy(data, &h, sizeof h);
    if (nt > 0)
        memcpy(data + sizeof h, samples->t, nt);
    if (ny > 0)
        memcpy(data + sizeof h + nt, samples->y, ny);
    return data;
}

bool bg_samples_decode(const char *data, size_t size, bg_trajectory *samples)
{
    head h;
    *samples = (bg_trajectory){0};
    if (size < sizeof h)
        return false;
    memcpy(&h, data, sizeof h);
    size_t nt = (size_t)h.rows * sizeof(double), ny = nt * (size_t)h.width;
    if (size != sizeof h + nt + ny)
        return false;
    samples->t = malloc(nt + 1);
    samples->y = malloc(ny + 1);
    if (!samples->t || !samples->y) {
        bg_trajectory_clear(samples);
        return false;
    }
    memcpy(samples->t, data + sizeof h, nt);
    memcpy(samples->y, data + sizeof h + nt, ny);
    samples->rows = samples->capacity = (long)h.rows;
    samples->width = h.width;
    return true;
}

/* What was read from the socket and is not used yet. */
typedef struct inbox {
    int fd;
    size_t begin, end;
    char bytes[16384];
} inbox;

static bool read_all(inbox *in, void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        if (in->begin == in->end) {
            ssize_t n = read(in->fd, in->bytes, sizeof in->bytes);
            if (n == 0 || (n < 0 && errno != EINTR))
                return false;
            in->begin = 0;
            in->end = n > 0 ? (size_t)n : 0;
        }
        size_t part = in->end - in->begin < size - done ? in->end - in->begin : size - done;
        memcpy((char *)data + done, in->bytes + in->begin, part);
        in->begin += part;
        done += part;
    }
    return true;
}

/* One answer: its length, its type, its content, in one call where the socket takes it. */
static bool answer(int fd, char type, const void *data, size_t size)
{
    uint64_t length = size + 1;
    char head_bytes[sizeof length + 1];
    memcpy(head_bytes, &length, sizeof length);
    head_bytes[sizeof length] = type;
    struct iovec part[2] = {{head_bytes, sizeof head_bytes}, {(void *)(uintptr_t)data, size}};
    while (part[0].iov_len + part[1].iov_len > 0) {
        ssize_t n = writev(fd, part, 2);
        if (n < 0 && errno != EINTR)
            return false;
        for (int i = 0; i < 2 && n > 0; i++) {
            size_t used = (size_t)n < part[i].iov_len ? (size_t)n : part[i].iov_len;
            part[i].iov_base = (char *)part[i].iov_base + used;
            part[i].iov_len -= used;
            n -= (ssize_t)used;
        }
    }
    return true;
}

static bool run_case(const bg_study *s, int fd, const head *h, const bg_trajectory *slots)
{
    const bg_trajectory *references[BG_MAX_REFERENCES] = {NULL};
    for (int i = 0; i < s->nreferences; i++)
        references[i] = h->slot[i] >= 0 ? &slots[h->slot[i]] : NULL;
    bg_record record;
    if (bg_record_create(s, (long)h->k, &record) != BG_OK)
        return false;
    bg_case_run(s, (long)h->k, references, &record);
    char *text = bg_record_encode(s, &record);
    bool ok = text && answer(fd, 'J', text, strlen(text));
    free(text);
    bg_record_clear(s, &record);
    return ok;
}

static bool run_reference(const bg_study *s, int fd, const head *h)
{
    bg_trajectory samples = {0};
    bg_error err = {0};
    bool ok = false;
    if (bg_reference_run(s, (long)h->k, h->r, &samples, &err) == BG_OK) {
        size_t size;
        char *data = bg_message_encode(s, &(bg_message){.type = 'B'}, &samples, &size);
        ok = data && answer(fd, 'B', data, size);
        free(data);
    } else {
        ok = answer(fd, 'E', err.text, strlen(err.text));
    }
    bg_trajectory_clear(&samples);
    return ok;
}

void bg_worker_serve(const bg_study *s, int fd)
{
    bg_trajectory slots[BG_SLOTS] = {{0}};
    inbox in = {.fd = fd};
    uint64_t length;
    bool ok = true;
    while (ok && read_all(&in, &length, sizeof length)) {
        char *data = malloc((size_t)length);
        head h;
        ok = data && length >= sizeof h && read_all(&in, data, (size_t)length);
        if (ok)
            memcpy(&h, data, sizeof h);
        if (ok && h.type == 'R') {
            bg_trajectory_clear(&slots[h.r]);
            ok = bg_samples_decode(data, (size_t)length, &slots[h.r]);
        } else if (ok) {
            ok = h.type == 'C' ? run_case(s, fd, &h, slots) : run_reference(s, fd, &h);
        }
        free(data);
    }
    for (int i = 0; i < BG_SLOTS; i++)
        bg_trajectory_clear(&slots[i]);
}
