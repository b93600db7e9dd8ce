/* SPDX-License-Identifier: MIT */
/*
 * memory.c - the workloads "memory", "handoff-memory" and "create-CAPACITY".
 *
 * Memory       Thread A acquires a million objects and writes to each; then thread B, which exists from the start,
 *              releases them all, the newest first; then both end.  Resident memory is read in between.  The figures
 *              are the growth of resident memory since before the pool was opened, in bytes per object:
 *                 bytes_per_object                     a million objects are in use; includes the objects
 *                 resident_bytes_per_object_released   no object is in use; B, whose caches may be full, still runs
 *                 resident_bytes_per_object_finished   A and B have ended
 *                 resident_bytes_per_object_closed     the pool is closed
 *                 first_ns                             acquire of an object that no thread has used, and a write to it;
 *                                                      some pools have touched all objects at creation
 *              Our own array, the code and the threads' stacks exist before the first reading: 64 objects have
 *              already gone the same way through another pool.
 * Hand-off     A producer acquires two million objects, one after the other, and a slower consumer releases them.  A
 *              ring connects them; a pool has 2^20 objects.
 *                 distinct_objects                     addresses that the consumer has seen
 * Create       open() and close() are timed singly, alternating.  Objects of 64 bytes.  Subjects without a capacity,
 *              such as allocators, have nothing to make.
 *                 create_ns, destroy_ns      medians
 */
#include "team.h"

#include "common/resident.h"
#include "ring.h"

#include <string.h>

/* ---- Memory ---- */

/* Objects beyond a million, for pools that keep some in caches.  An exactly bounded pool has no such reserve. */
#define RESERVE 65536
#define WARM_UP_OBJECTS 64

enum look { BEFORE, ACQUIRED, RELEASED, FINISHED, CLOSED, LOOKS };

/* The two threads alternate. */
struct scene {
	const struct subject *subject;
	void *shared;
	void **objects;
	size_t count;
	pthread_barrier_t turn;
	double resident[LOOKS], first_ns;
};

static struct worker join_as(const struct scene *scene, unsigned index)
{
	return (struct worker){
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
	(void)pthread_barrier_wait(&scene->turn);
}

static void *acquire_all(void *argument)
{
	struct scene *scene = argument;
	struct worker worker = join_as(scene, 0);

	turn(scene); /* B has joined too */

	const uint64_t start_ns = now_ns();

	if (scene->subject->loops.fill(&worker, scene->count) != scene->count)
		give_up(scene->subject->name, "no object, though the pool is large enough for all");
	scene->first_ns = (double)(now_ns() - start_ns) / (double)scene->count;
	scene->resident[ACQUIRED] = resident_bytes();
	turn(scene); /* acquired */
	turn(scene); /* released */
	scene->subject->leave(worker.hand);
	return NULL;
}

static void *release_all(void *argument)
{
	struct scene *scene = argument;
	struct worker worker = join_as(scene, 1);

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

void memory_run(const struct cell *cell)
{
	static const char *const names[LOOKS] = {
		[ACQUIRED] = "bytes_per_object",
		[RELEASED] = "resident_bytes_per_object_released",
		[FINISHED] = "resident_bytes_per_object_finished",
		[CLOSED] = "resident_bytes_per_object_closed",
	};
	const size_t count = cell->workload->held, bytes = count * sizeof(void *);
	struct scene scene = {.subject = cell->subject, .objects = must(malloc(bytes))};

	(void)pthread_barrier_init(&scene.turn, NULL, 2);
	/* Makes our array resident before the first reading. */
	memset(scene.objects, 1, bytes);
	play(&scene, cell->object_bytes, WARM_UP_OBJECTS);
	play(&scene, cell->object_bytes, count);
	(void)pthread_barrier_destroy(&scene.turn);
	free(scene.objects);
	for (int look = ACQUIRED; look < LOOKS; look++)
		say_figure(names[look], (scene.resident[look] - scene.resident[BEFORE]) / (double)count);
	say_figure("first_ns", scene.first_ns);
}

/* ---- Hand-off ---- */

#define HANDED 2000000
/* A set of addresses: each is at the place of its hash, or in the next free place. */
#define PLACES_POWER 22
#define PLACES ((size_t)1 << PLACES_POWER)

/* Returns true if the address was not in the set. */
static bool add_address(uintptr_t *places, uintptr_t address)
{
	size_t at = (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PLACES_POWER));

	while (places[at] && places[at] != address)
		at = (at + 1) % PLACES;
	if (places[at])
		return false;
	places[at] = address;
	return true;
}

static void *hand_over(void *argument)
{
	struct worker *worker = argument;

	worker->hand = worker->subject->join(worker->shared);
	(void)worker->subject->loops.produce(worker, HANDED);
	worker->subject->leave(worker->hand);
	return NULL;
}

void handoff_memory_run(const struct cell *cell)
{
	const struct subject *subject = cell->subject;
	const struct plan plan = {cell->object_bytes, cell->workload->count, cell->workload->held, 2};
	struct ring *ring = memset(must(aligned_alloc(RING_LINE, sizeof(*ring))), 0, sizeof(*ring));
	uintptr_t *places = must(calloc(PLACES, sizeof(*places)));
	void *shared = subject->open(&plan), *object;
	struct worker producer = {.subject = subject, .shared = shared, .rings = &ring, .ring_count = 1};
	struct worker consumer = {.subject = subject, .hand = subject->join(shared), .objects = &object};
	size_t distinct = 0;
	pthread_t thread;

	thread_start(&thread, hand_over, &producer);
	for (size_t i = 0; i < HANDED; i++) {
		object = ring_pop(ring);
		distinct += add_address(places, (uintptr_t)object);
		if (distinct > PLACES / 2)
			give_up(subject->name, "it has used more objects than a pool of this size has");
		consumer.held = 1;
		(void)subject->loops.drain(&consumer, 1);
	}
	(void)pthread_join(thread, NULL);
	subject->leave(consumer.hand);
	subject->close(shared);
	free(places);
	free(ring);
	say_figure("distinct_objects", (double)distinct);
}

/* ---- Create ---- */

#define TIMES_MAX 101

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

double median(uint64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	return ((double)values[(count - 1) / 2] + (double)values[count / 2]) / 2;
}

void create_run(const struct cell *cell)
{
	const struct subject *subject = cell->subject;
	const struct plan plan = {.object_bytes = 64, .capacity = cell->workload->count, .held = 1, .threads = 1},
			  small = {64, 64, 1, 1};
	uint64_t create_ns[TIMES_MAX], destroy_ns[TIMES_MAX];

	/* Brings the subject's code into RAM. */
	subject->close(subject->open(&small));
	for (unsigned i = 0; i < cell->workload->times; i++) {
		uint64_t start_ns = now_ns();
		void *shared = subject->open(&plan);

		create_ns[i] = now_ns() - start_ns;
		start_ns = now_ns();
		subject->close(shared);
		destroy_ns[i] = now_ns() - start_ns;
	}
	say_figure("create_ns", median(create_ns, cell->workload->times));
	say_figure("destroy_ns", median(destroy_ns, cell->workload->times));
}
