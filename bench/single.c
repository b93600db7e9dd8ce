/* SPDX-License-Identifier: MIT */
/*
 * single.c - the list of single.h; and the workloads "memory" and "create-CAPACITY".
 *
 * Memory       Thread A acquires a million objects and writes to each; then thread B, which is alive all the time, releases
 *              them all, the newest first; then both end.  Resident memory is looked at in between.  The figures are its growth
 *              since before the pool was opened, in bytes per object:
 *                  resident_bytes_per_object_acquired   a million are in use, the objects themselves included
 *                  bytes_per_object                     the same figure under its short name
 *                  resident_bytes_per_object_released   none is in use; B, whose caches may be full, is alive
 *                  resident_bytes_per_object_finished   A and B have ended
 *                  resident_bytes_per_object_closed     the pool is closed
 *              Our own array, the code and the threads' stacks are there before the first look: 64 objects have gone the same
 *              way through a pool of their own.
 * Create       open() and close() are timed one by one, in turns.  Objects of 64 bytes.  Subjects without a capacity, such as
 *              allocators, have nothing to make.
 *                  create_ns, destroy_ns      medians
 */
#include "single.h"

#include "common/resident.h"

#include <lfpool/lfpool.h>

#include <string.h>

/* ---- Memory ---- */

#define MEMORY_OBJECTS 1000000
/* Objects beyond a million, for pools that let some rest in caches.  A pool that is bounded exactly needs none. */
#define RESERVE 65536
/* A million of 4096 bytes do not fit everywhere. */
#define OBJECT_BYTES_MAX 256
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
	barrier_wait(&scene->turn, 2);
}

static void *acquire_all(void *argument)
{
	struct scene *scene = argument;
	struct worker worker = join_as(scene, 0);

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

bool memory_fits(const struct single *single, const struct subject *subject, size_t object_bytes)
{
	(void)single;
	return object_bytes <= OBJECT_BYTES_MAX && subject->loops.pair && !(subject->traits & (TRAIT_PRIVATE | TRAIT_NOTHING)) &&
	       (!(subject->traits & TRAIT_64_BYTES) || object_bytes == 64);
}

void memory_run(gbench_state_t *state, const struct cell *cell)
{
	static const char *const names[LOOKS] = {
		[ACQUIRED] = "resident_bytes_per_object_acquired",
		[RELEASED] = "resident_bytes_per_object_released",
		[FINISHED] = "resident_bytes_per_object_finished",
		[CLOSED] = "resident_bytes_per_object_closed",
	};
	const size_t bytes = MEMORY_OBJECTS * sizeof(void *);
	struct scene scene = {.subject = cell->subject, .objects = must(malloc(bytes)), .turn = BARRIER_INITIALIZER};

	/* Ours are resident before the first look. */
	memset(scene.objects, 1, bytes);
	play(&scene, cell->object_bytes, WARM_UP_OBJECTS);
	play(&scene, cell->object_bytes, MEMORY_OBJECTS);
	free(scene.objects);
	for (int look = ACQUIRED; look < LOOKS; look++)
		gbench_counter(state, names[look], (scene.resident[look] - scene.resident[BEFORE]) / MEMORY_OBJECTS);
	gbench_counter(state, "bytes_per_object", (scene.resident[ACQUIRED] - scene.resident[BEFORE]) / MEMORY_OBJECTS);
}

/* ---- Create ---- */

/* What the objects of a pool may take. */
#define POOL_BYTES_MAX ((size_t)1 << 30)
#define TIMES_MAX 101

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(uint64_t *values, unsigned count)
{
	qsort(values, count, sizeof(*values), by_value);
	return ((double)values[(count - 1) / 2] + (double)values[count / 2]) / 2;
}

bool create_fits(const struct single *single, const struct subject *subject, size_t object_bytes)
{
	return (subject->traits & TRAIT_POOL) && object_bytes == 64 && single->capacity * object_bytes <= POOL_BYTES_MAX;
}

void create_run(gbench_state_t *state, const struct cell *cell)
{
	const struct subject *subject = cell->subject;
	const size_t capacity = cell->single->capacity;
	const struct plan plan = {.object_bytes = 64, .capacity = capacity, .held = capacity, .threads = 1},
			  small = {64, 64, 64, 1};
	uint64_t create_ns[TIMES_MAX], destroy_ns[TIMES_MAX];

	/* The code of the subject is in RAM afterwards. */
	subject->close(subject->open(&small));
	for (unsigned i = 0; i < cell->single->times; i++) {
		uint64_t start_ns = now_ns();
		void *shared = subject->open(&plan);

		create_ns[i] = now_ns() - start_ns;
		start_ns = now_ns();
		subject->close(shared);
		destroy_ns[i] = now_ns() - start_ns;
	}
	gbench_counter(state, "create_ns", median(create_ns, cell->single->times));
	gbench_counter(state, "destroy_ns", median(destroy_ns, cell->single->times));
}

/* ---- The list ---- */

/* clang-format off */
#define CREATE(n, its_times)                                                                                           \
	{.name = "create-" #n, .what = "making and taking down a pool for " #n " objects, unused", .fits = create_fits, \
	 .run = create_run, .threads = 1, .capacity = n, .times = its_times}
#define BACKLOG(its_name, its_what, its_rate, ...)                                                                     \
	{.name = "backlog-" its_name, .what = its_what, .fits = backlog_fits, .run = backlog_run, .threads = 2,        \
	 .rate = its_rate, __VA_ARGS__}
#define WALK(its_name, one_in)                                                                                          \
	{.name = "walk-" its_name, .what = "walks over a million slots", .fits = walk_fits, .run = walk_run, .threads = 1, \
	 .times = one_in}
#define PAGES(its_name, its_flags)                                                                                      \
	{.name = "pages-" its_name, .what = "ten million objects, or 256 of 4096 bytes: made, touched, read", .fits = pages_fits, \
	 .run = pages_run, .threads = 1, .capacity = 10000000, .flags = its_flags}

const struct single singles[SINGLE_COUNT] = {
	{.name = "memory", .what = "a million objects acquired by one thread, released by another; the resident memory in between",
	 .fits = memory_fits, .run = memory_run, .threads = 2},
	CREATE(1000, TIMES_MAX),
	CREATE(100000, 31),
	CREATE(10000000, 5),
	BACKLOG("10000", "10,000 updates a second: what is in flight at most", 10000,),
	BACKLOG("1000000", "1,000,000 updates a second: what is in flight at most", 1000000,),
	BACKLOG("unlimited", "updates as fast as they go: what is in flight at most", 0,),
	BACKLOG("stalled", "1,000,000 updates a second, and for half a second a thread is inside one section", 1000000,
		.stalls = true),
	BACKLOG("bounded", "the same in a pool of 16,384 objects: a thread that finds none waits", 1000000, .stalls = true,
		.bounded = true),
	WALK("none", 0),
	WALK("tenth", 10),
	WALK("all", 1),
	PAGES("small", 0),
	PAGES("plain-stride", LFPOOL_PLAIN_STRIDE),
	PAGES("prefaulted", LFPOOL_PREFAULT),
	PAGES("huge", LFPOOL_HUGE_PAGES),
	PAGES("huge-prefaulted", LFPOOL_HUGE_PAGES | LFPOOL_PREFAULT),
};
/* clang-format on */
