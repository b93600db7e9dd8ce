/* SPDX-License-Identifier: MIT */
/*
 * backlog.c - see backlog.h.
 */
#include "backlog.h"

#include "../barrier.h"
#include "../elsewhere.h"
#include "../subjects.h"
#include "common/resident.h"
#include "retiring.h"

#include <errno.h>
#include <string.h>

#define UPDATERS 2
#define LASTS_NS UINT64_C(1000000000)
#define TICK_NS UINT64_C(1000000)
#define TICKS_PER_SECOND 1000
/* Updates between two looks, when there is no limit; not a multiple of those between two polls. */
#define UNLIMITED_PIECE 509

const struct backlog backlogs[BACKLOG_COUNT] = {
	{.name = "backlog-10000", .what = "10,000 updates a second: what is in flight at most", .rate = 10000},
	{.name = "backlog-100000", .what = "100,000 updates a second: what is in flight at most", .rate = 100000},
	{.name = "backlog-1000000", .what = "1,000,000 updates a second: what is in flight at most", .rate = 1000000},
	{.name = "backlog-unlimited", .what = "updates as fast as they go: what is in flight at most", .rate = 0},
	{.name = "backlog-stalled",
	 .what = "1,000,000 updates a second, and for half a second a thread is inside one section",
	 .rate = 1000000,
	 .stalls = true},
	{.name = "backlog-bounded",
	 .what = "the same in a pool of 16,384 objects: a thread that finds none waits",
	 .rate = 1000000,
	 .stalls = true,
	 .bounded = true},
};

enum figure { MOST, MOST_EARLY, RESIDENT, RATE, WAITS, FIGURES };

struct updater {
	_Alignas(128) struct worker worker;
	struct retiring retiring;
	struct scene *scene;
	size_t most[2]; /* in the first half, in the second */
};

struct scene {
	const struct backlog *backlog;
	const struct subject *subject;
	void *shared;
	void *table[RETIRE_TABLE]; /* atomic */
	struct barrier turn;
	struct updater updaters[UPDATERS];
	double figures[FIGURES];
};

static void turn(struct scene *scene)
{
	barrier_wait(&scene->turn, UPDATERS + scene->backlog->stalls);
}

static size_t deferred_by_all(const struct scene *scene)
{
	size_t deferred = 0;

	for (int i = 0; i < UPDATERS; i++)
		/* relaxed: see count_updates(). */
		deferred += __atomic_load_n(&scene->updaters[i].retiring.updates, __ATOMIC_RELAXED);
	return deferred;
}

static size_t in_flight(const struct scene *scene)
{
	return scene->subject->loops.deferring->in_flight(scene->shared, deferred_by_all(scene));
}

static void sleep_until(uint64_t ns)
{
	const struct timespec t = {.tv_sec = (time_t)(ns / UINT64_C(1000000000)), .tv_nsec = (long)(ns % UINT64_C(1000000000))};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

/* For LASTS_NS.  A thread that is late for a tick does not sleep before the next. */
static void update(struct updater *updater)
{
	const struct scene *scene = updater->scene;
	const size_t rate = scene->backlog->rate;
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
	double resident = 0;
	size_t before = 0;
	uint64_t start_ns = 0;

	worker->hand = scene->subject->join(scene->shared);
	if (worker->index == 0)
		(void)loops->fill(worker, RETIRE_TABLE);
	/* A few, so that what they call is in RAM; all of it is free again. */
	turn(scene);
	(void)loops->retire(worker, RETIRE_TABLE);
	turn(scene);
	loops->deferring->settle(worker->hand, worker->index == 0);
	turn(scene);
	if (worker->index == 0) {
		resident = resident_bytes();
		before = deferred_by_all(scene);
		start_ns = now_ns();
	}
	turn(scene);
	update(updater);
	turn(scene);
	if (worker->index == 0) {
		scene->figures[RATE] = (double)(deferred_by_all(scene) - before) * 1e9 / (double)(now_ns() - start_ns);
		scene->figures[RESIDENT] = resident_peak_bytes() - resident;
		(void)loops->drain(worker, RETIRE_TABLE);
	}
	loops->deferring->settle(worker->hand, worker->index == 0);
	turn(scene);
	scene->subject->leave(worker->hand);
	return NULL;
}

/* It looks at a node, and goes to sleep.  In turns with the others. */
static void *stall(void *argument)
{
	struct scene *scene = argument;
	const struct retiring_calls *calls = scene->subject->loops.deferring;
	void *hand = scene->subject->join(scene->shared);

	turn(scene); /* the table is full */
	turn(scene); /* they have updated */
	turn(scene); /* all of it is free */
	calls->go_online(hand);
	calls->section_begin(hand);

	const struct node *node = __atomic_load_n(&scene->table[0], __ATOMIC_ACQUIRE);
	const uint64_t stamp = __atomic_load_n(&node->stamp, __ATOMIC_RELAXED);

	turn(scene); /* they begin */
	sleep_until(now_ns() + LASTS_NS / 2);
	if (!node_is_whole(node) || __atomic_load_n(&node->stamp, __ATOMIC_RELAXED) != stamp)
		give_up(scene->subject->name, "a node was used again while a thread read it");
	calls->section_end(hand);
	calls->go_offline(hand);
	turn(scene); /* they have ended */
	calls->settle(hand, false);
	turn(scene);
	scene->subject->leave(hand);
	return NULL;
}

static void updater_make(struct scene *scene, unsigned index)
{
	struct updater *updater = &scene->updaters[index];

	updater->scene = scene;
	updater->retiring = (struct retiring){.table = scene->table, .stamp = (uint64_t)index << 48};
	updater->worker = (struct worker){
		.subject = scene->subject,
		.shared = scene->shared,
		.index = index,
		.threads = UPDATERS,
		.random = random_for(UINT64_C(0x5eed), index),
		.retiring = &updater->retiring,
	};
}

static void summarise(struct scene *scene)
{
	size_t most[2] = {0, 0}, waits = 0;

	for (int i = 0; i < UPDATERS; i++) {
		for (int half = 0; half < 2; half++)
			if (scene->updaters[i].most[half] > most[half])
				most[half] = scene->updaters[i].most[half];
		waits += scene->updaters[i].retiring.waits;
	}
	scene->figures[MOST_EARLY] = (double)most[0];
	scene->figures[MOST] = (double)(most[0] > most[1] ? most[0] : most[1]);
	scene->figures[WAITS] = (double)waits / (double)deferred_by_all(scene);
}

void backlog_play(const struct backlog *backlog, const struct subject *subject, FILE *file)
{
	struct scene *scene = must(aligned_alloc(_Alignof(struct scene), sizeof(*scene)));
	const struct plan plan = {
		.object_bytes = RETIRE_BYTES,
		.capacity = RETIRE_TABLE + (backlog->bounded ? BOUNDED_CAPACITY : RETIRE_CAPACITY),
		.held = RETIRE_TABLE,
		.threads = UPDATERS,
	};
	pthread_t threads[UPDATERS], reader;

	memset(scene, 0, sizeof(*scene));
	scene->backlog = backlog;
	scene->subject = subject;
	scene->shared = subject->open(&plan);
	scene->turn = (struct barrier)BARRIER_INITIALIZER;
	for (unsigned i = 0; i < UPDATERS; i++)
		updater_make(scene, i);
	for (unsigned i = 0; i < UPDATERS; i++)
		thread_start(&threads[i], play, &scene->updaters[i]);
	if (backlog->stalls)
		thread_start(&reader, stall, scene);
	for (unsigned i = 0; i < UPDATERS; i++)
		(void)pthread_join(threads[i], NULL);
	if (backlog->stalls)
		(void)pthread_join(reader, NULL);
	summarise(scene);
	if (in_flight(scene) != 0)
		give_up(subject->name, "all has been waited for, but not all is free");
	for (int i = 0; i < FIGURES; i++)
		fprintf(file, "%.9g\n", scene->figures[i]);
	subject->close(scene->shared);
	free(scene);
}

/* ---- The benchmark ---- */

static void backlog_run(gbench_state_t *state, void *context)
{
	static const char *const names[FIGURES] = {
		[MOST] = "most_objects",
		[MOST_EARLY] = "most_objects_early",
		[RESIDENT] = "most_resident_bytes",
		[RATE] = "updates_per_second",
		[WAITS] = "waits",
	};
	const struct cell *cell = context;
	double figures[FIGURES];

	if (elsewhere_run(state, BACKLOG_OPTION, cell->subject->name, cell->backlog->name, figures, FIGURES))
		for (int i = 0; i < FIGURES; i++)
			gbench_counter(state, names[i], figures[i]);
}

bool backlog_fits(const struct backlog *backlog, const struct subject *subject)
{
	return (subject->traits & TRAIT_BACKLOG) && (!backlog->bounded || (subject->traits & TRAIT_BOUNDED));
}

const struct backlog *backlog_find(const char *name)
{
	for (size_t b = 0; b < BACKLOG_COUNT; b++)
		if (strcmp(backlogs[b].name, name) == 0)
			return &backlogs[b];
	return NULL;
}

void backlog_register(struct cell *cell)
{
	gbench_t *benchmark = gbench_register(backlog_run, cell, "%s/%d/%s", cell->backlog->name, RETIRE_BYTES,
					      cell->subject->name);

	gbench_iterations(benchmark, 1);
	gbench_threads(benchmark, ELSEWHERE_THREADS);
}
