/* Tableau files: a pair as JSON. What a file claims is checked before anything is computed. */
#include "base/text.h"
#include "integrators/prk_pair.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static const double row_sums = 1e-12; /* to which abscissae given agree with rows */

typedef struct reading {
    const char *path;
    json_t *root;
    bg_error *err;
} reading;

/* A place in the file: "A_slow[2][0]". */
typedef struct file_place {
    char text[64];
} file_place;

static file_place make_place(const char *name, int i, int j)
{
    file_place p;
    if (j >= 0)
        snprintf(p.text, sizeof p.text, "%.24s[%d][%d]", name, i, j);
    else if (i >= 0)
        snprintf(p.text, sizeof p.text, "%.24s[%d]", name, i);
    else
        snprintf(p.text, sizeof p.text, "%.40s", name);
    return p;
}

/* A number, or a text such as "2/15". */
static bool get_number(const json_t *json, double *x)
{
    const char *rest;
    double below = 1;
    if (json_is_number(json)) {
        *x = json_number_value(json);
        return isfinite(*x);
    }
    if (!json_is_string(json) || !bg_text_scan_double(json_string_value(json), x, &rest))
        return false;
    if (*rest == '/' && (!bg_text_to_double(rest + 1, &below) || below == 0))
        return false;
    *x /= below;
    return (*rest == '\0' || *rest == '/') && isfinite(*x);
}

static bg_status refuse(const reading *r, const file_place *at, const char *what)
{
    return bg_error_set(r->err, BG_BAD_INPUT, "tableau file '%s': %s %s", r->path, at->text, what);
}

static bg_status read_number(const reading *r, const json_t *json, file_place at, double *x)
{
    return get_number(json, x)
               ? BG_OK
               : refuse(r, &at, "is not a number; write one, or a fraction such as \"2/15\"");
}

/* n numbers at name, or at name[row]. */
static bg_status read_row(const reading *r, const json_t *json, const char *name, int row, int n,
                          double *x)
{
    file_place at = make_place(name, row, -1);
    char what[96];
    if (!json_is_array(json) || json_array_size(json) != (size_t)n) {
        snprintf(what, sizeof what, "must have %d number%s, one for each stage", n,
                 n == 1 ? "" : "s");
        return refuse(r, &at, what);
    }
    bg_status st = BG_OK;
    for (int k = 0; k < n && st == BG_OK; k++)
        st = read_number(r, json_array_get(json, (size_t)k),
                         row < 0 ? make_place(name, k, -1) : make_place(name, row, k), &x[k]);
    return st;
}

static bg_status read_matrix(const reading *r, const char *name, int stages, bg_tableau *t)
{
    const json_t *json = json_object_get(r->root, name);
    file_place at = make_place(name, -1, -1);
    char what[96];
    if (!json_is_array(json) || json_array_size(json) != (size_t)stages) {
        snprintf(what, sizeof what, "must have %d rows, as many as b_slow has stages", stages);
        return refuse(r, &at, what);
    }
    for (int i = 0; i < stages; i++) {
        bg_status st = read_row(r, json_array_get(json, (size_t)i), name, i, stages, t->a[i]);
        if (st != BG_OK)
            return st;
        for (int j = i; j < stages; j++)
            if (t->a[i][j] != 0) {
                at = make_place(name, i, j);
                return refuse(r, &at,
                              "is not zero; methods are explicit: only entries below the "
                              "diagonal may be");
            }
    }
    return BG_OK;
}

static bg_status check_members(const reading *r)
{
    static const char *const known[] = {"kind",      "name",        "comment", "order",
                                        "tolerance", "slow_stages", "c",       "A_slow",
                                        "A_fast",    "b_slow",      "b_fast"};
    enum { KNOWN = sizeof known / sizeof *known };
    const char *key;
    json_t *value;
    json_object_foreach(r->root, key, value)
    {
        int k = 0;
        while (k < KNOWN && strcmp(key, known[k]) != 0)
            k++;
        if (k < KNOWN)
            continue;
        int nearest = bg_text_find_nearest(key, known, KNOWN);
        return bg_error_set(r->err, BG_BAD_INPUT,
                            "tableau file '%s': there is no member '%.60s'; %s%s%s", r->path, key,
                            nearest >= 0 ? "did you mean '" : "docs/integrators.md lists them",
                            nearest >= 0 ? known[nearest] : "", nearest >= 0 ? "'?" : "");
    }
    return BG_OK;
}

/* A text, or a list of texts. */
static bool is_comment(const json_t *json)
{
    size_t n = json_array_size(json);
    for (size_t k = 0; k < n; k++)
        if (!json_is_string(json_array_get(json, k)))
            return false;
    return json_is_string(json) || json_is_array(json);
}

static bool is_name(const json_t *json, size_t size)
{
    const char *text = json_string_value(json);
    if (!text || !*text || strlen(text) >= size)
        return false;
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            return false;
    return true;
}

static bg_status check_words(const reading *r, const bg_prk_pair *p)
{
    const json_t *kind = json_object_get(r->root, "kind"), *name = json_object_get(r->root, "name"),
                 *comment = json_object_get(r->root, "comment");
    const char *word = json_string_value(kind);
    file_place at = make_place("kind", -1, -1);
    if (kind && !(word && strcmp(word, "tableaus") == 0))
        return refuse(r, &at, "must be \"tableaus\" in a tableau file");
    at = make_place("comment", -1, -1);
    if (comment && !is_comment(comment))
        return refuse(r, &at, "must be a text or a list of texts");
    at = make_place("name", -1, -1);
    if (name && !is_name(name, sizeof p->name))
        return refuse(r, &at, "must be a text of 1 to 63 bytes without control characters");
    return BG_OK;
}

static bg_status read_facts(const reading *r, bg_prk_pair *p)
{
    const json_t *order = json_object_get(r->root, "order");
    const json_t *name = json_object_get(r->root, "name"),
                 *digits = json_object_get(r->root, "tolerance");
    const json_t *b = json_object_get(r->root, "b_slow");
    size_t stages = json_array_size(b);
    const char *slash = strrchr(r->path, '/');
    file_place at = make_place("b_slow", -1, -1);
    if (stages < 1 || stages > BG_PRK_STAGES)
        return refuse(r, &at, "must be an array of 1 to 16 numbers, one for each stage");
    p->stages = (int)stages;
    at = make_place("order", -1, -1);
    if (!json_is_integer(order) || json_integer_value(order) < 1 ||
        json_integer_value(order) > BG_PRK_ORDER)
        return refuse(r, &at, "must be a whole number from 1 to 4, the order of the pair");
    p->order = (int)json_integer_value(order);
    p->tolerance = 1e-12;
    at = make_place("tolerance", -1, -1);
    if (digits && !(get_number(digits, &p->tolerance) && p->tolerance > 0 && p->tolerance <= 1e-6))
        return refuse(r, &at,
                      "must be a number above 0 and at most 1e-6: how well the digits of "
                      "the file meet the order conditions");
    snprintf(p->name, sizeof p->name, "%s",
             name    ? json_string_value(name)
             : slash ? slash + 1
                     : r->path);
    return BG_OK;
}

/* Abscissae follow from the coefficients; where they are given they must agree. */
static bg_status check_abscissae(const reading *r, const bg_prk_pair *p)
{
    const json_t *c = json_object_get(r->root, "c");
    double x[BG_PRK_STAGES];
    char what[128];
    bg_status st = c ? read_row(r, c, "c", -1, p->stages, x) : BG_OK;
    for (int i = 0; i < p->stages && c && st == BG_OK; i++)
        for (int k = 0; k < 2; k++)
            if (fabs(x[i] - p->of[k].c[i]) > fmax(row_sums, p->tolerance)) {
                file_place at = make_place("c", i, -1);
                snprintf(what, sizeof what,
                         "is %g, but row %d of A_%s sums up to %g; leave c out where the tableaus "
                         "have different abscissae",
                         x[i], i, k == BG_PRK_SLOW ? "slow" : "fast", p->of[k].c[i]);
                return refuse(r, &at, what);
            }
    return st;
}

/* said[stages] <- the stages that "slow_stages" names. */
static bg_status read_slow_stages(const reading *r, const json_t *slow, int stages, bool *said)
{
    file_place at = make_place("slow_stages", -1, -1);
    char what[96];
    if (!json_is_array(slow))
        return refuse(r, &at, "must be a list of stages, counted from 1 on");
    for (size_t k = 0; k < json_array_size(slow); k++) {
        const json_t *json = json_array_get(slow, k);
        const json_int_t i = json_integer_value(json);
        at = make_place("slow_stages", (int)(k < 1000 ? k : 1000), -1);
        if (!json_is_integer(json) || i < 1 || i > stages) {
            snprintf(what, sizeof what, "must be a whole number from 1 to %d, a stage", stages);
            return refuse(r, &at, what);
        }
        if (said[i - 1])
            return refuse(r, &at, "names a stage for the second time");
        said[i - 1] = true;
    }
    return BG_OK;
}

/* So do the slow stages. */
static bg_status check_slow_stages(const reading *r, const bg_prk_pair *p)
{
    const json_t *slow = json_object_get(r->root, "slow_stages");
    bool said[BG_PRK_STAGES] = {false};
    char what[128];
    bg_status st = slow ? read_slow_stages(r, slow, p->stages, said) : BG_OK;
    for (int i = 0; i < p->stages && slow && st == BG_OK; i++)
        if (said[i] != p->slow[i]) {
            file_place at = make_place("slow_stages", -1, -1);
            snprintf(what, sizeof what, "%s stage %d, but column %d of A_slow and b_slow is %szero",
                     said[i] ? "has" : "lacks", i + 1, i, p->slow[i] ? "not " : "");
            return refuse(r, &at, what);
        }
    return st;
}

static bg_status check_order(const reading *r, const bg_prk_pair *p)
{
    bg_prk_condition list[BG_PRK_CONDITIONS];
    if (p->order > p->nslow)
        return bg_error_set(r->err, BG_BAD_INPUT,
                            "tableau file '%s': order %d with %d slow stage%s is impossible: an "
                            "explicit Runge-Kutta method of s stages has order s at most, and the "
                            "slow tableau alone is one; give more slow stages or a lower order",
                            r->path, p->order, p->nslow, p->nslow == 1 ? "" : "s");
    int n = bg_prk_pair_calc_conditions(p, p->order, list);
    for (int k = 0; k < n; k++)
        if (!(fabs(list[k].value - list[k].wanted) <= p->tolerance))
            return bg_error_set(
                r->err, BG_BAD_INPUT,
                "tableau file '%s': the condition %s = 1/%g of order %d is violated:"
                " the coefficients give %.15g, off by %.2g; correct them, or claim "
                "a lower order",
                r->path, list[k].name, 1 / list[k].wanted, list[k].order, list[k].value,
                fabs(list[k].value - list[k].wanted));
    return BG_OK;
}

static bg_status read_pair(const reading *r, bg_prk_pair *p)
{
    if (!json_is_object(r->root))
        return bg_error_set(r->err, BG_BAD_INPUT,
                            "tableau file '%s' is not an object { }; docs/integrators.md shows one",
                            r->path);
    bg_status st = check_members(r);
    if (st == BG_OK)
        st = check_words(r, p);
    if (st == BG_OK)
        st = read_facts(r, p);
    for (int k = 0; k < 2 && st == BG_OK; k++) {
        const char *weights = k == BG_PRK_SLOW ? "b_slow" : "b_fast";
        st = read_row(r, json_object_get(r->root, weights), weights, -1, p->stages, p->of[k].b);
        if (st == BG_OK)
            st = read_matrix(r, k == BG_PRK_SLOW ? "A_slow" : "A_fast", p->stages, &p->of[k]);
    }
    if (st != BG_OK)
        return st;
    bg_prk_pair_update(p);
    st = check_abscissae(r, p);
    if (st == BG_OK)
        st = check_slow_stages(r, p);
    return st == BG_OK ? check_order(r, p) : st;
}

bg_status bg_prk_pair_read(const char *path, bg_prk_pair *pair, bg_error *err)
{
    json_error_t error;
    reading r = {path, json_load_file(path, JSON_REJECT_DUPLICATES, &error), err};
    *pair = (bg_prk_pair){.stages = 0};
    if (!r.root)
        return error.line < 1
                   ? bg_error_set(err, BG_IO, "tableau file '%s' cannot be read; check its name",
                                  path)
                   : bg_error_set(err, BG_BAD_INPUT, "tableau file '%s', line %d, column %d: %s",
                                  path, error.line, error.column, error.text);
    bg_status st = read_pair(&r, pair);
    json_decref(r.root);
    return st;
}

bg_status bg_prk_pair_open(const char *text, bg_prk_pair *pair, bg_error *err)
{
    size_t length = strlen(text);
    const char *names[32];
    int n = 0;
    if (length > 5 && strcmp(text + length - 5, ".json") == 0)
        return bg_prk_pair_read(text, pair, err);
    if (bg_prk_pair_find(text, pair))
        return BG_OK;
    while (n < 32 && (names[n] = bg_prk_pair_get_name(n)))
        n++;
    int nearest = bg_text_find_nearest(text, names, n);
    return bg_error_set(err, BG_BAD_INPUT, "there is no pair '%s'; %s%s%s", text,
                        nearest >= 0 ? "did you mean '"
                                     : "give a name, or a tableau file as "
                                       "FILE.json",
                        nearest >= 0 ? names[nearest] : "", nearest >= 0 ? "'?" : "");
}

static void print_row(const char *name, const double *x, int n, const char *end, FILE *out)
{
    fprintf(out, "%s[", name);
    for (int k = 0; k < n; k++)
        fprintf(out, "%s%.17g", k ? ", " : "", x[k]);
    fprintf(out, "]%s", end);
}

void bg_prk_pair_print(const bg_prk_pair *p, const char *comment, FILE *out)
{
    static const char *const names[] = {"slow", "fast"};
    json_t *text = json_string(comment ? comment : ""), *name = json_string(p->name);
    char *quoted[2] = {json_dumps(name, JSON_ENCODE_ANY), json_dumps(text, JSON_ENCODE_ANY)};
    fprintf(out,
            "{\n  \"kind\": \"tableaus\",\n  \"name\": %s,\n  \"comment\": %s,\n  \"order\": %d,\n",
            quoted[0] ? quoted[0] : "\"pair\"", quoted[1] ? quoted[1] : "\"\"", p->order);
    if (p->tolerance != 1e-12)
        fprintf(out, "  \"tolerance\": %g,\n", p->tolerance);
    fprintf(out, "  \"slow_stages\": [");
    for (int i = 0, n = 0; i < p->stages; i++)
        if (p->slow[i])
            fprintf(out, "%s%d", n++ ? ", " : "", i + 1);
    fprintf(out, "],\n");
    for (int k = 0; k < 2; k++) {
        fprintf(out, "  \"A_%s\": [\n", names[k]);
        for (int i = 0; i < p->stages; i++)
            print_row("    ", p->of[k].a[i], p->stages, i + 1 < p->stages ? ",\n" : "],\n", out);
    }
    print_row("  \"b_slow\": ", p->of[BG_PRK_SLOW].b, p->stages, ",\n", out);
    print_row("  \"b_fast\": ", p->of[BG_PRK_FAST].b, p->stages, "\n}\n", out);
    free(quoted[0]);
    free(quoted[1]);
    json_decref(text);
    json_decref(name);
}
