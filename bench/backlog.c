/* SPDX-License-Identifier: MIT */
/*
 * backlog.c - the workloads "backlog-...": the most objects deferred and not yet free, and the memory they take.
 *
 * Idea         For a second two threads update as in `retire`, together `rate` times: a piece each millisecond, with
 *              sleep in between; without a rate, as often as they can.  After each piece they read the number of
 *              objects in flight.  In backlog-bounded, and when a subject is checked, a third thread stays inside one
 *              section for the first half second.  In backlog-bounded the pool has BOUNDED_CAPACITY more objects than
 *              the table, and a thread that finds no free object waits.
 * Invariants   T1  an object found in a section does not change until the section ends.
 *              T2  every object deferred during the section is in flight; when all has settled, none is.
 * The figures   most_objects          the most objects in flight
 *               most_objects_early    the same, in the first half second: a growing backlog has twice as many later
 *               most_resident_bytes   the greatest growth of resident memory since the table was filled
 *               updates_per_second    completed updates
 *               waits                 waits for a free object, per update
 */
#include "team.h"

#include "common/resident.h"

#include <errno.h>
#include <string.h>

#define UPDATERS 2
#define BOUNDED_CAPACITY 16384
#define LASTS_NS UINT64_C(1000000000)
#define TICK_NS UINT64_C(1000000)
#define TICKS_PER_SECOND 1000
/* Without a rate: updates between two reads of the count; not a multiple of the updates between two polls. */
#define UNLIMITED_PIECE 509

struct updater {
	_Alignas(128) struct worker worker;
	struct scene *scene;
	size_t most[2]; /* in the first and in the second half second */
};

struct scene {
	const struct workload *workload;
	const struct subject *subject;
	const struct retiring_calls *calls;
	void *shared;
	void *table[RETIRE_TABLE]; /* atomic */
	pthread_barrier_t turn;
	struct updater updaters[UPDATERS];
	double resident_bytes, updates_per_second;
};

static void turn(struct scene *scene)
{
	(void)pthread_barrier_wait(&scene->turn);
}

static size_t deferred_by_all(const struct scene *scene)
{
	size_t deferred = 0;

	for (int i = 0; i < UPDATERS; i++)
		/* relaxed: see count_updates(). */
		deferred += __atomic_load_n(&scene->updaters[i].worker.updates, __ATOMIC_RELAXED);
	return deferred;
}

static size_t in_flight(const struct scene *scene)
{
	return scene->calls->in_flight(scene->shared, deferred_by_all(scene));
}

static void sleep_until(uint64_t ns)
{
	const struct timespec t = {.tv_sec = (time_t)(ns / UINT64_C(1000000000)),
				   .tv_nsec = (long)(ns % UINT64_C(1000000000))};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

/* Updates for LASTS_NS. A thread that is late for a tick does not sleep before the next one. */
static void update(struct updater *updater)
{
	const struct scene *scene = updater->scene;
	const size_t rate = scene->workload->rate;
	const size_t piece = rate ? rate / TICKS_PER_SECOND / UPDATERS : UNLIMITED_PIECE;
	const uint64_t start_ns = now_ns();
	uint64_t now = start_ns;

	for (uint64_t tick_ns = start_ns + TICK_NS; now - start_ns < LASTS_NS; now = now_ns(), tick_ns += TICK_NS) {
		(void)scene->subject->loops.retire(&updater->worker, piece);

		const size_t count = in_flight(scene);
		size_t *most = &updater->most[now - start_ns >= LASTS_NS / 2];

		*most = count > *most ? count : *most;
		if (rate)
			sleep_until(tick_ns);
	}
}

static void *play(void *argument)
{
	struct updater *updater = argument;
	struct scene *scene = updater->scene;
	struct worker *worker = &updater->worker;
	const struct loops *loops = &scene->subject->loops;
	const bool first = worker->index == 0;
	double resident = 0;
	size_t before = 0;
	uint64_t start_ns = 0;

	worker->hand = scene->subject->join(scene->shared);
	if (first)
		(void)loops->fill(worker, RETIRE_TABLE);
	/* A few updates, so that the called code is in RAM; all objects are free again. */
	turn(scene);
	(void)loops->retire(worker, RETIRE_TABLE);
	turn(scene);
	scene->calls->settle(worker->hand, first);
	turn(scene);
	if (first) {
		resident = resident_bytes();
		before = deferred_by_all(scene);
		start_ns = now_ns();
	}
	turn(scene);
	update(updater);
	turn(scene);
	if (first) {
		scene->updates_per_second = (double)(deferred_by_all(scene) - before) * 1e9 /
					    (double)(now_ns() - start_ns);
		scene->resident_bytes = resident_peak_bytes() - resident;
		(void)loops->drain(worker, RETIRE_TABLE);
	}
	scene->calls->settle(worker->hand, first);
	turn(scene);
	scene->subject->leave(worker->hand);
	return NULL;
}

/* The third thread: reads all nodes, sleeps in the section, and checks them.  In step with the updaters. */
static void *stall(void *argument)
{
	struct scene *scene = argument;
	const struct node *found[RETIRE_TABLE];
	uint64_t stamps[RETIRE_TABLE];
	void *hand = scene->subject->join(scene->shared);

	turn(scene); /* the table is full */
	turn(scene); /* the first updates are done */
	turn(scene); /* all objects are free */
	scene->calls->section_begin(hand);
	for (size_t i = 0; i < RETIRE_TABLE; i++) {
		found[i] = __atomic_load_n(&scene->table[i], __ATOMIC_ACQUIRE);
		stamps[i] = __atomic_load_n(&found[i]->stamp, __ATOMIC_RELAXED);
	}

	const size_t before = deferred_by_all(scene);

	turn(scene); /* the updaters begin */
	sleep_until(now_ns() + LASTS_NS / 2);

	const size_t deferred = deferred_by_all(scene) - before;

	for (size_t i = 0; i < RETIRE_TABLE; i++)
		if (!node_is_whole(found[i]) || __atomic_load_n(&found[i]->stamp, __ATOMIC_RELAXED) != stamps[i])
			give_up(scene->subject->name, "a node was used again while a thread read it"); /* T1 */
	if (in_flight(scene) < deferred)
		give_up(scene->subject->name, "not all deferred nodes are in flight, though a thread reads"); /* T2 */
	scene->calls->section_end(hand);
	turn(scene); /* the updaters have ended */
	scene->calls->settle(hand, false);
	turn(scene);
	scene->subject->leave(hand);
	return NULL;
}

static void updater_make(struct scene *scene, unsigned index)
{
	scene->updaters[index].scene = scene;
	scene->updaters[index].worker = (struct worker){
		.subject = scene->subject,
		.shared = scene->shared,
		.index = index,
		.threads = UPDATERS,
		.random = random_for(UINT64_C(0x5eed), index),
		.table = scene->table,
		.stamp = (uint64_t)index << 48,
	};
}

static void report(const struct scene *scene)
{
	size_t most[2] = {0, 0}, waits = 0;

	for (int i = 0; i < UPDATERS; i++) {
		for (int half = 0; half < 2; half++)
			if (scene->updaters[i].most[half] > most[half])
				most[half] = scene->updaters[i].most[half];
		waits += scene->updaters[i].worker.waits;
	}
	say_figure("most_objects", (double)(most[0] > most[1] ? most[0] : most[1]));
	say_figure("most_objects_early", (double)most[0]);
	say_figure("most_resident_bytes", scene->resident_bytes);
	say_figure("updates_per_second", scene->updates_per_second);
	say_figure("waits", (double)waits / (double)deferred_by_all(scene));
}

void backlog_run(const struct cell *cell)
{
	struct scene *scene = must(aligned_alloc(_Alignof(struct scene), sizeof(*scene)));
	const bool stalls = cell->workload->stalls;
	struct plan plan = workload_plan(cell->workload, cell->object_bytes, UPDATERS);
	pthread_t threads[UPDATERS], reader;

	if (cell->workload->needs & TRAIT_BOUNDED)
		plan.capacity = RETIRE_TABLE + BOUNDED_CAPACITY;
	memset(scene, 0, sizeof(*scene));
	scene->workload = cell->workload;
	scene->subject = cell->subject;
	scene->calls = cell->subject->loops.retiring;
	scene->shared = cell->subject->open(&plan);
	(void)pthread_barrier_init(&scene->turn, NULL, UPDATERS + stalls);
	for (unsigned i = 0; i < UPDATERS; i++)
		updater_make(scene, i);
	for (unsigned i = 0; i < UPDATERS; i++)
		thread_start(&threads[i], play, &scene->updaters[i]);
	if (stalls)
		thread_start(&reader, stall, scene);
	for (unsigned i = 0; i < UPDATERS; i++)
		(void)pthread_join(threads[i], NULL);
	if (stalls)
		(void)pthread_join(reader, NULL);
	report(scene);
	if (in_flight(scene) != 0)
		give_up(scene->subject->name, "after waiting for all deferred nodes some are not free"); /* T2 */
	scene->subject->close(scene->shared);
	(void)pthread_barrier_destroy(&scene->turn);
	free(scene);
}
