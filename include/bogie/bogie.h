/* Bogie: simulation of constrained mechanical systems. This header includes all of them. */
#ifndef BOGIE_H
#define BOGIE_H

#include "bogie/analysis.h"
#include "bogie/check.h"
#include "bogie/integrator.h"
#include "bogie/job.h"
#include "bogie/model.h"
#include "bogie/problem.h"
#include "bogie/realtime.h"
#include "bogie/report.h"
#include "bogie/result.h"
#include "bogie/run.h"
#include "bogie/status.h"
#include "bogie/study.h"
#include "bogie/system.h"
#include "bogie/version.h"
#include "bogie/warning.h"

#endif
