/* SPDX-License-Identifier: MIT */
/* test: threads no-sanitizer */
/*
 * test_fibers.c - fibers that move between threads between acquire and release; half of them with an explicit cache,
 * the others by the inlined calls, which find the thread's cache, alternating between two pools.
 *
 * Idea         Two threads pass a few fibers back and forth through a mutex-guarded queue.  A fiber gives up its
 *              thread in the middle of its work and continues on the thread that takes it next.  Compiled with -O3
 *              -flto: a compiler that kept a thread-local value across the switch would be caught here; an explicit
 *              cache has no such value.
 */
#define LFPOOL_INLINE_KEEP_NAMES_
#include "../support/support.h"

#include "lfpool/inline.h"

#include <sched.h>
#include <ucontext.h>

enum { THREADS = 2, FIBERS = 7, HELD = 5, ROUNDS = 100000, SIZE = 48, STACK = 64 * 1024 };

struct fiber {
	ucontext_t context;
	ucontext_t *thread;    /* to return to; set by the thread that resumes it */
	lfpool_cache_t *cache; /* NULL: the thread's cache */
	struct random random;
	unsigned index;
	pthread_t last; /* the thread that ran it last               */
	unsigned migrations;
	bool done;
};

static struct fiber fibers[FIBERS];
static char stacks[FIBERS][STACK];
static lfpool_t *pools[2];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct fiber *waiting[FIBERS];
static unsigned waiting_count, unfinished;

static void yield(struct fiber *f)
{
	REQUIRE(swapcontext(&f->context, f->thread) == 0);
	if (!pthread_equal(f->last, pthread_self())) {
		f->migrations++;
		f->last = pthread_self();
	}
}

/* Object i of a fiber with a cache comes from the cache's pool; of another fiber from pool i modulo 2: the thread's
 * last pool, or one in its table. */
static void *fiber_acquire(struct fiber *f, unsigned i)
{
	return f->cache ? lfpool_cache_acquire_inline_(f->cache) : lfpool_acquire_inline_(pools[i % 2]);
}

static lfpool_status_t fiber_release(struct fiber *f, unsigned i, void *object)
{
	return f->cache ? lfpool_cache_release_inline_(f->cache, object) : lfpool_release_inline_(pools[i % 2], object);
}

static void fiber_run(unsigned index)
{
	struct fiber *f = &fibers[index];
	void *objects[HELD];

	for (int round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < HELD; i++) {
			/* The capacity suffices for all. */
			REQUIRE(objects[i] = fiber_acquire(f, i));
			memset(objects[i], (int)(index + 1), SIZE);
		}
		if (random_below(&f->random, 2))
			yield(f);
		for (unsigned i = 0; i < HELD; i++) {
			REQUIRE(all_bytes_are(objects[i], SIZE, (unsigned char)(index + 1)));
			REQUIRE(fiber_release(f, i, objects[i]) == LFPOOL_OK);
		}
	}
	f->done = true;
	yield(f);
}

static struct fiber *take(bool *all_done_out)
{
	struct fiber *f = NULL;

	pthread_mutex_lock(&mutex);
	*all_done_out = unfinished == 0;
	if (waiting_count) {
		/* The fiber that has waited longest, so that fibers change threads. */
		f = waiting[0];
		memmove(waiting, waiting + 1, --waiting_count * sizeof(*waiting));
	}
	pthread_mutex_unlock(&mutex);
	return f;
}

static void put_back(struct fiber *f)
{
	pthread_mutex_lock(&mutex);
	if (f->done)
		unfinished--;
	else
		waiting[waiting_count++] = f;
	pthread_mutex_unlock(&mutex);
}

static void *thread_run(void *nothing)
{
	ucontext_t here;
	bool all_done = false;

	while (!all_done) {
		struct fiber *f = take(&all_done);

		if (!f) {
			sched_yield();
			continue;
		}
		f->thread = &here;
		REQUIRE(swapcontext(&here, &f->context) == 0);
		put_back(f);
	}
	return nothing;
}

TEST(fibers_migrate)
{
	unsigned migrations = 0;

	/* Small caches: calls need the depot and the other fibers' caches all the time. */
	for (unsigned i = 0; i < 2; i++)
		pools[i] = POOL_OF(SIZE, FIBERS * HELD, .cache_capacity = 4);
	print_message("seed 11\n");
	unfinished = FIBERS;
	for (unsigned i = 0; i < FIBERS; i++) {
		struct fiber *f = &fibers[i];

		f->index = i;
		f->random = random_for(11, i);
		f->last = pthread_self();
		if (i % 2)
			assert_non_null(f->cache = lfpool_cache_create(pools[0]));
		assert_int_equal(getcontext(&f->context), 0);
		f->context.uc_stack.ss_sp = stacks[i];
		f->context.uc_stack.ss_size = STACK;
		makecontext(&f->context, (void (*)(void))fiber_run, 1, i);
		waiting[waiting_count++] = f;
	}
	threads_run(THREADS, thread_run, NULL, 0);
	for (unsigned i = 0; i < FIBERS; i++) {
		migrations += fibers[i].migrations;
		lfpool_cache_destroy(fibers[i].cache);
	}
	print_message("%u migrations\n", migrations);
	assert_true(migrations > FIBERS);
	pool_close(pools[0], SIZE);
	pool_close(pools[1], SIZE);
}

RUN_TESTS()
