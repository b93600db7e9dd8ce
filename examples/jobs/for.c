/* SPDX-License-Identifier: MIT */
/*
 * for.c - parallel for, see jobs.h.
 *
 * Idea         Lazy binary splitting (Tzannes, Caragea, Barua and Vishkin 2010).  A worker with a range looks at its own
 *              deque.  If it is empty, thieves would find nothing: the upper half of the range becomes a job for them.  If
 *              it is not, no worker is idle, or what lies there will do: it does one grain and looks again.  So a range is
 *              cut as often as a worker takes a piece, whatever the grain: with one worker a few times, with uneven work
 *              where the work is.
 * Cost         A look at the deque for each grain.
 */
#include "job.h"

/* A piece of it, for the worker that takes it. */
struct range {
	jobs_for_body *body;
	void *context;
	size_t begin, end, grain;
};

static void range_run(struct jobs_worker *worker, const void *payload)
{
	struct range range = *(const struct range *)payload;

	while (range.end - range.begin > range.grain) {
		if (deque_looks_empty(&worker->deque)) {
			struct range upper = range;

			range.end = upper.begin = range.begin + (range.end - range.begin) / 2;
			jobs_submit(worker, range_run, &upper, sizeof(upper));
		} else {
			range.body(worker, range.begin, range.begin + range.grain, range.context);
			range.begin += range.grain;
		}
	}
	range.body(worker, range.begin, range.end, range.context);
}

void jobs_for(struct jobs_worker *worker, size_t begin, size_t end, size_t grain, jobs_for_body *body, void *context)
{
	struct jobs_group group = JOBS_GROUP_INIT;
	struct range range = {body, context, begin, end, grain ? grain : 1};

	if (begin >= end)
		return;
	run_in_group(worker, &group, range_run, &range);
	jobs_wait(worker, &group);
}
