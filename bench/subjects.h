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

/* Fills both lists: asks the subjects that decide at run time.  Called first, once. */
void subjects_find(void);

/* Tests a subject: figures of an incorrect subject are worthless.  Ends the program if the test fails: check.c. */
void check_subject(const struct subject *subject);
/* Parts of check_subject(): for evicting pools; for one condition. */
void check_evicting(const struct subject *subject);
void must_be(bool right, const struct subject *subject, const char *why);

#ifdef __cplusplus
}
#endif

#endif
