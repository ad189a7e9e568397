/* The functions of FMI 3.0, declared after the text of the standard (www.fmi-standard.org): what
 * the object of an FMU exports, and nothing else. */
#ifndef BG_FMI3_H
#define BG_FMI3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void *fmi3Instance, *fmi3InstanceEnvironment, *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8, fmi3Byte;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean, fmi3Clock;
typedef char fmi3Char;
typedef const fmi3Char *fmi3String;
typedef const fmi3Byte *fmi3Binary;

typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum {
    fmi3Independent,
    fmi3Constant,
    fmi3Fixed,
    fmi3Tunable,
    fmi3Discrete,
    fmi3Dependent
} fmi3DependencyKind;
typedef enum {
    fmi3IntervalNotYetKnown,
    fmi3IntervalUnchanged,
    fmi3IntervalChanged
} fmi3IntervalQualifier;

typedef void fmi3LogMessageCallback(fmi3InstanceEnvironment environment, fmi3Status status,
                                    fmi3String category, fmi3String message);
typedef void fmi3ClockUpdateCallback(fmi3InstanceEnvironment environment);
typedef void fmi3IntermediateUpdateCallback(fmi3InstanceEnvironment environment, fmi3Float64 time,
                                            fmi3Boolean setRequested, fmi3Boolean getAllowed,
                                            fmi3Boolean stepFinished, fmi3Boolean canReturnEarly,
                                            fmi3Boolean *earlyReturnRequested,
                                            fmi3Float64 *earlyReturnTime);
typedef void fmi3LockPreemptionCallback(void);

#pragma GCC visibility push(default)

const char *fmi3GetVersion(void);
fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean loggingOn, size_t n,
                               const fmi3String categories[]);
fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources,
                                          fmi3Boolean visible, fmi3Boolean loggingOn,
                                          fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback *log);
fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources,
                                         fmi3Boolean visible, fmi3Boolean loggingOn,
                                         fmi3Boolean eventModeUsed, fmi3Boolean earlyReturnAllowed,
                                         const fmi3ValueReference required[], size_t nRequired,
                                         fmi3InstanceEnvironment environment,
                                         fmi3LogMessageCallback *log,
                                         fmi3IntermediateUpdateCallback *update);
fmi3Instance fmi3InstantiateScheduledExecution(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
    fmi3Boolean loggingOn, fmi3InstanceEnvironment environment, fmi3LogMessageCallback *log,
    fmi3ClockUpdateCallback *clockUpdate, fmi3LockPreemptionCallback *lock,
    fmi3LockPreemptionCallback *unlock);
void fmi3FreeInstance(fmi3Instance instance);
fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean toleranceDefined,
                                       fmi3Float64 tolerance, fmi3Float64 startTime,
                                       fmi3Boolean stopTimeDefined, fmi3Float64 stopTime);
fmi3Status fmi3ExitInitializationMode(fmi3Instance instance);
fmi3Status fmi3EnterEventMode(fmi3Instance instance);
fmi3Status fmi3Terminate(fmi3Instance instance);
fmi3Status fmi3Reset(fmi3Instance instance);
fmi3Status fmi3GetFloat32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                          fmi3Float32 values[], size_t nValues);
fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                          fmi3Float64 values[], size_t nValues);
fmi3Status fmi3GetInt8(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                       fmi3Int8 values[], size_t nValues);
fmi3Status fmi3GetUInt8(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                        fmi3UInt8 values[], size_t nValues);
fmi3Status fmi3GetInt16(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                        fmi3Int16 values[], size_t nValues);
fmi3Status fmi3GetUInt16(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                         fmi3UInt16 values[], size_t nValues);
fmi3Status fmi3GetInt32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                        fmi3Int32 values[], size_t nValues);
fmi3Status fmi3GetUInt32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                         fmi3UInt32 values[], size_t nValues);
fmi3Status fmi3GetInt64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                        fmi3Int64 values[], size_t nValues);
fmi3Status fmi3GetUInt64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                         fmi3UInt64 values[], size_t nValues);
fmi3Status fmi3GetBoolean(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                          fmi3Boolean values[], size_t nValues);
fmi3Status fmi3GetString(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                         fmi3String values[], size_t nValues);
fmi3Status fmi3GetBinary(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                         size_t sizes[], fmi3Binary values[], size_t nValues);
fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                        fmi3Clock values[]);
fmi3Status fmi3SetFloat32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                          const fmi3Float32 values[], size_t nValues);
fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                          const fmi3Float64 values[], size_t nValues);
fmi3Status fmi3SetInt8(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                       const fmi3Int8 values[], size_t nValues);
fmi3Status fmi3SetUInt8(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                        const fmi3UInt8 values[], size_t nValues);
fmi3Status fmi3SetInt16(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                        const fmi3Int16 values[], size_t nValues);
fmi3Status fmi3SetUInt16(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                         const fmi3UInt16 values[], size_t nValues);
fmi3Status fmi3SetInt32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                        const fmi3Int32 values[], size_t nValues);
fmi3Status fmi3SetUInt32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                         const fmi3UInt32 values[], size_t nValues);
fmi3Status fmi3SetInt64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                        const fmi3Int64 values[], size_t nValues);
fmi3Status fmi3SetUInt64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                         const fmi3UInt64 values[], size_t nValues);
fmi3Status fmi3SetBoolean(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                          const fmi3Boolean values[], size_t nValues);
fmi3Status fmi3SetString(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                         const fmi3String values[], size_t nValues);
fmi3Status fmi3SetBinary(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                         const size_t sizes[], const fmi3Binary values[], size_t nValues);
fmi3Status fmi3SetClock(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                        const fmi3Clock values[]);
fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance instance, fmi3ValueReference vr,
                                               size_t *n);
fmi3Status fmi3GetVariableDependencies(fmi3Instance instance, fmi3ValueReference dependent,
                                       size_t elementsOfDependent[],
                                       fmi3ValueReference independents[],
                                       size_t elementsOfIndependents[], fmi3DependencyKind kinds[],
                                       size_t n);
fmi3Status fmi3GetFMUState(fmi3Instance instance, fmi3FMUState *state);
fmi3Status fmi3SetFMUState(fmi3Instance instance, fmi3FMUState state);
fmi3Status fmi3FreeFMUState(fmi3Instance instance, fmi3FMUState *state);
fmi3Status fmi3SerializedFMUStateSize(fmi3Instance instance, fmi3FMUState state, size_t *size);
fmi3Status fmi3SerializeFMUState(fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[],
                                 size_t size);
fmi3Status fmi3DeserializeFMUState(fmi3Instance instance, const fmi3Byte bytes[], size_t size,
                                   fmi3FMUState *state);
fmi3Status fmi3GetDirectionalDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[],
                                        size_t nUnknowns, const fmi3ValueReference knowns[],
                                        size_t nKnowns, const fmi3Float64 seed[], size_t nSeed,
                                        fmi3Float64 sensitivity[], size_t nSensitivity);
fmi3Status fmi3GetAdjointDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[],
                                    size_t nUnknowns, const fmi3ValueReference knowns[],
                                    size_t nKnowns, const fmi3Float64 seed[], size_t nSeed,
                                    fmi3Float64 sensitivity[], size_t nSensitivity);
fmi3Status fmi3EnterConfigurationMode(fmi3Instance instance);
fmi3Status fmi3ExitConfigurationMode(fmi3Instance instance);
fmi3Status fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                                  fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[]);
fmi3Status fmi3GetIntervalFraction(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                                   fmi3UInt64 counters[], fmi3UInt64 resolutions[],
                                   fmi3IntervalQualifier qualifiers[]);
fmi3Status fmi3GetShiftDecimal(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                               fmi3Float64 shifts[]);
fmi3Status fmi3GetShiftFraction(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                                fmi3UInt64 counters[], fmi3UInt64 resolutions[]);
fmi3Status fmi3SetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                                  const fmi3Float64 intervals[]);
fmi3Status fmi3SetIntervalFraction(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                                   const fmi3UInt64 counters[], const fmi3UInt64 resolutions[]);
fmi3Status fmi3SetShiftDecimal(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                               const fmi3Float64 shifts[]);
fmi3Status fmi3SetShiftFraction(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                                const fmi3UInt64 counters[], const fmi3UInt64 resolutions[]);
fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance instance);
fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean *discreteStatesNeedUpdate,
                                    fmi3Boolean *terminateSimulation, fmi3Boolean *nominalsChanged,
                                    fmi3Boolean *valuesChanged, fmi3Boolean *nextEventTimeDefined,
                                    fmi3Float64 *nextEventTime);
fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance instance);
fmi3Status fmi3CompletedIntegratorStep(fmi3Instance instance,
                                       fmi3Boolean noSetFMUStatePriorToCurrentPoint,
                                       fmi3Boolean *enterEventMode,
                                       fmi3Boolean *terminateSimulation);
fmi3Status fmi3SetTime(fmi3Instance instance, fmi3Float64 time);
fmi3Status fmi3SetContinuousStates(fmi3Instance instance, const fmi3Float64 x[], size_t n);
fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance instance, fmi3Float64 derivatives[],
                                             size_t n);
fmi3Status fmi3GetEventIndicators(fmi3Instance instance, fmi3Float64 indicators[], size_t n);
fmi3Status fmi3GetContinuousStates(fmi3Instance instance, fmi3Float64 x[], size_t n);
fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance instance, fmi3Float64 nominals[],
                                             size_t n);
fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance instance, size_t *n);
fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance instance, size_t *n);
fmi3Status fmi3EnterStepMode(fmi3Instance instance);
fmi3Status fmi3GetOutputDerivatives(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                                    const fmi3Int32 orders[], fmi3Float64 values[], size_t nValues);
fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 currentCommunicationPoint,
                      fmi3Float64 communicationStepSize,
                      fmi3Boolean noSetFMUStatePriorToCurrentPoint,
                      fmi3Boolean *eventHandlingNeeded, fmi3Boolean *terminateSimulation,
                      fmi3Boolean *earlyReturn, fmi3Float64 *lastSuccessfulTime);
fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clock,
                                      fmi3Float64 activationTime);

#pragma GCC visibility pop

#endif
