/* The fast part of a problem whose method says partition=auto. */
#ifndef BG_CHOOSE_FAST_H
#define BG_CHOOSE_FAST_H

#include "design/split.h"
#include "run/problem.h"

/* Whether the method of a problem is of two rates, and is to choose its fast part. */
bool bg_problem_chooses_fast(const bg_problem *problem);
/* Takes away what the file of its model marks as fast. */
void bg_problem_clear_fast(bg_problem *problem);
/* Makes the problem's system, which has no parts yet or those of its equations, one with parts
 * chosen at its start, and says in its warnings what they are and why. A start that is not found
 * leaves everything as it is: the run will tell. */
bg_status bg_problem_choose_fast(bg_problem *problem, bg_error *err);

/* The bodies that move with some velocities, [nv] non-zero, into bodies [nbodies]. */
bg_status bg_problem_find_bodies(const bg_problem *problem, bg_evaluator *ev, const bg_state *x,
                                 const unsigned char *v_part, unsigned char *bodies, bg_error *err);
/* "ring1, ring2": bodies, or velocities of equations, that are fast, as far as there is room. */
void bg_problem_name_fast(const bg_problem *problem, const unsigned char *v_part,
                          const unsigned char *bodies, char *text, size_t size);

#endif
