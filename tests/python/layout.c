/* Prints sizes and places of the fields of structures that Python mirrors, one a line. */
#include "bogie/bogie.h"

#include <stdio.h>

#define SIZE(type) printf("%s %zu\n", #type, sizeof(type))
#define PLACE(type, field) printf("%s.%s %zu\n", #type, #field, offsetof(type, field))

int main(void)
{
    SIZE(bg_error);
    SIZE(bg_setting);
    SIZE(bg_problem_def);
    PLACE(bg_problem_def, system);
    PLACE(bg_problem_def, integrator);
    PLACE(bg_problem_def, t_start);
    PLACE(bg_problem_def, output_interval);
    PLACE(bg_problem_def, equilibrium);
    SIZE(bg_realtime_options);
    PLACE(bg_realtime_options, inputs);
    PLACE(bg_realtime_options, hold);
    PLACE(bg_realtime_options, noutputs);
    SIZE(bg_analysis_options);
    PLACE(bg_analysis_options, stop);
    SIZE(bg_study_options);
    PLACE(bg_study_options, journal);
    PLACE(bg_study_options, time_limit);
    PLACE(bg_study_options, progress);
    SIZE(bg_result_info);
    PLACE(bg_result_info, summary);
    PLACE(bg_result_info, steps);
    SIZE(bg_point);
    PLACE(bg_point, z);
    PLACE(bg_point, part);
    SIZE(bg_terms);
    PLACE(bg_terms, gamma);
    SIZE(bg_system_def);
    PLACE(bg_system_def, nmode);
    PLACE(bg_system_def, supplied);
    PLACE(bg_system_def, terms);
    PLACE(bg_system_def, scleronomic);
    PLACE(bg_system_def, residual);
    PLACE(bg_system_def, derivative_supplied);
    PLACE(bg_system_def, derivative_cost);
    PLACE(bg_system_def, outputs);
    PLACE(bg_system_def, pattern);
    PLACE(bg_system_def, marks);
    PLACE(bg_system_def, v_size);
    PLACE(bg_system_def, q_names);
    PLACE(bg_system_def, y_names);
    PLACE(bg_system_def, y_units);
    PLACE(bg_system_def, nfilters);
    PLACE(bg_system_def, u_followed);
    PLACE(bg_system_def, q0);
    PLACE(bg_system_def, mode0);
    PLACE(bg_system_def, t_end);
    PLACE(bg_system_def, starts);
    PLACE(bg_integrator_info, name);
    PLACE(bg_integrator_info, summary);
    return 0;
}
