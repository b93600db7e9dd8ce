/* SPDX-License-Identifier: MIT */
/* test: threads once */
/* test_shared_memory.c - a pool in a buffer in memory that a process shares with its forked children: no object has
 * two holders, none is lost, and a killed child loses only the objects that its current call held. */
#include "../support/support.h"
#include "lfpool/buffer.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { CAPACITY = 200, CHILDREN = 4, HELD = 40 };

struct shared_object {
	_Atomic(pid_t) holder;
	unsigned uses;
};

static lfpool_t *shared_pool(void)
{
	lfpool_config_t config = CONFIG_OF(sizeof(struct shared_object), CAPACITY, .cache_capacity = 16);
	const size_t bytes = lfpool_buffer_bytes(&config);
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	lfpool_t *pool;

	REQUIRE(memory != MAP_FAILED);
	REQUIRE(lfpool_create_in(&pool, &config, memory, bytes) == LFPOOL_OK);
	return pool;
}

/* Acquires and releases, with a cache or without; `forever`: until it is killed. */
static void churn(lfpool_t *pool, unsigned number, bool forever)
{
	lfpool_cache_t *cache = number % 2 ? lfpool_cache_create(pool) : NULL;
	struct random random = random_for(2026, number);
	struct shared_object *held[HELD];
	const pid_t me = getpid();
	size_t count = 0;

	for (int step = 0; forever || step < TIMES(200000, 20000); step++) {
		if (count < HELD && random_below(&random, 2)) {
			struct shared_object *object = cache ? lfpool_cache_acquire(cache) : lfpool_acquire(pool);

			/* The pool has more objects than all of them can hold. */
			REQUIRE(object && atomic_exchange_explicit(&object->holder, me, memory_order_relaxed) == 0);
			object->uses++;
			held[count++] = object;
		} else if (count) {
			struct shared_object *object = held[--count];

			REQUIRE(atomic_exchange_explicit(&object->holder, 0, memory_order_relaxed) == me);
			REQUIRE((cache ? lfpool_cache_release(cache, object) : lfpool_release(pool, object)) ==
				LFPOOL_OK);
		}
	}
	while (count) {
		atomic_store_explicit(&held[--count]->holder, 0, memory_order_relaxed);
		REQUIRE(lfpool_release(pool, held[count]) == LFPOOL_OK);
	}
	lfpool_cache_destroy(cache);
}

static void run_children(lfpool_t *pool, pid_t children[CHILDREN], bool forever)
{
	fflush(NULL);
	for (unsigned i = 0; i < CHILDREN; i++) {
		children[i] = fork();
		REQUIRE(children[i] >= 0);
		if (children[i] == 0) {
			churn(pool, i, forever);
			_exit(0);
		}
	}
}

TEST(processes_share_a_pool)
{
	lfpool_t *pool = shared_pool();
	pid_t children[CHILDREN];
	int status;

	print_message("    seed 2026\n");
	run_children(pool, children, false);
	churn(pool, CHILDREN, false);
	for (unsigned i = 0; i < CHILDREN; i++)
		assert_true(waitpid(children[i], &status, 0) == children[i] && status == 0);
	assert_int_equal(lfpool_active_count(pool), 0);
	assert_int_equal(lfpool_quick_stats(pool).misuses, 0);
	pool_close(pool, sizeof(struct shared_object));
}

/* Lost objects are those they hold, at most HELD each, and those of a call in progress.  Objects in their caches can
 * still be taken. */
TEST(killed_processes_lose_only_objects_in_use_and_in_calls)
{
	lfpool_t *pool = shared_pool();
	void **objects = pointers_new(CAPACITY + 1);
	pid_t children[CHILDREN];
	int status;

	run_children(pool, children, true);
	churn(pool, CHILDREN, false);
	for (unsigned i = 0; i < CHILDREN; i++)
		assert_int_equal(kill(children[i], SIGKILL), 0);
	for (unsigned i = 0; i < CHILDREN; i++)
		assert_true(waitpid(children[i], &status, 0) == children[i] && WIFSIGNALED(status));
	/* One call each: an object, and a magazine in transit. */
	const size_t kept = acquire_all(pool, objects, CAPACITY + 1), in_a_call = CHILDREN * (1 + 8);

	assert_true(kept + CHILDREN * HELD + in_a_call >= CAPACITY);
	for (size_t i = 0; i < kept; i++)
		assert_int_equal(atomic_load(&((struct shared_object *)objects[i])->holder), 0);
	release_all(pool, objects, kept);
	assert_int_equal(acquire_all(pool, objects, CAPACITY + 1), kept);
	(void)lfpool_destroy(pool);
	free(objects);
}

/* The process in which it ran, in memory that both have. */
static void note_process(void *context, lfpool_t *pool, void *object)
{
	_Atomic(pid_t) *process = context;

	REQUIRE(atomic_exchange(process, getpid()) == 0 && lfpool_release(pool, object) == LFPOOL_OK);
}

/* As buffer.h says ("Processes"). */
TEST(a_continuation_runs_in_the_process_whose_release_serves_it)
{
	lfpool_t *pool = shared_pool();
	void *objects[CAPACITY], *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	_Atomic(pid_t) *process = memory;
	int status;

	assert_true(memory != MAP_FAILED);
	assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
	assert_int_equal(lfpool_acquire_async(pool, note_process, memory, NULL), LFPOOL_OK);
	fflush(NULL);

	const pid_t child = fork();

	if (child == 0)
		_exit(lfpool_release(pool, objects[0]) != LFPOOL_OK);
	assert_true(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	assert_int_equal(atomic_load(process), child);
	assert_int_equal(lfpool_active_count(pool), CAPACITY - 1);
	release_all(pool, objects + 1, CAPACITY - 1);
	pool_close(pool, sizeof(struct shared_object));
	assert_int_equal(munmap(memory, 4096), 0);
}

RUN_TESTS()
