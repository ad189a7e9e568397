/* Any bytes as datagrams of real time, through a socket of this computer: each is counted once, and
 * only finite values reach the model, which steps on or says why it cannot. */
#include "bogie/model.h"
#include "bogie/realtime.h"
#include "fuzz.h"
#include "realtime/datagram.h"
#include "realtime/udp.h"

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NIN = 2, MOST = 16 };

static const char text[] =
    "{\"bodies\": {\"a\": {\"mass\": 1, \"center\": [0, 0, 0]}, \"b\": {\"mass\": 2, "
    "\"center\": [1, 0, 0], \"inertia\": [1, 1, 1]}}, \"inputs\": {\"x\": 0, \"f\": 0}, "
    "\"joints\": {\"s\": {\"type\": \"prismatic\", \"bodies\": [\"ground\", \"a\"], "
    "\"at\": [0, 0, 0], \"axis\": [1, 0, 0]}, \"r\": {\"type\": \"revolute\", \"bodies\": "
    "[\"a\", \"b\"], \"at\": [0, 0, 0], \"axis\": [0, 1, 0]}}, \"forces\": {\"k\": "
    "{\"type\": \"spring-damper\", \"from\": [-1, 0, 0], \"to\": \"a\", \"stiffness\": 100, "
    "\"actuator\": \"10*x\"}, \"t\": {\"type\": \"spring-damper\", \"from\": [0, 0, 3], "
    "\"to\": \"b\", \"force\": \"f\"}}}";

/* What outlives an input. */
static bg_system *system_;
static int out;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    bg_model *model;
    bg_error err = {0};
    out = socket(AF_INET, SOCK_DGRAM, 0);
    if (out < 0 || bg_model_parse(text, "datagram.json", NULL, 0, &model, &err) != BG_OK ||
        bg_model_create_system(model, "joint", &system_, &err) != BG_OK) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    return 0;
}

/* One datagram of the input: its own bytes, or a good header in front of them. */
static size_t make(fuzz_bytes *in, unsigned char bytes[256])
{
    unsigned kind = take_byte(in);
    size_t size = kind % 64;
    const double zero[NIN] = {0, 0};
    if (kind < 64) {
        for (size_t i = 0; i < size; i++)
            bytes[i] = (unsigned char)take_byte(in);
        return size;
    }
    bg_datagram_write(bytes, take_byte(in), 0, zero, NIN);
    for (int i = 0; i < NIN; i++) {
        double x = take_number(in);
        memcpy(bytes + BG_DATAGRAM_SIZE(i), &x, sizeof x);
    }
    for (unsigned i = 0; i < kind / 32 % 4; i++) {
        unsigned at = take_byte(in);
        bytes[at % BG_DATAGRAM_SIZE(NIN)] = (unsigned char)take_byte(in);
    }
    return kind % 8 ? BG_DATAGRAM_SIZE(NIN) : size;
}

static long send_all(fuzz_bytes *in, int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    long n = 0;
    for (int k = 0; k < MOST && in->size > 0; k++) {
        unsigned char bytes[256] = {0};
        size_t size = make(in, bytes);
        n += sendto(out, bytes, size, 0, (const struct sockaddr *)&to, sizeof to) == (ssize_t)size;
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes in = {data, size};
    bg_error err = {0};
    bg_udp *udp;
    bg_realtime *rt;
    static const char *const names[] = {"x", "f"};
    bg_realtime_options o = bg_default_realtime_options();
    o.inputs = names;
    o.ninputs = NIN;
    o.hold = size % 2 ? BG_HOLD_SLOPE : BG_HOLD_VALUE;
    double u[NIN], y[64];
    if (bg_udp_create("127.0.0.1:0", NIN, 3, NULL, 0, &udp, &err) != BG_OK ||
        bg_realtime_create(system_, &o, &rt, &err) != BG_OK)
        abort();
    long sent = send_all(&in, bg_udp_get_port(udp));
    for (int k = 0; k < 3; k++) {
        bool fresh = bg_udp_receive(udp, u);
        if (fresh && (!isfinite(u[0]) || !isfinite(u[1])))
            abort();
        bg_status st = bg_realtime_step(rt, fresh ? u : NULL, y, &err);
        if (st < 0) {
            expect_sentence(st, &err);
            break;
        }
    }
    bg_udp_counts n = bg_udp_get_counts(udp);
    if (n.accepted + n.stale + n.malformed > sent)
        abort();
    bg_realtime_destroy(rt);
    bg_udp_destroy(udp);
    return 0;
}
