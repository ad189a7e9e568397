#include "realtime/udp.h"

#include "base/memory.h"
#include "base/text.h"
#include "realtime/datagram.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_AT_ONCE = 64 };

struct bg_udp {
    int in, out; /* sockets, -1: none */
    int nin, nout;
    struct sockaddr_storage to;
    socklen_t to_size;
    uint64_t sequence; /* of the last datagram accepted */
    bool any;          /* there was one */
    long silence;      /* calls without one after which any sequence number is good */
    long quiet;        /* calls without one, up to this */
    unsigned char *received, *sent;
    double *values; /* [nin] of the datagram being read */
    bg_udp_counts counts;
};

/* Takes "HOST:PORT", "[HOST]:PORT", ":PORT" or "PORT" apart. */
static bool split(const char *text, char host[256], char port[24])
{
    const char *colon = strrchr(text, ':'), *digits = colon ? colon + 1 : text;
    size_t length = colon ? (size_t)(colon - text) : 0;
    const char *begin = text;
    if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
        begin++;
        length -= 2;
    } else if (memchr(text, ':', length)) {
        return false; /* an IPv6 address without brackets */
    }
    long number;
    if (!bg_text_to_count(digits, &number) || number > 65535 || length >= 256)
        return false;
    snprintf(host, 256, "%.*s", (int)length, begin);
    snprintf(port, 24, "%ld", number);
    if (host[0] == '\0')
        snprintf(host, 256, "127.0.0.1");
    return true;
}

static bg_status find_address(const char *option, const char *text, struct addrinfo **found,
                              bg_error *err)
{
    char host[256], port[24];
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM};
    if (!split(text, host, port))
        return bg_error_set(err, BG_BAD_INPUT,
                            "%s needs HOST:PORT or PORT with a port from 0 to 65535, not '%s'",
                            option, text);
    int code = getaddrinfo(host, port, &hints, found);
    if (code != 0)
        return bg_error_set(err, BG_BAD_INPUT, "%s: there is no address '%s': %s", option, host,
                            gai_strerror(code));
    return BG_OK;
}

static bg_status open_input(bg_udp *u, const char *listen, bg_error *err)
{
    struct addrinfo *a;
    bg_status st = find_address("--listen", listen, &a, err);
    if (st != BG_OK)
        return st;
    u->in = socket(a->ai_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool bound = u->in >= 0 && bind(u->in, a->ai_addr, a->ai_addrlen) == 0;
    int reason = errno;
    freeaddrinfo(a);
    if (bound)
        return BG_OK;
    return bg_error_set(err, BG_IO, "--listen %s: %s%s", listen, strerror(reason),
                        reason == EADDRINUSE ? "; choose another port" : "");
}

static bg_status open_output(bg_udp *u, const char *send, bg_error *err)
{
    struct addrinfo *a;
    bg_status st = find_address("--send", send, &a, err);
    if (st != BG_OK)
        return st;
    memcpy(&u->to, a->ai_addr, a->ai_addrlen);
    u->to_size = a->ai_addrlen;
    u->out = socket(a->ai_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int reason = errno;
    freeaddrinfo(a);
    if (u->out < 0)
        return bg_error_set(err, BG_IO, "--send %s: %s", send, strerror(reason));
    in_port_t port = u->to.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&u->to)->sin6_port
                                                 : ((struct sockaddr_in *)&u->to)->sin_port;
    if (port == 0)
        return bg_error_set(err, BG_BAD_INPUT, "--send %s: nobody listens on port 0; give another",
                            send);
    return BG_OK;
}

bg_status bg_udp_create(const char *listen, int nin, long silence, const char *send, int nout,
                        bg_udp **udp, bg_error *err)
{
    *udp = NULL;
    bg_udp *u = BG_NEW(bg_udp);
    if (!u)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for datagrams");
    u->in = u->out = -1;
    u->nin = nin;
    u->nout = nout;
    u->silence = silence;
    u->received = BG_NEW_ARRAY(unsigned char, BG_DATAGRAM_SIZE(nin) + 1);
    u->sent = BG_NEW_ARRAY(unsigned char, BG_DATAGRAM_SIZE(nout));
    u->values = BG_NEW_ARRAY(double, nin);
    bg_status st = BG_OK;
    if (!u->received || !u->sent || !u->values)
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for datagrams");
    if (st == BG_OK && (nin > BG_DATAGRAM_VALUES || nout > BG_DATAGRAM_VALUES))
        st = bg_error_set(err, BG_BAD_INPUT,
                          "a datagram has room for %d values; name fewer inputs or outputs",
                          BG_DATAGRAM_VALUES);
    if (st == BG_OK && listen)
        st = open_input(u, listen, err);
    if (st == BG_OK && send)
        st = open_output(u, send, err);
    if (st != BG_OK) {
        bg_udp_destroy(u);
        return st;
    }
    *udp = u;
    return BG_OK;
}

void bg_udp_destroy(bg_udp *u)
{
    if (!u)
        return;
    if (u->in >= 0)
        close(u->in);
    if (u->out >= 0)
        close(u->out);
    free(u->received);
    free(u->sent);
    free(u->values);
    free(u);
}

/* Whether a datagram with this sequence number counts. */
static bool take(bg_udp *u, uint64_t sequence)
{
    bool old = u->any && sequence <= u->sequence;
    if (old && u->quiet < u->silence) {
        u->counts.stale++;
        return false;
    }
    u->counts.accepted++;
    u->counts.restarts += old;
    u->sequence = sequence;
    u->any = true;
    u->quiet = 0;
    return true;
}

bool bg_udp_receive(bg_udp *u, double *values)
{
    bool fresh = false;
    u->quiet += u->quiet < u->silence;
    for (int k = 0; u->in >= 0 && k < MAX_AT_ONCE; k++) {
        uint64_t sequence;
        double t;
        /* one byte more than fits: a longer datagram is not taken for a good one */
        ssize_t size = recv(u->in, u->received, BG_DATAGRAM_SIZE(u->nin) + 1, 0);
        if (size < 0)
            break;
        if (!bg_datagram_read(u->received, (size_t)size, u->nin, &sequence, &t, u->values)) {
            u->counts.malformed++;
        } else if (take(u, sequence)) {
            fresh = true;
            memcpy(values, u->values, (size_t)u->nin * sizeof(double));
        }
    }
    return fresh;
}

void bg_udp_send(bg_udp *u, uint64_t sequence, double t, const double *values)
{
    if (u->out < 0)
        return;
    size_t size = BG_DATAGRAM_SIZE(u->nout);
    bg_datagram_write(u->sent, sequence, t, values, u->nout);
    ssize_t done = sendto(u->out, u->sent, size, MSG_NOSIGNAL, (const struct sockaddr *)&u->to,
                          u->to_size);
    if (done == (ssize_t)size)
        u->counts.sent++;
    else
        u->counts.unsent++;
}

bg_udp_counts bg_udp_get_counts(const bg_udp *u)
{
    return u->counts;
}

int bg_udp_get_port(const bg_udp *u)
{
    struct sockaddr_storage a;
    socklen_t size = sizeof a;
    if (u->in < 0 || getsockname(u->in, (struct sockaddr *)&a, &size) != 0)
        return 0;
    return ntohs(a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&a)->sin6_port
                                         : ((struct sockaddr_in *)&a)->sin_port);
}
