/* SPDX-License-Identifier: MIT */
/*
 * memory.c - see memory.h.
 */
#include "memory.h"

#include "barrier.h"
#include "common/resident.h"
#include "elsewhere.h"
#include "subjects.h"

#include <string.h>

/* Objects beyond a million, for pools that let some rest in caches.  A pool that is bounded exactly needs none. */
#define RESERVE 65536
#define BYTES_MAX 256
/* Objects of a first round, after which the code that is called is in RAM, and the threads' stacks are. */
#define WARM_UP_OBJECTS 64

enum look { BEFORE, ACQUIRED, RELEASED, FINISHED, CLOSED, LOOKS };

/* The two threads take turns; `turn` is a barrier between the steps. */
struct scene {
	const struct subject *subject;
	void *shared;
	void **objects;
	size_t count;
	struct barrier turn;
	double resident[LOOKS];
};

static void join_as(struct scene *scene, struct worker *worker, unsigned index)
{
	*worker = (struct worker){
		.subject = scene->subject,
		.shared = scene->shared,
		.index = index,
		.threads = 2,
		.hand = scene->subject->join(scene->shared),
		.objects = scene->objects,
		.count = scene->count,
	};
}

static void turn(struct scene *scene)
{
	barrier_wait(&scene->turn, 2);
}

static void *acquire_all(void *argument)
{
	struct scene *scene = argument;
	struct worker worker;

	join_as(scene, &worker, 0);
	turn(scene); /* B has joined too */
	if (scene->subject->loops.fill(&worker, scene->count) != scene->count)
		give_up(scene->subject->name, "no object, though the pool is large enough for all");
	scene->resident[ACQUIRED] = resident_bytes();
	turn(scene); /* acquired */
	turn(scene); /* released */
	scene->subject->leave(worker.hand);
	return NULL;
}

static void *release_all(void *argument)
{
	struct scene *scene = argument;
	struct worker worker;

	join_as(scene, &worker, 1);
	turn(scene);
	turn(scene); /* acquired */
	worker.held = scene->count;
	(void)scene->subject->loops.drain(&worker, scene->count);
	scene->resident[RELEASED] = resident_bytes();
	turn(scene); /* released */
	scene->subject->leave(worker.hand);
	return NULL;
}

static void play(struct scene *scene, size_t object_bytes, size_t count)
{
	const struct plan plan = {
		.object_bytes = object_bytes,
		.capacity = count + (scene->subject->traits & TRAIT_BOUNDED ? 0 : RESERVE),
		.held = count,
		.threads = 2,
	};
	pthread_t a, b;

	scene->count = count;
	scene->resident[BEFORE] = resident_bytes();
	scene->shared = scene->subject->open(&plan);
	thread_start(&a, acquire_all, scene);
	thread_start(&b, release_all, scene);
	(void)pthread_join(a, NULL);
	(void)pthread_join(b, NULL);
	scene->resident[FINISHED] = resident_bytes();
	scene->subject->close(scene->shared);
	scene->resident[CLOSED] = resident_bytes();
}

void memory_play(const struct subject *subject, size_t object_bytes, FILE *file)
{
	const size_t bytes = MEMORY_OBJECTS * sizeof(void *);
	struct scene scene = {.subject = subject, .objects = must(malloc(bytes)), .turn = BARRIER_INITIALIZER};

	/* Ours are resident before the first look. */
	memset(scene.objects, 1, bytes);
	play(&scene, object_bytes, WARM_UP_OBJECTS);
	play(&scene, object_bytes, MEMORY_OBJECTS);
	for (int look = BEFORE; look < LOOKS; look++)
		fprintf(file, "%.0f\n", scene.resident[look]);
	free(scene.objects);
}

/* ---- The benchmark: this program once more, in a process of its own ---- */

static void memory_report(gbench_state_t *state, const struct cell *cell, const double resident[LOOKS])
{
	static const char *const names[LOOKS] = {
		[ACQUIRED] = "resident_bytes_per_object_acquired",
		[RELEASED] = "resident_bytes_per_object_released",
		[FINISHED] = "resident_bytes_per_object_finished",
		[CLOSED] = "resident_bytes_per_object_closed",
	};
	const double acquired = (resident[ACQUIRED] - resident[BEFORE]) / MEMORY_OBJECTS;

	gbench_counter(state, "bytes_per_object", acquired);
	gbench_counter(state, "overhead_bytes_per_object", acquired - (double)cell->object_bytes);
	for (int look = ACQUIRED; look < LOOKS; look++)
		gbench_counter(state, names[look], (resident[look] - resident[BEFORE]) / MEMORY_OBJECTS);
}

static void memory_run(gbench_state_t *state, void *context)
{
	const struct cell *cell = context;
	double resident[LOOKS];
	char bytes[24];

	(void)snprintf(bytes, sizeof(bytes), "%zu", cell->object_bytes);
	if (elsewhere_run(state, MEMORY_OPTION, cell->subject->name, bytes, resident, LOOKS))
		memory_report(state, cell, resident);
}

bool memory_fits(const struct subject *subject, size_t object_bytes)
{
	return object_bytes <= BYTES_MAX && !subject->loops.evict && !subject->loops.retire &&
	       !(subject->traits & (TRAIT_PRIVATE | TRAIT_NOTHING)) &&
	       (!(subject->traits & TRAIT_64_BYTES) || object_bytes == 64) &&
	       (!subject->most_objects || subject->most_objects >= MEMORY_OBJECTS);
}

void memory_register(struct cell *cell)
{
	gbench_t *benchmark = gbench_register(memory_run, cell, MEMORY_NAME "/%zu/%s", cell->object_bytes, cell->subject->name);

	gbench_iterations(benchmark, 1);
	gbench_threads(benchmark, ELSEWHERE_THREADS);
}
