/* Bogie's O(N) recursions beside those of Simbody and DART, on chains of N rods. See README.md for
 * what is measured and how. */
#include "chain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <exception>
#include <limits>
#include <random>
#include <vector>

namespace
{

constexpr int rounds = 9, libraries = 3, kinds = 2; /* kinds: forward, inverse */
constexpr double batch_seconds = 0.01;
constexpr std::array<int, 7> sizes = {10, 30, 100, 300, 1000, 3000, 10000};
constexpr int largest_of_others = 1000;
const char *const kind_name[kinds] = {"forward dynamics", "inverse dynamics (residual)"};

using Vector = std::vector<double>;

/* Two states, taken in turn: whatever a library keeps of the last evaluation is of no use. */
struct States {
    Vector q[2], v[2], a[2];

    explicit States(int n)
    {
        std::mt19937_64 random{unsigned(n)};
        std::uniform_real_distribution<double> uniform(-1, 1);
        for (int i = 0; i < 2; i++)
            for (Vector *x : {&q[i], &v[i], &a[i]})
                for (int k = 0; k < n; k++)
                    x->push_back(uniform(random));
    }
};

struct Row {
    int n;
    double seconds[kinds][libraries]; /* of one evaluation; infinity: not measured */
    double difference[kinds];         /* largest relative to Bogie's result */
};

void evaluate(Chain &c, int kind, const States &s, int i, Vector &out)
{
    if (kind == 0)
        c.accelerate(s.q[i].data(), s.v[i].data(), out.data());
    else
        c.residual(s.q[i].data(), s.v[i].data(), s.a[i].data(), out.data());
}

double cpu_time()
{
    std::timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

/* Seconds of one evaluation, the mean of a batch; the clock is read once in about 100 us. */
double time_batch(Chain &c, int kind, const States &s, Vector &out)
{
    const long stride = std::max(2, 1000 / c.n);
    const double start = cpu_time();
    for (long count = stride;; count += stride) {
        for (long i = 0; i < stride; i++)
            evaluate(c, kind, s, int(i & 1), out);
        const double seconds = cpu_time() - start;
        if (seconds >= batch_seconds)
            return seconds / double(count);
    }
}

/* max |x - y| / max |y|; NaN when anything is. */
double calc_difference(const Vector &x, const Vector &y)
{
    double difference = 0, scale = 0;
    for (std::size_t k = 0; k < x.size(); k++) {
        const double d = std::fabs(x[k] - y[k]);
        if (!(d <= difference))
            difference = d;
        scale = std::max(scale, std::fabs(y[k]));
    }
    return difference / scale;
}

Row measure(int n)
{
    std::unique_ptr<Chain> chains[libraries] = {chain_create_bogie(n)};
    if (n <= largest_of_others) {
        chains[1] = chain_create_simbody(n);
        chains[2] = chain_create_dart(n);
    }
    const States states(n);
    Vector out(states.q[0].size()), expected = out;
    Row row = {n, {}, {}};
    for (int kind = 0; kind < kinds; kind++) {
        std::fill_n(row.seconds[kind], libraries, std::numeric_limits<double>::infinity());
        for (int i = 0; i < 2; i++) {
            evaluate(*chains[0], kind, states, i, expected);
            for (int k = 1; k < libraries && chains[k]; k++) {
                evaluate(*chains[k], kind, states, i, out);
                const double d = calc_difference(out, expected);
                if (!(d <= row.difference[kind]))
                    row.difference[kind] = d;
            }
        }
    }
    for (int round = 0; round < rounds; round++)
        for (int kind = 0; kind < kinds; kind++)
            for (int k = 0; k < libraries && chains[k]; k++)
                row.seconds[kind][k] = std::min(row.seconds[kind][k],
                                                time_batch(*chains[k], kind, states, out));
    return row;
}

/* The slope of log time over log N in the last decade, by least squares. */
double fit_exponent(const std::vector<Row> &rows, int kind)
{
    double count = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (const Row &r : rows) {
        if (10 * r.n < rows.back().n)
            continue;
        const double a = std::log(r.n), b = std::log(r.seconds[kind][0]);
        count += 1, x += a, y += b, xx += a * a, xy += a * b;
    }
    return (count * xy - x * y) / (count * xx - x * x);
}

void print(const std::vector<Row> &rows, int kind)
{
    std::printf("%s, ns per body\n%8s %10s %10s %10s %14s %12s %14s\n", kind_name[kind], "N",
                "Bogie", "Simbody", "DART", "Bogie/Simbody", "Bogie/DART", "difference");
    for (const Row &r : rows) {
        const double *t = r.seconds[kind], scale = 1e9 / r.n;
        std::printf("%8d %10.1f", r.n, scale * t[0]);
        if (r.n <= largest_of_others)
            std::printf(" %10.1f %10.1f %14.3f %12.3f %14.1e", scale * t[1], scale * t[2],
                        t[0] / t[1], t[0] / t[2], r.difference[kind]);
        std::printf("\n");
    }
    std::printf("Bogie's time grows with N^%.3f over the last decade\n\n",
                fit_exponent(rows, kind));
}

} // namespace

int main()
{
    try {
        std::vector<Row> rows;
        for (int n : sizes)
            rows.push_back(measure(n));
        for (int kind = 0; kind < kinds; kind++)
            print(rows, kind);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "bench-formalism: %s\n", e.what());
        return 1;
    }
    return 0;
}
