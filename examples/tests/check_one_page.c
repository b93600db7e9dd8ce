/* SPDX-License-Identifier: MIT */
/*
 * check_one_page.c - promises of the job system on one page that its own program does not show: jobs without a record,
 * join, stealing, a full deque.
 *
 * Idea         The job system is compiled into this file.  Its releases go through noted_release(), so a test can ask
 *              whether a job has ended.
 */
#include "harness.h"
#include "require.h"
#include "sanitizers.h"

#include "lfpool/inline.h"

#include <stdatomic.h>

static lfpool_status_t noted_release(lfpool_cache_t *cache, void *record);

#define lfpool_cache_release(cache, record) noted_release(cache, record)
#define main main_of_one_page
int main(int argc, char **argv);
#include "one_page.c"
#undef main
#undef lfpool_cache_release

static _Atomic(void *) last_released;
static atomic_int releases;

/* The parent still counts the job, so it cannot end before the record is released.  A root also counts itself. */
static lfpool_status_t noted_release(lfpool_cache_t *cache, void *record)
{
	struct job *above = ((struct job *)record)->parent;

	REQUIRE(atomic_load(&above->unfinished) > (above->run ? 0 : 1));
	atomic_store(&last_released, record);
	atomic_fetch_add(&releases, 1);
	return lfpool_cache_release(cache, record);
}

/* After a run with few records: makes every worker ask for a record again. */
static void ask_for_records(void)
{
	for (int i = 0; i < WORKERS_MAX; i++)
		workers[i].at_once = 0;
}

static atomic_int jobs_ran;
static atomic_bool flag;

static void raise_flag(struct worker *worker, int64_t first, int64_t last)
{
	(void)worker;
	(void)first;
	(void)last;
	atomic_fetch_add(&jobs_ran, 1);
	atomic_store(&flag, true);
}

/* ---- A job without a record is a part of its spawner -------------------------------------------------------- */

/* Two records, one worker.  The parent has one, the first child the other, so the second child has none.  The second
 * child waits until the first has ended, and then spawns jobs.  Seven of them run at once, because the worker does not
 * ask for a record; the next one gets the first child's record. */
static struct job *the_parent;
static enum one { NONE, FIRST, SECOND, PARENT, GRANDCHILD } last_ran;

static void ran(enum one before, enum one now)
{
	REQUIRE(last_ran == before);
	last_ran = now;
}

static void first_child(struct worker *worker, int64_t first, int64_t last)
{
	(void)first;
	(void)last;
	REQUIRE(worker->running->parent == the_parent);
	ran(NONE, FIRST);
}

static void grandchild(struct worker *worker, int64_t first, int64_t last)
{
	(void)first;
	(void)last;
	REQUIRE(worker->running->parent == the_parent);
	/* The parent's function has returned, but only the first child was released: the parent has not ended. */
	REQUIRE(atomic_load(&releases) == 1 && atomic_load(&last_released) != the_parent);
	ran(PARENT, GRANDCHILD);
}

static void second_child(struct worker *worker, int64_t first, int64_t last)
{
	(void)first;
	(void)last;
	REQUIRE(worker->running == the_parent);
	join(worker);
	ran(FIRST, SECOND);
	atomic_store(&jobs_ran, 0);
	for (int i = 1; i <= 7; i++) {
		spawn(worker, raise_flag, 0, 0);
		REQUIRE(atomic_load(&jobs_ran) == i && atomic_load(&releases) == 1);
	}
	spawn(worker, grandchild, 0, 0);
}

static void parent(struct worker *worker, int64_t first, int64_t last)
{
	(void)first;
	(void)last;
	the_parent = worker->running;
	spawn(worker, first_child, 0, 0);
	spawn(worker, second_child, 0, 0);
	ran(SECOND, PARENT);
}

static void a_job_without_a_record_is_part_of_its_spawner(void)
{
	atomic_store(&releases, 0);
	REQUIRE(run(1, 2, parent, 0, 0) == 0);
	ran(GRANDCHILD, NONE);
	REQUIRE(atomic_load(&releases) == 3 && atomic_load(&last_released) == the_parent);
}

/* ---- join() returns after all children ---------------------------------------------------------------------- */

static uint64_t seed;

/* `last` has the address of its spawner's count of children that have ended, with everything below them. */
static void joining(struct worker *worker, int64_t depth, int64_t last)
{
	struct random random = random_for(seed + (uint64_t)atomic_fetch_add(&jobs_ran, 1), (unsigned)depth);
	const int children = depth > 0 ? (int)random_below(&random, 5) : 0;
	atomic_int ended = 0;

	for (int i = 0; i < children; i++)
		spawn(worker, joining, depth - 1, (int64_t)(intptr_t)&ended);
	join(worker);
	REQUIRE(atomic_load(&ended) == children);
	atomic_fetch_add((atomic_int *)(intptr_t)last, 1);
}

static void join_returns_after_all_children(int count, size_t records)
{
	atomic_int ended = 0;

	REQUIRE(run(count, records, joining, 7, (int64_t)(intptr_t)&ended) == 0);
	REQUIRE(atomic_load(&ended) == 1);
}

/* ---- A job that waits for a thief --------------------------------------------------------------------------- */

/* While it waits, its worker runs no other job.  Without a thief it does not return: the test's time limit ends it. */
static void needs_a_thief(struct worker *worker, int64_t first, int64_t last)
{
	(void)first;
	(void)last;
	spawn(worker, raise_flag, 0, 0);
	while (!atomic_load(&flag))
		sched_yield();
}

static void jobs_are_stolen(void)
{
	atomic_store(&flag, false);
	ask_for_records();
	REQUIRE(run(2, 2, needs_a_thief, 0, 0) == 0);
}

/* ---- Each job runs once ------------------------------------------------------------------------------------- */

/* The deque has one job at a time, for which its owner and the thieves compete. */
static void one_by_one(struct worker *worker, int64_t count, int64_t last)
{
	(void)last;
	for (int64_t i = 0; i < count; i++) {
		atomic_store(&jobs_ran, 0);
		atomic_store(&flag, false);
		spawn(worker, raise_flag, 0, 0);
		join(worker);
		REQUIRE(atomic_load(&flag) && atomic_load(&jobs_ran) == 1);
	}
}

/* ---- A full deque ------------------------------------------------------------------------------------------- */

static void many_children(struct worker *worker, int64_t depth, int64_t count)
{
	worker->found++;
	for (int64_t i = 0; depth > 0 && i < count; i++)
		spawn(worker, many_children, depth - 1, 0);
}

static void a_full_deque_is_like_no_record(void)
{
	atomic_store(&releases, 0);
	workers[0].found = 0;
	ask_for_records();
	REQUIRE(run(1, 4 * DEQUE_JOBS, many_children, 1, 3 * DEQUE_JOBS) == 0);
	REQUIRE(workers[0].found == 1 + 3 * DEQUE_JOBS && atomic_load(&releases) == 1 + DEQUE_JOBS);
}

int main(void)
{
	static const int counts[] = {1, 2, 8};
	static const size_t records[] = {1, 2, 3, 30, 4096};

	seed = test_seed("check_one_page");
	a_job_without_a_record_is_part_of_its_spawner();
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		for (size_t j = 0; j < sizeof(records) / sizeof(*records); j++)
			for (int round = 0; round < (UNDER_TSAN ? 3 : 20); round++)
				join_returns_after_all_children(counts[i], records[j]);
	for (int round = 0; round < (UNDER_TSAN ? 30 : 300); round++)
		jobs_are_stolen();
	REQUIRE(run(2, 2, one_by_one, UNDER_TSAN ? 3000 : 100000, 0) == 0);
	REQUIRE(run(4, 4, one_by_one, UNDER_TSAN ? 3000 : 30000, 0) == 0);
	a_full_deque_is_like_no_record();
	return 0;
}
