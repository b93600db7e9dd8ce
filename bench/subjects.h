/* SPDX-License-Identifier: MIT */
/*
 * subjects.h - all subjects, and those that this build had to leave out.
 */
#ifndef LFPOOL_BENCH_SUBJECTS_H
#define LFPOOL_BENCH_SUBJECTS_H

#include "subject.h"

struct missing {
	const char *name, *why;
};

extern const struct subject *const subjects[];
extern const size_t subject_count;
extern const struct missing missing[];
extern const size_t missing_count;

/* As it is called in this process: the subject `malloc` takes the name of the allocator that was preloaded
 * (LFPOOL_BENCH_MALLOC). */
const char *subject_name(const struct subject *subject);

#endif
