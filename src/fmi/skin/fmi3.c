/* FMI 3.0 for co-simulation: its functions, and in which phases they may be called (sections 2.3
 * and 4.2 of the standard). Events are handled inside of steps: there is no event mode. */
#include "fmi/skin/fmi3.h"

#include "base/memory.h"
#include "fmi/instance.h"

#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wunused-parameter" /* what a call is not interested in */

typedef struct fmi3_component {
    bg_fmi_instance *instance;
    fmi3LogMessageCallback *log;
    fmi3InstanceEnvironment environment;
} fmi3_component;

enum {
    BEGUN = BG_FMI_INSTANTIATED | BG_FMI_INITIALISING | BG_FMI_STEPPING,
    AFTER = BG_FMI_STOPPED | BG_FMI_FAILED | BG_FMI_TERMINATED,
    MOVING = BG_FMI_INITIALISING | BG_FMI_STEPPING | AFTER
};

typedef enum fmi3_entry {
    SET_DEBUG_LOGGING,
    ENTER_INITIALIZATION,
    EXIT_INITIALIZATION,
    TERMINATE,
    RESET,
    GET,
    SET,
    DEPENDENCIES,
    FMU_STATE,
    DERIVATIVE,
    OUTPUT_DERIVATIVES,
    DO_STEP
} fmi3_entry;

static const bg_fmi_entry entries[] = {
    [SET_DEBUG_LOGGING] = {"fmi3SetDebugLogging", BG_FMI_ANY},
    [ENTER_INITIALIZATION] = {"fmi3EnterInitializationMode", BG_FMI_INSTANTIATED},
    [EXIT_INITIALIZATION] = {"fmi3ExitInitializationMode", BG_FMI_INITIALISING},
    [TERMINATE] = {"fmi3Terminate", BG_FMI_STEPPING},
    [RESET] = {"fmi3Reset", BG_FMI_ANY},
    [GET] = {"fmi3GetFloat64, or another function that gets values,", BG_FMI_ANY},
    [SET] = {"fmi3SetFloat64, or another function that sets values,", BEGUN},
    [DEPENDENCIES] = {"fmi3GetVariableDependencies", BG_FMI_ANY},
    [FMU_STATE] = {"fmi3GetFMUState, or another function of FMU states,", BG_FMI_ANY},
    [DERIVATIVE] = {"fmi3GetDirectionalDerivative", MOVING},
    [OUTPUT_DERIVATIVES] = {"fmi3GetOutputDerivatives", BG_FMI_STEPPING | AFTER},
    [DO_STEP] = {"fmi3DoStep", BG_FMI_STEPPING},
};

/* The instance, where the function may be called now, else NULL. */
static bg_fmi_instance *enter(fmi3Instance c, fmi3_entry e)
{
    bg_fmi_instance *x = c ? ((fmi3_component *)c)->instance : NULL;
    return bg_fmi_instance_check(x, &entries[e]) ? x : NULL;
}

static void tell(void *self, const char *instance, bg_fmi_status status, const char *category,
                 const char *text)
{
    const fmi3_component *c = self;
    if (c->log)
        c->log(c->environment, (fmi3Status)status, category, text);
}

/* Variables of other types: there are none. */
static fmi3Status have_none(fmi3Instance c, fmi3_entry e, size_t n)
{
    bg_fmi_instance *x = enter(c, e);
    if (!x)
        return fmi3Error;
    return n == 0 ? fmi3OK
                  : (fmi3Status)bg_fmi_instance_tell(x, BG_FMI_ERROR,
                                                     "all variables of this FMU are of type "
                                                     "Float64");
}

/* What is exported, and not offered. */
static fmi3Status refuse(fmi3Instance c, const char *function, const char *why)
{
    if (!c)
        return fmi3Error;
    return (fmi3Status)bg_fmi_instance_tell(((fmi3_component *)c)->instance, BG_FMI_ERROR,
                                            "%s is not offered: %s", function, why);
}

static fmi3Instance refuse_kind(fmi3LogMessageCallback *log, fmi3InstanceEnvironment environment,
                                const char *kind)
{
    if (log)
        log(environment, fmi3Error, "logStatusError", kind);
    return NULL;
}

static const char no_exchange[] = "this FMU is for co-simulation, not for model exchange";
static const char no_schedule[] = "this FMU is for co-simulation, not for scheduled execution";
static const char no_events[] = "events are handled inside of steps";
static const char no_clocks[] = "there are no clocks";

const char *fmi3GetVersion(void)
{
    return "3.0";
}

fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean loggingOn, size_t n,
                               const fmi3String categories[])
{
    bg_fmi_instance *x = enter(instance, SET_DEBUG_LOGGING);
    if (x)
        bg_fmi_instance_set_logging(x, loggingOn, categories, n);
    return x ? fmi3OK : fmi3Error;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources,
                                          fmi3Boolean visible, fmi3Boolean loggingOn,
                                          fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback *log)
{
    return refuse_kind(log, environment, no_exchange);
}

fmi3Instance fmi3InstantiateScheduledExecution(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
    fmi3Boolean loggingOn, fmi3InstanceEnvironment environment, fmi3LogMessageCallback *log,
    fmi3ClockUpdateCallback *clockUpdate, fmi3LockPreemptionCallback *lock,
    fmi3LockPreemptionCallback *unlock)
{
    return refuse_kind(log, environment, no_schedule);
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources,
                                         fmi3Boolean visible, fmi3Boolean loggingOn,
                                         fmi3Boolean eventModeUsed, fmi3Boolean earlyReturnAllowed,
                                         const fmi3ValueReference required[], size_t nRequired,
                                         fmi3InstanceEnvironment environment,
                                         fmi3LogMessageCallback *log,
                                         fmi3IntermediateUpdateCallback *update)
{
    if (eventModeUsed || nRequired > 0)
        return refuse_kind(log, environment,
                           "this FMU has no event mode and no intermediate variables; its "
                           "description says so");
    fmi3_component *c = BG_NEW(fmi3_component);
    if (!c)
        return NULL;
    c->log = log;
    c->environment = environment;
    if (resources)
        c->instance = bg_fmi_instance_create(name, token, resources, loggingOn,
                                             &(bg_fmi_host){tell, c, 3});
    else
        refuse_kind(log, environment, "the FMU needs the path of its resources");
    if (c->instance)
        return c;
    free(c);
    return NULL;
}

void fmi3FreeInstance(fmi3Instance instance)
{
    if (instance)
        bg_fmi_instance_destroy(((fmi3_component *)instance)->instance);
    free(instance);
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean toleranceDefined,
                                       fmi3Float64 tolerance, fmi3Float64 startTime,
                                       fmi3Boolean stopTimeDefined, fmi3Float64 stopTime)
{
    bg_fmi_instance *x = enter(instance, ENTER_INITIALIZATION);
    if (!x)
        return fmi3Error;
    const bg_fmi_status st = bg_fmi_instance_set_experiment(
        x, toleranceDefined ? &tolerance : NULL, startTime, stopTimeDefined ? &stopTime : NULL);
    return (fmi3Status)(st == BG_FMI_OK ? bg_fmi_instance_enter_initialisation(x) : st);
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance)
{
    bg_fmi_instance *x = enter(instance, EXIT_INITIALIZATION);
    return x ? (fmi3Status)bg_fmi_instance_exit_initialisation(x) : fmi3Error;
}

fmi3Status fmi3Terminate(fmi3Instance instance)
{
    bg_fmi_instance *x = enter(instance, TERMINATE);
    return x ? (fmi3Status)bg_fmi_instance_terminate(x) : fmi3Error;
}

fmi3Status fmi3Reset(fmi3Instance instance)
{
    bg_fmi_instance *x = enter(instance, RESET);
    return x ? (fmi3Status)bg_fmi_instance_reset(x) : fmi3Error;
}

static fmi3Status refuse_count(bg_fmi_instance *x, size_t n, size_t nValues)
{
    return (fmi3Status)bg_fmi_instance_tell(
        x, BG_FMI_ERROR,
        "%zu value references need as many values, not %zu: all "
        "variables of this FMU are scalars",
        n, nValues);
}

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                          fmi3Float64 values[], size_t nValues)
{
    bg_fmi_instance *x = enter(instance, GET);
    if (!x)
        return fmi3Error;
    return n == nValues ? (fmi3Status)bg_fmi_instance_get(x, vr, n, values)
                        : refuse_count(x, n, nValues);
}

fmi3Status fmi3GetFloat32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                          fmi3Float32 values[], size_t nValues)
{
    return have_none(instance, GET, n);
}

fmi3Status fmi3GetInt8(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                       fmi3Int8 values[], size_t nValues)
{
    return have_none(instance, GET, n);
}

fmi3Status fmi3GetUInt8(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                        fmi3UInt8 values[], size_t nValues)
{
    return have_none(instance, GET, n);
}

fmi3Status fmi3GetInt16(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                        fmi3Int16 values[], size_t nValues)
{
    return have_none(instance, GET, n);
}

fmi3Status fmi3GetUInt16(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                         fmi3UInt16 values[], size_t nValues)
{
    return have_none(instance, GET, n);
}

fmi3Status fmi3GetInt32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                        fmi3Int32 values[], size_t nValues)
{
    return have_none(instance, GET, n);
}

fmi3Status fmi3GetUInt32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                         fmi3UInt32 values[], size_t nValues)
{
    return have_none(instance, GET, n);
}

fmi3Status fmi3GetInt64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                        fmi3Int64 values[], size_t nValues)
{
    return have_none(instance, GET, n);
}

fmi3Status fmi3GetUInt64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                         fmi3UInt64 values[], size_t nValues)
{
    return have_none(instance, GET, n);
}

fmi3Status fmi3GetBoolean(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                          fmi3Boolean values[], size_t nValues)
{
    return have_none(instance, GET, n);
}

fmi3Status fmi3GetString(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                         fmi3String values[], size_t nValues)
{
    return have_none(instance, GET, n);
}

fmi3Status fmi3GetBinary(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                         size_t sizes[], fmi3Binary values[], size_t nValues)
{
    return have_none(instance, GET, n);
}

fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                        fmi3Clock values[])
{
    return have_none(instance, GET, n);
}

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                          const fmi3Float64 values[], size_t nValues)
{
    bg_fmi_instance *x = enter(instance, SET);
    if (!x)
        return fmi3Error;
    return n == nValues ? (fmi3Status)bg_fmi_instance_set(x, vr, n, values)
                        : refuse_count(x, n, nValues);
}

fmi3Status fmi3SetFloat32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                          const fmi3Float32 values[], size_t nValues)
{
    return have_none(instance, SET, n);
}

fmi3Status fmi3SetInt8(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                       const fmi3Int8 values[], size_t nValues)
{
    return have_none(instance, SET, n);
}

fmi3Status fmi3SetUInt8(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                        const fmi3UInt8 values[], size_t nValues)
{
    return have_none(instance, SET, n);
}

fmi3Status fmi3SetInt16(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                        const fmi3Int16 values[], size_t nValues)
{
    return have_none(instance, SET, n);
}

fmi3Status fmi3SetUInt16(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                         const fmi3UInt16 values[], size_t nValues)
{
    return have_none(instance, SET, n);
}

fmi3Status fmi3SetInt32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                        const fmi3Int32 values[], size_t nValues)
{
    return have_none(instance, SET, n);
}

fmi3Status fmi3SetUInt32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                         const fmi3UInt32 values[], size_t nValues)
{
    return have_none(instance, SET, n);
}

fmi3Status fmi3SetInt64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                        const fmi3Int64 values[], size_t nValues)
{
    return have_none(instance, SET, n);
}

fmi3Status fmi3SetUInt64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                         const fmi3UInt64 values[], size_t nValues)
{
    return have_none(instance, SET, n);
}

fmi3Status fmi3SetBoolean(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                          const fmi3Boolean values[], size_t nValues)
{
    return have_none(instance, SET, n);
}

fmi3Status fmi3SetString(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                         const fmi3String values[], size_t nValues)
{
    return have_none(instance, SET, n);
}

fmi3Status fmi3SetBinary(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                         const size_t sizes[], const fmi3Binary values[], size_t nValues)
{
    return have_none(instance, SET, n);
}

fmi3Status fmi3SetClock(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                        const fmi3Clock values[])
{
    return have_none(instance, SET, n);
}

/* Every output may depend on all inputs, as where the description says nothing. */
fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance instance, fmi3ValueReference vr,
                                               size_t *n)
{
    return refuse(instance, "fmi3GetNumberOfVariableDependencies", "dependencies are not declared");
}

fmi3Status fmi3GetVariableDependencies(fmi3Instance instance, fmi3ValueReference dependent,
                                       size_t elementsOfDependent[],
                                       fmi3ValueReference independents[],
                                       size_t elementsOfIndependents[], fmi3DependencyKind kinds[],
                                       size_t n)
{
    return refuse(instance, "fmi3GetVariableDependencies", "dependencies are not declared");
}

fmi3Status fmi3GetFMUState(fmi3Instance instance, fmi3FMUState *state)
{
    bg_fmi_instance *x = enter(instance, FMU_STATE);
    return x ? (fmi3Status)bg_fmi_instance_save(x, (bg_fmi_state **)state) : fmi3Error;
}

fmi3Status fmi3SetFMUState(fmi3Instance instance, fmi3FMUState state)
{
    bg_fmi_instance *x = enter(instance, FMU_STATE);
    return x ? (fmi3Status)bg_fmi_instance_restore(x, state) : fmi3Error;
}

fmi3Status fmi3FreeFMUState(fmi3Instance instance, fmi3FMUState *state)
{
    if (!enter(instance, FMU_STATE))
        return fmi3Error;
    bg_fmi_state_destroy(*state);
    *state = NULL;
    return fmi3OK;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance instance, fmi3FMUState state, size_t *size)
{
    bg_fmi_instance *x = enter(instance, FMU_STATE);
    if (x && state)
        *size = bg_fmi_state_get_size(state);
    return x && state ? fmi3OK : fmi3Error;
}

fmi3Status fmi3SerializeFMUState(fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[],
                                 size_t size)
{
    bg_fmi_instance *x = enter(instance, FMU_STATE);
    if (!x || !state)
        return fmi3Error;
    if (size < bg_fmi_state_get_size(state))
        return (fmi3Status)bg_fmi_instance_tell(x, BG_FMI_ERROR,
                                                "%zu bytes are too few for this state of %zu", size,
                                                bg_fmi_state_get_size(state));
    bg_fmi_state_serialise(x, state, bytes);
    return fmi3OK;
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance instance, const fmi3Byte bytes[], size_t size,
                                   fmi3FMUState *state)
{
    bg_fmi_instance *x = enter(instance, FMU_STATE);
    return x ? (fmi3Status)bg_fmi_instance_deserialise(x, bytes, size, (bg_fmi_state **)state)
             : fmi3Error;
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[],
                                        size_t nUnknowns, const fmi3ValueReference knowns[],
                                        size_t nKnowns, const fmi3Float64 seed[], size_t nSeed,
                                        fmi3Float64 sensitivity[], size_t nSensitivity)
{
    bg_fmi_instance *x = enter(instance, DERIVATIVE);
    if (!x)
        return fmi3Error;
    if (nSeed != nKnowns || nSensitivity != nUnknowns)
        return refuse_count(x, nKnowns + nUnknowns, nSeed + nSensitivity);
    return (fmi3Status)bg_fmi_instance_calc_sensitivity(x, unknowns, nUnknowns, knowns, nKnowns,
                                                        seed, sensitivity);
}

fmi3Status fmi3GetOutputDerivatives(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                                    const fmi3Int32 orders[], fmi3Float64 values[], size_t nValues)
{
    if (n > 0)
        return refuse(instance, "fmi3GetOutputDerivatives", "maxOutputDerivativeOrder is 0");
    return enter(instance, OUTPUT_DERIVATIVES) ? fmi3OK : fmi3Error;
}

/* Steps never end early: an event that ends the motion asks for the end of the simulation, and a
 * step that fails inside has changed the instance, which makes it an error. */
fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 currentCommunicationPoint,
                      fmi3Float64 communicationStepSize,
                      fmi3Boolean noSetFMUStatePriorToCurrentPoint,
                      fmi3Boolean *eventHandlingNeeded, fmi3Boolean *terminateSimulation,
                      fmi3Boolean *earlyReturn, fmi3Float64 *lastSuccessfulTime)
{
    bg_fmi_instance *x = enter(instance, DO_STEP);
    bg_fmi_step step;
    *eventHandlingNeeded = *terminateSimulation = *earlyReturn = false;
    if (!x) {
        *lastSuccessfulTime = currentCommunicationPoint;
        return fmi3Error;
    }
    const bg_fmi_status st = bg_fmi_instance_step(x, currentCommunicationPoint,
                                                  communicationStepSize, &step);
    *lastSuccessfulTime = step.t;
    *terminateSimulation = step.ended;
    return (fmi3Status)st;
}

fmi3Status fmi3EnterEventMode(fmi3Instance instance)
{
    return refuse(instance, "fmi3EnterEventMode", no_events);
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[],
                                    size_t nUnknowns, const fmi3ValueReference knowns[],
                                    size_t nKnowns, const fmi3Float64 seed[], size_t nSeed,
                                    fmi3Float64 sensitivity[], size_t nSensitivity)
{
    return refuse(instance, "fmi3GetAdjointDerivative", "providesAdjointDerivatives is false");
}

fmi3Status fmi3EnterConfigurationMode(fmi3Instance instance)
{
    return refuse(instance, "fmi3EnterConfigurationMode", "there are no structural parameters");
}

fmi3Status fmi3ExitConfigurationMode(fmi3Instance instance)
{
    return refuse(instance, "fmi3ExitConfigurationMode", "there are no structural parameters");
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                                  fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[])
{
    return refuse(instance, "fmi3GetIntervalDecimal", no_clocks);
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                                   fmi3UInt64 counters[], fmi3UInt64 resolutions[],
                                   fmi3IntervalQualifier qualifiers[])
{
    return refuse(instance, "fmi3GetIntervalFraction", no_clocks);
}

fmi3Status fmi3GetShiftDecimal(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                               fmi3Float64 shifts[])
{
    return refuse(instance, "fmi3GetShiftDecimal", no_clocks);
}

fmi3Status fmi3GetShiftFraction(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                                fmi3UInt64 counters[], fmi3UInt64 resolutions[])
{
    return refuse(instance, "fmi3GetShiftFraction", no_clocks);
}

fmi3Status fmi3SetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                                  const fmi3Float64 intervals[])
{
    return refuse(instance, "fmi3SetIntervalDecimal", no_clocks);
}

fmi3Status fmi3SetIntervalFraction(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                                   const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
{
    return refuse(instance, "fmi3SetIntervalFraction", no_clocks);
}

fmi3Status fmi3SetShiftDecimal(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                               const fmi3Float64 shifts[])
{
    return refuse(instance, "fmi3SetShiftDecimal", no_clocks);
}

fmi3Status fmi3SetShiftFraction(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                                const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
{
    return refuse(instance, "fmi3SetShiftFraction", no_clocks);
}

fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance instance)
{
    return refuse(instance, "fmi3EvaluateDiscreteStates", no_events);
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean *discreteStatesNeedUpdate,
                                    fmi3Boolean *terminateSimulation, fmi3Boolean *nominalsChanged,
                                    fmi3Boolean *valuesChanged, fmi3Boolean *nextEventTimeDefined,
                                    fmi3Float64 *nextEventTime)
{
    return refuse(instance, "fmi3UpdateDiscreteStates", no_events);
}

fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance instance)
{
    return refuse(instance, "fmi3EnterContinuousTimeMode", no_exchange);
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance instance,
                                       fmi3Boolean noSetFMUStatePriorToCurrentPoint,
                                       fmi3Boolean *enterEventMode,
                                       fmi3Boolean *terminateSimulation)
{
    return refuse(instance, "fmi3CompletedIntegratorStep", no_exchange);
}

fmi3Status fmi3SetTime(fmi3Instance instance, fmi3Float64 time)
{
    return refuse(instance, "fmi3SetTime", no_exchange);
}

fmi3Status fmi3SetContinuousStates(fmi3Instance instance, const fmi3Float64 x[], size_t n)
{
    return refuse(instance, "fmi3SetContinuousStates", no_exchange);
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance instance, fmi3Float64 derivatives[],
                                             size_t n)
{
    return refuse(instance, "fmi3GetContinuousStateDerivatives", no_exchange);
}

fmi3Status fmi3GetEventIndicators(fmi3Instance instance, fmi3Float64 indicators[], size_t n)
{
    return refuse(instance, "fmi3GetEventIndicators", no_exchange);
}

fmi3Status fmi3GetContinuousStates(fmi3Instance instance, fmi3Float64 x[], size_t n)
{
    return refuse(instance, "fmi3GetContinuousStates", no_exchange);
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance instance, fmi3Float64 nominals[],
                                             size_t n)
{
    return refuse(instance, "fmi3GetNominalsOfContinuousStates", no_exchange);
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance instance, size_t *n)
{
    return refuse(instance, "fmi3GetNumberOfEventIndicators", no_exchange);
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance instance, size_t *n)
{
    return refuse(instance, "fmi3GetNumberOfContinuousStates", no_exchange);
}

fmi3Status fmi3EnterStepMode(fmi3Instance instance)
{
    return refuse(instance, "fmi3EnterStepMode", no_events);
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clock,
                                      fmi3Float64 activationTime)
{
    return refuse(instance, "fmi3ActivateModelPartition", no_schedule);
}
