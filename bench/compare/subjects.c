/* SPDX-License-Identifier: MIT */
/*
 * subjects.c - the list of subjects, and how a benchmark ends that cannot go on.
 */
#include "subject.h"

#include <stdio.h>
#include <stdlib.h>

const struct subject *const subjects[SUBJECTS] = {
	&subject_limit,   &subject_ring,  &subject_inlined, &subject_untracked,
	&subject_library, &subject_mutex, &subject_malloc,
};

void *must(void *pointer)
{
	if (!pointer) {
		fprintf(stderr, "lfpool-compare: no memory\n");
		exit(3);
	}
	return pointer;
}

_Noreturn void out_of_objects(void)
{
	fprintf(stderr, "lfpool-compare: an acquire failed although there were objects for all\n");
	exit(3);
}
