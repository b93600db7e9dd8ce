/* SPDX-License-Identifier: MIT */
/*
 * readers.h - readers in sections, for tests of any library: retired objects are reused only after the readers have
 * left.
 *
 * Idea         rcu_support.h (a flavour of liburcu) and epoch_support.h (ck_epoch) define the functions declared
 *              here, so one source is compiled for each library.
 * Races        ThreadSanitizer cannot see inside those libraries.  So the tests annotate the one edge that matters:
 *              from a thread that leaves a section to a thread that gets an object afterwards.
 */
#ifndef LFPOOL_TESTS_READERS_H
#define LFPOOL_TESTS_READERS_H

#include "support.h"
#include "common/annotate.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#define FOR_EVER INT64_C(-1)

static char sections; /* its address names that edge */

/* A thread's first and last step; also for the thread that runs the tests, in cmocka's form. */
static inline void join_readers(void);
static inline void leave_readers(void);
static int readers_open(void **state);
static int readers_close(void **state);

/* Begin and end a section; after it the thread is quiescent. */
static inline void enter(void);
static inline void leave(void);

/* The first is called in a section, the second anywhere. */
static inline void retire_inside(lfpool_t *pool, void *object);
static inline void retire(lfpool_t *pool, void *object);
static inline void retire_bulk(lfpool_t *pool, void **objects, size_t count);

/* A pool whose objects wait for these readers. */
static inline lfpool_t *readers_pool(lfpool_config_t config);

static inline lfpool_t *readers_pool_of(size_t object_size, size_t capacity)
{
	return readers_pool(config_of(object_size, capacity));
}

#define RUN_READERS_TESTS()                                    \
	int main(void)                                         \
	{                                                      \
		return tests_run(readers_open, readers_close); \
	}

static inline void await(sem_t *semaphore)
{
	/* liburcu's flavour `signal` interrupts sem_wait(). */
	while (sem_wait(semaphore) != 0)
		REQUIRE(errno == EINTR);
}

/* ---- A thread that stays in a section until another thread ends it ---- */

struct reader {
	pthread_t thread;
	sem_t inside, end;
};

static inline void *read_until_told(void *argument)
{
	struct reader *reader = argument;

	join_readers();
	enter();
	sem_post(&reader->inside);
	await(&reader->end);
	leave();
	leave_readers();
	return NULL;
}

static inline void reader_start(struct reader *reader)
{
	sem_init(&reader->inside, 0, 0);
	sem_init(&reader->end, 0, 0);
	thread_start(&reader->thread, read_until_told, reader);
	await(&reader->inside);
}

static inline void reader_end(struct reader *reader)
{
	sem_post(&reader->end);
	pthread_join(reader->thread, NULL);
}

/* ---- Objects ---- */

static inline void *taken(void *object)
{
	ordered_after(&sections);
	return object;
}

/* Acquires all `count` objects and stamps each with its number; the array has room for one more. */
static inline void take_all(lfpool_t *pool, void **objects_out, size_t count, size_t size)
{
	REQUIRE(acquire_all(pool, objects_out, count + 1) == count);
	for (size_t i = 0; i < count; i++)
		stamp_write(taken(objects_out[i]), size, i);
}

static inline void retire_each(lfpool_t *pool, void **objects, size_t count)
{
	for (size_t i = 0; i < count; i++)
		retire(pool, objects[i]);
}

/* No object is retired any longer, and none is lost. */
static inline void require_drained(lfpool_t *pool, size_t object_size)
{
	REQUIRE(lfpool_drain(pool) == LFPOOL_OK);
	REQUIRE(lfpool_quick_stats(pool).retired == 0);
	(void)taken(NULL);
	require_whole(pool, object_size);
}

static inline void drain_and_destroy(lfpool_t *pool, size_t object_size)
{
	require_drained(pool, object_size);
	REQUIRE(lfpool_destroy(pool) == 0);
}

/* hooks.misuse; its context is the expected status. */
static inline void note_misuse(void *context, const lfpool_misuse_t *misuse)
{
	*(lfpool_status_t *)context = misuse->status;
}

#endif
