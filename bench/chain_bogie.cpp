/* The chain as a model text, and the functions of the system that Bogie makes of it in joint
 * coordinates. The state is copied in, because the other libraries cannot do without it. */
#include "chain.h"

#include "bogie/bogie.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

std::string print(double x)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", x);
    return text;
}

std::string write_model(const Chain &c)
{
    const std::string inertia = ", 0, 0], \"mass\": " + print(Chain::mass) + ", \"inertia\": [0, " +
                                print(c.across) + ", " + print(c.across) + "]}";
    std::string bodies, joints, parent = "ground";
    for (int k = 0; k < c.n; k++) {
        const std::string number = std::to_string(k + 1), rod = "rod" + number;
        const std::string comma = k > 0 ? ",\n" : "";
        bodies += comma + '"' + rod + "\": {\"center\": [" + print((k + 0.5) * c.length) + inertia;
        joints += comma + "\"hinge" + number + "\": {\"bodies\": [\"" + parent + "\", \"" + rod +
                  "\"], \"at\": [" + print(k * c.length) +
                  ", 0, 0], \"type\": \"revolute\", \"axis\": [0, 1, 0]}";
        parent = rod;
    }
    return "{\"name\": \"chain\", \"gravity\": " + print(Chain::gravity) + ", \"bodies\": {" +
           bodies + "}, \"joints\": {" + joints + "}}";
}

class BogieChain final : public Chain
{
    bg_model *model = nullptr;
    bg_system *system = nullptr;
    const bg_system_def *def = nullptr;
    std::vector<double> q_, v_;
    bg_point point = {};

    void load(const double *q, const double *v)
    {
        std::copy(q, q + n, q_.begin());
        std::copy(v, v + n, v_.begin());
    }

    void close()
    {
        bg_system_destroy(system);
        bg_model_destroy(model);
    }

  public:
    explicit BogieChain(int rods) : Chain(rods), q_(std::size_t(rods)), v_(std::size_t(rods))
    {
        bg_error err = {};
        const std::string text = write_model(*this);
        if (bg_model_parse(text.c_str(), "chain", nullptr, 0, &model, &err) < 0 ||
            bg_model_create_system(model, "joint", &system, &err) < 0) {
            close();
            throw std::runtime_error(err.text);
        }
        def = bg_system_get_def(system);
        point.q = q_.data();
        point.v = v_.data();
    }
    BogieChain(const BogieChain &) = delete;
    BogieChain &operator=(const BogieChain &) = delete;
    ~BogieChain() override
    {
        close();
    }

    void accelerate(const double *q, const double *v, double *a) override
    {
        load(q, v);
        def->accelerate(def->self, &point, nullptr, a);
    }

    void residual(const double *q, const double *v, const double *a, double *r) override
    {
        load(q, v);
        def->residual(def->self, &point, a, nullptr, r);
    }
};

} // namespace

std::unique_ptr<Chain> chain_create_bogie(int n)
{
    return std::make_unique<BogieChain>(n);
}
