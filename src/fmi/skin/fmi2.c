/* FMI 2.0 for co-simulation: its functions, and in which phases they may be called (section 4.2.4
 * of the standard). */
#include "fmi/skin/fmi2.h"

#include "base/memory.h"
#include "fmi/instance.h"
#include "fmi/skin/place.h"

#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wunused-parameter" /* what a call is not interested in */

typedef struct fmi2_component {
    bg_fmi_instance *instance;
    fmi2CallbackLogger *logger;
    fmi2ComponentEnvironment environment;
    double last; /* s, the last time that was reached */
} fmi2_component;

enum {
    BEGUN = BG_FMI_INSTANTIATED | BG_FMI_INITIALISING | BG_FMI_STEPPING,
    AFTER = BG_FMI_STOPPED | BG_FMI_FAILED | BG_FMI_TERMINATED,
    MOVING = BG_FMI_INITIALISING | BG_FMI_STEPPING | AFTER
};

typedef enum fmi2_entry {
    SET_DEBUG_LOGGING,
    SETUP_EXPERIMENT,
    ENTER_INITIALIZATION,
    EXIT_INITIALIZATION,
    TERMINATE,
    RESET,
    GET,
    SET,
    FMU_STATE,
    DERIVATIVE,
    INPUT_DERIVATIVES,
    OUTPUT_DERIVATIVES,
    DO_STEP,
    CANCEL_STEP,
    STATUS
} fmi2_entry;

static const bg_fmi_entry entries[] = {
    [SET_DEBUG_LOGGING] = {"fmi2SetDebugLogging", BG_FMI_ANY},
    [SETUP_EXPERIMENT] = {"fmi2SetupExperiment", BG_FMI_INSTANTIATED},
    [ENTER_INITIALIZATION] = {"fmi2EnterInitializationMode", BG_FMI_INSTANTIATED},
    [EXIT_INITIALIZATION] = {"fmi2ExitInitializationMode", BG_FMI_INITIALISING},
    [TERMINATE] = {"fmi2Terminate", BG_FMI_STEPPING | BG_FMI_STOPPED},
    [RESET] = {"fmi2Reset", BG_FMI_ANY},
    [GET] = {"fmi2GetReal", MOVING},
    [SET] = {"fmi2SetReal", BEGUN},
    [FMU_STATE] = {"fmi2GetFMUstate, or another function of FMU states,", BG_FMI_ANY},
    [DERIVATIVE] = {"fmi2GetDirectionalDerivative", MOVING},
    [INPUT_DERIVATIVES] = {"fmi2SetRealInputDerivatives", BEGUN},
    [OUTPUT_DERIVATIVES] = {"fmi2GetRealOutputDerivatives", BG_FMI_STEPPING | AFTER},
    [DO_STEP] = {"fmi2DoStep", BG_FMI_STEPPING},
    [CANCEL_STEP] = {"fmi2CancelStep", 0},
    [STATUS] = {"fmi2GetStatus, or another function of the status,",
                BG_FMI_STEPPING | BG_FMI_STOPPED | BG_FMI_TERMINATED},
};

/* The instance, where the function may be called now, else NULL. */
static bg_fmi_instance *enter(fmi2Component c, fmi2_entry e)
{
    bg_fmi_instance *x = c ? ((fmi2_component *)c)->instance : NULL;
    return bg_fmi_instance_check(x, &entries[e]) ? x : NULL;
}

static void tell(void *self, const char *instance, bg_fmi_status status, const char *category,
                 const char *text)
{
    const fmi2_component *c = self;
    if (c->logger)
        c->logger(c->environment, instance, (fmi2Status)status, category, "%s", text);
}

const char *fmi2GetTypesPlatform(void)
{
    return "default";
}

const char *fmi2GetVersion(void)
{
    return "2.0";
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean loggingOn, size_t n,
                               const fmi2String categories[])
{
    bg_fmi_instance *x = enter(c, SET_DEBUG_LOGGING);
    if (x)
        bg_fmi_instance_set_logging(x, loggingOn != 0, categories, n);
    return x ? fmi2OK : fmi2Error;
}

static fmi2Component refuse_kind(const fmi2CallbackFunctions *functions, fmi2String name,
                                 const char *why)
{
    if (functions->logger)
        functions->logger(functions->componentEnvironment, name, fmi2Error, "logStatusError", "%s",
                          why);
    return NULL;
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible,
                              fmi2Boolean loggingOn)
{
    static const fmi2CallbackFunctions none = {0};
    functions = functions ? functions : &none; /* who gives no logger is told nothing */
    if (type != fmi2CoSimulation)
        return refuse_kind(functions, name,
                           "this FMU is for co-simulation, not for model exchange");
    fmi2_component *c = BG_NEW(fmi2_component);
    char *folder = bg_fmi_place_from_uri(resources);
    if (c && folder) {
        c->logger = functions->logger;
        c->environment = functions->componentEnvironment;
        c->instance = bg_fmi_instance_create(name, guid, folder, loggingOn != 0,
                                             &(bg_fmi_host){tell, c, 2});
    } else {
        refuse_kind(functions, name,
                    "the resource location is not a file URI such as file:///tmp/fmu/resources");
    }
    free(folder);
    if (c && c->instance) {
        c->last = bg_fmi_instance_get_time(c->instance);
        return c;
    }
    free(c);
    return NULL;
}

void fmi2FreeInstance(fmi2Component c)
{
    if (c)
        bg_fmi_instance_destroy(((fmi2_component *)c)->instance);
    free(c);
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean toleranceDefined, fmi2Real tolerance,
                               fmi2Real startTime, fmi2Boolean stopTimeDefined, fmi2Real stopTime)
{
    bg_fmi_instance *x = enter(c, SETUP_EXPERIMENT);
    if (!x)
        return fmi2Error;
    ((fmi2_component *)c)->last = startTime;
    return (fmi2Status)bg_fmi_instance_set_experiment(
        x, toleranceDefined ? &tolerance : NULL, startTime, stopTimeDefined ? &stopTime : NULL);
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    bg_fmi_instance *x = enter(c, ENTER_INITIALIZATION);
    return x ? (fmi2Status)bg_fmi_instance_enter_initialisation(x) : fmi2Error;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    bg_fmi_instance *x = enter(c, EXIT_INITIALIZATION);
    return x ? (fmi2Status)bg_fmi_instance_exit_initialisation(x) : fmi2Error;
}

fmi2Status fmi2Terminate(fmi2Component c)
{
    bg_fmi_instance *x = enter(c, TERMINATE);
    return x ? (fmi2Status)bg_fmi_instance_terminate(x) : fmi2Error;
}

fmi2Status fmi2Reset(fmi2Component c)
{
    bg_fmi_instance *x = enter(c, RESET);
    return x ? (fmi2Status)bg_fmi_instance_reset(x) : fmi2Error;
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real value[])
{
    bg_fmi_instance *x = enter(c, GET);
    return x ? (fmi2Status)bg_fmi_instance_get(x, vr, n, value) : fmi2Error;
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                       const fmi2Real value[])
{
    bg_fmi_instance *x = enter(c, SET);
    return x ? (fmi2Status)bg_fmi_instance_set(x, vr, n, value) : fmi2Error;
}

/* Variables of other types: there are none. */
static fmi2Status have_none(fmi2Component c, fmi2_entry e, size_t n)
{
    bg_fmi_instance *x = enter(c, e);
    if (!x)
        return fmi2Error;
    return n == 0 ? fmi2OK
                  : (fmi2Status)bg_fmi_instance_tell(x, BG_FMI_ERROR,
                                                     "all variables of this FMU are real numbers");
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                          fmi2Integer value[])
{
    return have_none(c, GET, n);
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                          fmi2Boolean value[])
{
    return have_none(c, GET, n);
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                         fmi2String value[])
{
    return have_none(c, GET, n);
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                          const fmi2Integer value[])
{
    return have_none(c, SET, n);
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                          const fmi2Boolean value[])
{
    return have_none(c, SET, n);
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                         const fmi2String value[])
{
    return have_none(c, SET, n);
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    bg_fmi_instance *x = enter(c, FMU_STATE);
    return x ? (fmi2Status)bg_fmi_instance_save(x, (bg_fmi_state **)state) : fmi2Error;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    bg_fmi_instance *x = enter(c, FMU_STATE);
    if (!x)
        return fmi2Error;
    const bg_fmi_status st = bg_fmi_instance_restore(x, state);
    ((fmi2_component *)c)->last = bg_fmi_instance_get_time(x);
    return (fmi2Status)st;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    if (!enter(c, FMU_STATE))
        return fmi2Error;
    bg_fmi_state_destroy(*state);
    *state = NULL;
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    bg_fmi_instance *x = enter(c, FMU_STATE);
    if (x && state)
        *size = bg_fmi_state_get_size(state);
    return x && state ? fmi2OK : fmi2Error;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    bg_fmi_instance *x = enter(c, FMU_STATE);
    if (!x || !state)
        return fmi2Error;
    if (size < bg_fmi_state_get_size(state))
        return (fmi2Status)bg_fmi_instance_tell(x, BG_FMI_ERROR,
                                                "%zu bytes are too few for this state of %zu", size,
                                                bg_fmi_state_get_size(state));
    bg_fmi_state_serialise(x, state, bytes);
    return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size,
                                   fmi2FMUstate *state)
{
    bg_fmi_instance *x = enter(c, FMU_STATE);
    return x ? (fmi2Status)bg_fmi_instance_deserialise(x, bytes, size, (bg_fmi_state **)state)
             : fmi2Error;
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknowns[],
                                        size_t nUnknowns, const fmi2ValueReference knowns[],
                                        size_t nKnowns, const fmi2Real seed[],
                                        fmi2Real sensitivity[])
{
    bg_fmi_instance *x = enter(c, DERIVATIVE);
    return x ? (fmi2Status)bg_fmi_instance_calc_sensitivity(x, unknowns, nUnknowns, knowns, nKnowns,
                                                            seed, sensitivity)
             : fmi2Error;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                       const fmi2Integer order[], const fmi2Real value[])
{
    bg_fmi_instance *x = enter(c, INPUT_DERIVATIVES);
    return x ? (fmi2Status)bg_fmi_instance_set_rates(x, vr, n, order, value) : fmi2Error;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                        const fmi2Integer order[], fmi2Real value[])
{
    bg_fmi_instance *x = enter(c, OUTPUT_DERIVATIVES);
    return !x       ? fmi2Error
           : n == 0 ? fmi2OK
                    : (fmi2Status)bg_fmi_instance_tell(x, BG_FMI_ERROR,
                                                       "derivatives of outputs are not offered "
                                                       "(maxOutputDerivativeOrder is 0)");
}

/* An event that ends the motion inside of a step, like any step that is not made to its end, is a
 * step discarded, at whose last time the instance stays. */
fmi2Status fmi2DoStep(fmi2Component c, fmi2Real currentCommunicationPoint,
                      fmi2Real communicationStepSize, fmi2Boolean noSetFMUStatePriorToCurrentPoint)
{
    bg_fmi_instance *x = enter(c, DO_STEP);
    bg_fmi_step step;
    if (!x)
        return fmi2Error;
    const bg_fmi_status st = bg_fmi_instance_step(x, currentCommunicationPoint,
                                                  communicationStepSize, &step);
    ((fmi2_component *)c)->last = step.t;
    if (st == BG_FMI_OK && step.ended) {
        bg_fmi_instance_set_phase(x, BG_FMI_STOPPED);
        return fmi2Discard;
    }
    return (fmi2Status)st;
}

fmi2Status fmi2CancelStep(fmi2Component c)
{
    enter(c, CANCEL_STEP);
    return fmi2Error;
}

static fmi2Status have_no_status(fmi2Component c, const char *what)
{
    bg_fmi_instance *x = enter(c, STATUS);
    return x ? (fmi2Status)bg_fmi_instance_tell(x, BG_FMI_DISCARD,
                                                "there is no such status%s: steps are made before "
                                                "fmi2DoStep returns",
                                                what)
             : fmi2Error;
}

fmi2Status fmi2GetStatus(fmi2Component c, fmi2StatusKind kind, fmi2Status *value)
{
    return have_no_status(c, "");
}

fmi2Status fmi2GetRealStatus(fmi2Component c, fmi2StatusKind kind, fmi2Real *value)
{
    if (kind != fmi2LastSuccessfulTime)
        return have_no_status(c, " as a real number");
    if (!enter(c, STATUS))
        return fmi2Error;
    *value = ((fmi2_component *)c)->last;
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, fmi2StatusKind kind, fmi2Integer *value)
{
    return have_no_status(c, " as a whole number");
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, fmi2StatusKind kind, fmi2Boolean *value)
{
    if (kind != fmi2Terminated)
        return have_no_status(c, " as a boolean");
    bg_fmi_instance *x = enter(c, STATUS);
    if (x)
        *value = bg_fmi_instance_has_ended(x);
    return x ? fmi2OK : fmi2Error;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, fmi2StatusKind kind, fmi2String *value)
{
    return have_no_status(c, " as a text");
}

/* Model exchange: exported, and refused. */
static fmi2Status refuse(fmi2Component c, const char *function)
{
    if (!c)
        return fmi2Error;
    return (fmi2Status)bg_fmi_instance_tell(((fmi2_component *)c)->instance, BG_FMI_ERROR,
                                            "%s is for model exchange; this FMU is for "
                                            "co-simulation",
                                            function);
}

fmi2Status fmi2EnterEventMode(fmi2Component c)
{
    return refuse(c, "fmi2EnterEventMode");
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
    return refuse(c, "fmi2NewDiscreteStates");
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c)
{
    return refuse(c, "fmi2EnterContinuousTimeMode");
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c,
                                       fmi2Boolean noSetFMUStatePriorToCurrentPoint,
                                       fmi2Boolean *enterEventMode,
                                       fmi2Boolean *terminateSimulation)
{
    return refuse(c, "fmi2CompletedIntegratorStep");
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time)
{
    return refuse(c, "fmi2SetTime");
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n)
{
    return refuse(c, "fmi2SetContinuousStates");
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivatives[], size_t n)
{
    return refuse(c, "fmi2GetDerivatives");
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real indicators[], size_t n)
{
    return refuse(c, "fmi2GetEventIndicators");
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n)
{
    return refuse(c, "fmi2GetContinuousStates");
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominals[], size_t n)
{
    return refuse(c, "fmi2GetNominalsOfContinuousStates");
}
