/* Inputs and outputs of real time over UDP, without ever waiting for either. */
#ifndef BG_UDP_H
#define BG_UDP_H

#include "bogie/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct bg_udp bg_udp;

typedef struct bg_udp_counts {
    long accepted, stale, malformed; /* datagrams received */
    long restarts;                   /* of those accepted: from a sender that counts anew */
    long sent, unsent;               /* unsent: the system would not take it at once */
} bg_udp_counts;

/* listen: where to receive `nin` values, send: where to send `nout` values, both HOST:PORT, or PORT
 * alone for the loopback address; either may be NULL. silence: so many calls of bg_udp_receive
 * without a datagram accepted make an old sequence number good again. */
bg_status bg_udp_create(const char *listen, int nin, long silence, const char *send, int nout,
                        bg_udp **udp, bg_error *err);
void bg_udp_destroy(bg_udp *udp);

/* Takes in what has come, at most 64 datagrams. True: values[nin] are new, those with the largest
 * sequence number. After the silence any number is accepted, and later ones have to be larger than
 * that: a sender that has been started again counts from the beginning, while a datagram that was
 * overtaken comes within moments of the one that overtook it. */
bool bg_udp_receive(bg_udp *udp, double *values);
/* Sends values[nout] with this sequence number and time. */
void bg_udp_send(bg_udp *udp, uint64_t sequence, double t, const double *values);

bg_udp_counts bg_udp_get_counts(const bg_udp *udp);
/* The port that is listened on; 0: none. */
int bg_udp_get_port(const bg_udp *udp);

#endif
