/* Workers as forked processes on this machine, each on a socket of its own.
 *
 * Nothing here blocks: what does not fit into a socket waits in a buffer, so that a worker that
 * sends a long answer and a master that sends long samples never wait for each other. */
#include "base/memory.h"
#include "study/crew.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEPT_BYTES = 16 << 20 };

typedef struct buffer {
    char *data;
    size_t begin, end, capacity;
} buffer;

typedef struct worker {
    pid_t pid; /* 0: none */
    int fd;
    buffer in, out;
} worker;

typedef struct pool {
    bg_crew crew;
    const bg_study *study;
    worker *workers;
    struct pollfd *polls;
    int turn; /* who is looked at first, so that all get their turn */
} pool;

static bool reserve(buffer *b, size_t more)
{
    if (b->begin > 0 && b->begin == b->end)
        b->begin = b->end = 0;
    if (b->end + more <= b->capacity)
        return true;
    if (b->begin > 0)
        memmove(b->data, b->data + b->begin, b->end - b->begin);
    b->end -= b->begin;
    b->begin = 0;
    size_t capacity = b->capacity > 0 ? b->capacity : 4096;
    while (capacity < b->end + more)
        capacity *= 2;
    char *data = realloc(b->data, capacity);
    if (!data)
        return false;
    b->data = data;
    b->capacity = capacity;
    return true;
}

static void clear_worker(worker *w)
{
    if (w->fd >= 0)
        close(w->fd);
    free(w->in.data);
    free(w->out.data);
    *w = (worker){.fd = -1};
}

/* The life of a worker process. What a model prints must not get between the table's lines. */
static void live(pool *p, int fd, pid_t parent)
{
    for (int i = 0; i < p->crew.size; i++)
        if (p->workers[i].fd >= 0)
            close(p->workers[i].fd);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    signal(SIGINT, SIG_IGN); /* the master decides what a signal means */
    signal(SIGTERM, SIG_DFL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    mallopt(M_MMAP_THRESHOLD, KEPT_BYTES); /* a case leaves its memory to the next */
    mallopt(M_TRIM_THRESHOLD, 2 * KEPT_BYTES);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    bg_worker_serve(p->study, fd);
    _exit(0);
}

static bg_status spawn(pool *p, int i, bg_error *err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return bg_error_set(err, BG_IO, "a worker process cannot be connected: %s",
                            strerror(errno));
    pid_t parent = getpid();
    fflush(NULL); /* what is buffered is printed once */
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        live(p, ends[1], parent);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return bg_error_set(err, BG_IO, "a worker process cannot be started: %s; try fewer with -j",
                            strerror(errno));
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    p->workers[i] = (worker){.pid = pid, .fd = ends[0]};
    return BG_OK;
}

/* Waits for a process that ends, and says how it ended. */
static char *bury(pid_t pid)
{
    int status = 0;
    char *reason = NULL;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    int n = WIFSIGNALED(status) ? asprintf(&reason, "the case crashed: %s (signal %d)",
                                           strsignal(WTERMSIG(status)), WTERMSIG(status))
                                : asprintf(&reason, "the case ended its process with exit code %d",
                                           WEXITSTATUS(status));
    return n < 0 ? NULL : reason;
}

/* Sends what waits; false: the worker is gone. */
static bool push(worker *w)
{
    while (w->out.begin < w->out.end) {
        ssize_t n = send(w->fd, w->out.data + w->out.begin, w->out.end - w->out.begin,
                         MSG_NOSIGNAL);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        w->out.begin += (size_t)n;
    }
    return true;
}

static bg_status pool_send(bg_crew *crew, int i, const void *data, size_t size, bg_error *err)
{
    worker *w = &((pool *)crew)->workers[i];
    uint64_t length = size;
    if (!reserve(&w->out, size + sizeof length))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for messages to workers");
    memcpy(w->out.data + w->out.end, &length, sizeof length);
    memcpy(w->out.data + w->out.end + sizeof length, data, size);
    w->out.end += sizeof length + size; /* leaves with the next wait */
    return BG_OK;
}

/* Takes a complete message out of the buffer. */
static bool take_message(worker *w, bg_crew_event *event)
{
    uint64_t length;
    size_t have = w->in.end - w->in.begin;
    if (have < sizeof length)
        return false;
    memcpy(&length, w->in.data + w->in.begin, sizeof length);
    if (have < sizeof length + length)
        return false;
    event->kind = BG_CREW_MESSAGE;
    event->size = (size_t)length;
    event->data = malloc(event->size + 1);
    if (event->data) {
        memcpy(event->data, w->in.data + w->in.begin + sizeof length, event->size);
        event->data[event->size] = '\0';
    }
    w->in.begin += sizeof length + event->size;
    return true;
}

/* Reads what is there; false: the worker is gone. */
static bool pull(worker *w)
{
    for (;;) {
        if (!reserve(&w->in, 65536))
            return false;
        size_t room = w->in.capacity - w->in.end;
        ssize_t n = recv(w->fd, w->in.data + w->in.end, room, 0);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        if (n == 0)
            return false;
        w->in.end += (size_t)n;
        if ((size_t)n < room)
            return true;
    }
}

static bg_status replace(pool *p, int i, bg_crew_event *event, bg_error *err)
{
    pid_t pid = p->workers[i].pid;
    kill(pid, SIGKILL);
    char *reason = bury(pid);
    clear_worker(&p->workers[i]);
    *event = (bg_crew_event){BG_CREW_LOST, i, reason, reason ? strlen(reason) : 0};
    return spawn(p, i, err);
}

static bool find_message(pool *p, bg_crew_event *event)
{
    for (int n = 0; n < p->crew.size; n++) {
        int i = (p->turn + n) % p->crew.size;
        if (take_message(&p->workers[i], event)) {
            event->worker = i;
            p->turn = i + 1;
            return true;
        }
    }
    return false;
}

static bg_status pool_wait(bg_crew *crew, double seconds, bg_crew_event *event, bg_error *err)
{
    pool *p = (pool *)crew;
    *event = (bg_crew_event){0};
    if (find_message(p, event))
        return event->data ? BG_OK : BG_NO_MEMORY;
    for (int i = 0; i < crew->size; i++) {
        worker *w = &p->workers[i];
        push(w); /* a loss is noticed below */
        bool more = w->out.begin < w->out.end;
        p->polls[i] = (struct pollfd){.fd = w->fd,
                                      .events = (short)(POLLIN | (more ? POLLOUT : 0))};
    }
    if (poll(p->polls, (nfds_t)crew->size, (int)(1e3 * seconds)) <= 0)
        return BG_OK;
    for (int n = 0; n < crew->size; n++) {
        int i = (p->turn + n) % crew->size;
        worker *w = &p->workers[i];
        bool alive = !(p->polls[i].revents & POLLOUT) || push(w);
        if (p->polls[i].revents & (POLLIN | POLLHUP | POLLERR))
            alive = pull(w) && alive;
        if (!alive && !take_message(w, event))
            return replace(p, i, event, err);
        if (!alive) { /* its last words first; the loss comes with the next wait */
            event->worker = i;
            return BG_OK;
        }
    }
    find_message(p, event);
    return BG_OK;
}

static void pool_kill(bg_crew *crew, int i)
{
    kill(((pool *)crew)->workers[i].pid, SIGKILL);
}

static void pool_destroy(bg_crew *crew)
{
    pool *p = (pool *)crew;
    for (int i = 0; p->workers && i < crew->size; i++)
        if (p->workers[i].pid > 0) {
            kill(p->workers[i].pid, SIGKILL);
            free(bury(p->workers[i].pid));
            clear_worker(&p->workers[i]);
        }
    free(p->workers);
    free(p->polls);
    free(p);
}

bg_status bg_pool_create(const bg_study *study, int size, bg_crew **crew, bg_error *err)
{
    static const bg_crew_class class_ = {pool_send, pool_wait, pool_kill, pool_destroy};
    pool *p = BG_NEW(pool);
    *crew = NULL;
    if (!p)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for worker processes");
    p->crew = (bg_crew){&class_, size};
    p->study = study;
    p->workers = BG_NEW_ARRAY(worker, size);
    p->polls = BG_NEW_ARRAY(struct pollfd, size);
    bg_status st = BG_OK;
    if (!p->workers || !p->polls)
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for worker processes");
    for (int i = 0; p->workers && i < size; i++)
        p->workers[i].fd = -1;
    for (int i = 0; i < size && st == BG_OK; i++)
        st = spawn(p, i, err);
    if (st == BG_OK)
        *crew = &p->crew;
    else
        pool_destroy(&p->crew);
    return st;
}
