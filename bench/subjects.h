/* SPDX-License-Identifier: MIT */
/*
 * subjects.h - all subjects, and those that cannot be measured here.
 */
#ifndef LFPOOL_BENCH_SUBJECTS_H
#define LFPOOL_BENCH_SUBJECTS_H

#include "subject.h"

#ifdef __cplusplus
extern "C" {
#endif

struct missing {
	const char *name, *why;
};

extern const struct subject *subjects[];
extern size_t subject_count;
extern struct missing missing[];
extern size_t missing_count;

/* Fills both: asks those that only say when they are asked.  First of all, once. */
void subjects_find(void);

/* Does a subject do what it must?  What is measured of one that does not is worth nothing.  Ends the program if not:
 * check.c. */
void check_subject(const struct subject *subject);
/* Its parts: pools that evict; one condition. */
void check_evicting(const struct subject *subject);
void must_be(bool right, const struct subject *subject, const char *why);

#ifdef __cplusplus
}
#endif

#endif
