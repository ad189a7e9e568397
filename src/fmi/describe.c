#include "fmi/describe.h"

#include "bogie/version.h"
#include "fmi/instance.h"
#include "model/unit.h"

#include <math.h>
#include <string.h>

/* A text as the value of an attribute; characters that XML has no place for become blanks. */
static void put_text(const char *text, FILE *out)
{
    for (const char *c = text; *c; c++) {
        const char *as = *c == '<'    ? "&lt;"
                         : *c == '>'  ? "&gt;"
                         : *c == '&'  ? "&amp;"
                         : *c == '"'  ? "&quot;"
                         : *c == '\n' ? "&#10;"
                                      : NULL;
        if (as)
            fputs(as, out);
        else
            fputc((unsigned char)*c < 0x20 ? ' ' : *c, out);
    }
}

static void put_attribute(const char *name, const char *text, FILE *out)
{
    fprintf(out, " %s=\"", name);
    put_text(text, out);
    fputc('"', out);
}

static void put_number(const char *name, double value, FILE *out)
{
    if (isfinite(value))
        fprintf(out, " %s=\"%.17g\"", name, value);
}

static const char *say(bool yes)
{
    return yes ? "true" : "false";
}

static void put_interface(const bg_fmi_description *d, FILE *out)
{
    const bool two = d->version == 2, fixed = d->setup->step > 0;
    fprintf(out, "  <CoSimulation");
    put_attribute("modelIdentifier", d->identifier, out);
    /* steps of any length, but whole multiples of a fixed one, which version 2 cannot say */
    fprintf(out, "\n    canHandleVariableCommunicationStepSize=\"%s\"", say(!two || !fixed));
    if (two)
        fprintf(out, " canInterpolateInputs=\"true\" canNotUseMemoryManagementFunctions=\"true\"");
    else if (fixed)
        put_number("fixedInternalStepSize", d->setup->step, out);
    fprintf(out, " maxOutputDerivativeOrder=\"0\"\n    %s=\"true\" %s=\"true\" %s=\"%s\"",
            two ? "canGetAndSetFMUstate" : "canGetAndSetFMUState",
            two ? "canSerializeFMUstate" : "canSerializeFMUState",
            two ? "providesDirectionalDerivative" : "providesDirectionalDerivatives",
            say(d->sensitivities && d->variables->ninputs > 0));
    if (!two)
        fprintf(out, "\n    hasEventMode=\"false\" mightReturnEarlyFromDoStep=\"false\" "
                     "providesIntermediateUpdate=\"false\"");
    fprintf(out, "/>\n");
}

static void put_unit(const char *name, FILE *out)
{
    static const char *const dimensions[BG_UNIT_DIMENSIONS] = {"m", "kg", "s", "rad"};
    bg_unit unit;
    fprintf(out, "    <Unit");
    put_attribute("name", name, out);
    if (!bg_unit_parse(name, &unit)) {
        fprintf(out, "/>\n");
        return;
    }
    fprintf(out, "><BaseUnit");
    for (int k = 0; k < BG_UNIT_DIMENSIONS; k++)
        if (unit.power[k] != 0)
            fprintf(out, " %s=\"%d\"", dimensions[k], unit.power[k]);
    if (unit.factor != 1)
        put_number("factor", unit.factor, out);
    fprintf(out, "/></Unit>\n");
}

static void put_units(const bg_fmi_variables *v, FILE *out)
{
    fprintf(out, "  <UnitDefinitions>\n");
    for (int i = 0; i < v->count; i++) {
        bool known = !v->items[i].unit[0];
        for (int k = 0; k < i && !known; k++)
            known = strcmp(v->items[k].unit, v->items[i].unit) == 0;
        if (!known)
            put_unit(v->items[i].unit, out);
    }
    fprintf(out, "  </UnitDefinitions>\n");
}

static void put_categories(FILE *out)
{
    static const char *const about[] = {"events of the motion, and remarks at its start",
                                        "what may be wrong", "steps that are not made", "errors"};
    fprintf(out, "  <LogCategories>\n");
    for (int s = BG_FMI_OK; s <= BG_FMI_ERROR; s++)
        fprintf(out, "    <Category name=\"%s\" description=\"%s\"/>\n",
                bg_fmi_category_get_name((bg_fmi_status)s), about[s]);
    fprintf(out, "  </LogCategories>\n");
}

static void put_experiment(const bg_fmi_description *d, FILE *out)
{
    const bg_fmi_setup *s = d->setup;
    fprintf(out, "  <DefaultExperiment");
    put_number("startTime", s->t_start, out);
    put_number("stopTime", s->t_end, out);
    if (!(s->step > 0))
        put_number("tolerance", s->rtol, out);
    if (s->step > 0)
        put_number("stepSize", s->step, out);
    else if (d->output_interval > 0)
        put_number("stepSize", d->output_interval, out);
    fprintf(out, "/>\n");
}

/* What a variable is: causality, variability, initial. */
static const char *find_attributes(bg_fmi_causality causality)
{
    static const char *const attributes[] = {
        [BG_FMI_TIME] = "causality=\"independent\" variability=\"continuous\"",
        [BG_FMI_PARAMETER] = "causality=\"parameter\" variability=\"fixed\" initial=\"exact\"",
        [BG_FMI_CALCULATED] =
            "causality=\"calculatedParameter\" variability=\"fixed\" initial=\"calculated\"",
        [BG_FMI_INPUT] = "causality=\"input\" variability=\"continuous\"",
        [BG_FMI_OUTPUT] = "causality=\"output\" variability=\"continuous\" initial=\"calculated\"",
    };
    return attributes[causality];
}

static void put_variable(const bg_fmi_description *d, int i, FILE *out)
{
    const bg_fmi_variable *x = &d->variables->items[i];
    const bool two = d->version == 2;
    fprintf(out, two ? "    <ScalarVariable" : "    <Float64");
    put_attribute("name", x->name, out);
    fprintf(out, " valueReference=\"%d\" %s", i, find_attributes(x->causality));
    if (x->description && x->description[0])
        put_attribute("description", x->description, out);
    if (two)
        fprintf(out, "><Real");
    if (x->unit[0])
        put_attribute("unit", x->unit, out);
    if (x->causality == BG_FMI_PARAMETER || x->causality == BG_FMI_INPUT)
        put_number("start", x->start, out);
    fprintf(out, two ? "/></ScalarVariable>\n" : "/>\n");
}

static bool is_initial(bg_fmi_causality causality)
{
    return causality == BG_FMI_OUTPUT || causality == BG_FMI_CALCULATED;
}

static void put_structure(const bg_fmi_description *d, FILE *out)
{
    const bg_fmi_variables *v = d->variables;
    const bool two = d->version == 2;
    fprintf(out, "  <ModelStructure>\n");
    for (int initial = 0; initial < 2; initial++) {
        int n = 0;
        for (int i = 0; i < v->count; i++) {
            const bg_fmi_causality c = v->items[i].causality;
            if (initial ? !is_initial(c) : c != BG_FMI_OUTPUT)
                continue;
            if (two && n++ == 0)
                fprintf(out, "    <%s>\n", initial ? "InitialUnknowns" : "Outputs");
            if (two)
                fprintf(out, "      <Unknown index=\"%d\"/>\n", i + 1);
            else
                fprintf(out, "    <%s valueReference=\"%d\"/>\n",
                        initial ? "InitialUnknown" : "Output", i);
        }
        if (n > 0)
            fprintf(out, "    </%s>\n", initial ? "InitialUnknowns" : "Outputs");
    }
    fprintf(out, "  </ModelStructure>\n");
}

void bg_fmi_describe(const bg_fmi_description *d, FILE *out)
{
    const bg_fmi_variables *v = d->variables;
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"%d.0\"",
            d->version);
    put_attribute("modelName", d->model_name, out);
    put_attribute(d->version == 2 ? "guid" : "instantiationToken", d->setup->token, out);
    if (d->comment)
        put_attribute("description", d->comment, out);
    put_attribute("generationTool", "Bogie " BG_VERSION, out);
    fprintf(out, " variableNamingConvention=\"structured\">\n");
    put_interface(d, out);
    put_units(v, out);
    put_categories(out);
    put_experiment(d, out);
    fprintf(out, "  <ModelVariables>\n");
    for (int i = 0; i < v->count; i++)
        put_variable(d, i, out);
    fprintf(out, "  </ModelVariables>\n");
    put_structure(d, out);
    fprintf(out, "</fmiModelDescription>\n");
}
