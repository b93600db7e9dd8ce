/* SPDX-License-Identifier: MIT */
/*
 * epoch_support.h - what the tests of lfpool/epoch.h share: a pool with an epoch, and threads that are in sections of
 * it.
 *
 * Records      ck_epoch keeps each record for ever, so a thread that ends gives its record back (ck_epoch_unregister),
 *              the next takes it (ck_epoch_recycle), and what was never given back lies in a static array.
 * Races        ThreadSanitizer sees nothing of what ck_epoch does.  It is told the edge that all of this is about:
 *              from who leaves a section to who gets an object afterwards.
 */
#ifndef LFPOOL_TESTS_EPOCH_SUPPORT_H
#define LFPOOL_TESTS_EPOCH_SUPPORT_H

#include "support.h"
#include "common/annotate.h"

#include "lfpool/epoch.h"

#include <ck_epoch.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#define FOR_EVER INT64_C(-1)
#define A_WHILE_NS INT64_C(20000000)

static char sections; /* a name for that edge */

static inline void await(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0)
		REQUIRE(errno == EINTR);
}

/* ---- Records ---- */

static inline ck_epoch_record_t *record_new(ck_epoch_t *epoch)
{
	enum { RECORDS = 1000 };
	static ck_epoch_record_t records[RECORDS];
	static atomic_size_t used;
	ck_epoch_record_t *record = ck_epoch_recycle(epoch, NULL);

	if (!record) {
		const size_t i = atomic_fetch_add(&used, 1);

		REQUIRE(i < RECORDS);
		ck_epoch_register(epoch, record = &records[i], NULL);
	}
	return record;
}

/* All records of the epoch, one after the other; NULL: that was the last. */
static inline const ck_epoch_record_t *record_next(const ck_epoch_t *epoch, const ck_epoch_record_t *record)
{
	const ck_stack_entry_t *entry = record ? record->record_next.next : epoch->records.head;

	/* The entry is the record's first member. */
	return (const ck_epoch_record_t *)(const void *)entry;
}

static inline size_t records_of(const ck_epoch_t *epoch)
{
	size_t count = 0;

	for (const ck_epoch_record_t *record = NULL; (record = record_next(epoch, record)) != NULL;)
		count++;
	return count;
}

/* ---- A thread that is in a section until it is told to leave ---- */

struct reader {
	pthread_t thread;
	ck_epoch_t *epoch;
	sem_t inside, end;
};

static inline void *read_until_told(void *argument)
{
	struct reader *reader = argument;
	ck_epoch_record_t *record = record_new(reader->epoch);

	ck_epoch_begin(record, NULL);
	sem_post(&reader->inside);
	await(&reader->end);
	ordered_before(&sections);
	(void)ck_epoch_end(record, NULL);
	ck_epoch_unregister(record);
	return NULL;
}

static inline void reader_start(struct reader *reader, ck_epoch_t *epoch)
{
	reader->epoch = epoch;
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

/* ---- A pool with an epoch ---- */

struct scene {
	ck_epoch_t epoch;
	ck_epoch_record_t record; /* of the thread that runs the test */
	lfpool_epoch_t *gate;
	lfpool_t *pool;
	size_t object_size;
};

static inline lfpool_t *epoch_pool_with(lfpool_config_t config, lfpool_epoch_t *gate)
{
	config.scheme = lfpool_epoch_scheme(gate);
	return pool_with(&config);
}

static inline void open_scene(struct scene *s, size_t object_size, size_t capacity)
{
	ck_epoch_init(&s->epoch);
	ck_epoch_register(&s->epoch, &s->record, NULL);
	assert_int_equal(lfpool_epoch_create(&s->gate, &s->epoch), LFPOOL_OK);
	s->object_size = object_size;
	s->pool = epoch_pool_with(config_of(object_size, capacity), s->gate);
}

static inline void *taken(void *object)
{
	ordered_after(&sections);
	return object;
}

/* All there are, stamped with their number. */
static inline void take_all(lfpool_t *pool, void **objects_out, size_t count, size_t size)
{
	REQUIRE(acquire_all(pool, objects_out, count + 1) == count);
	for (size_t i = 0; i < count; i++)
		stamp_write(taken(objects_out[i]), size, i);
}

/* Nothing is retired any more, and nothing is lost. */
static inline void require_drained(struct scene *s)
{
	REQUIRE(lfpool_drain(s->pool) == LFPOOL_OK);
	REQUIRE(lfpool_retired_count(s->pool) == 0);
	(void)taken(NULL);
	require_whole(s->pool, s->object_size);
}

static inline void close_scene(struct scene *s)
{
	if (s->pool)
		require_drained(s);
	REQUIRE(lfpool_destroy(s->pool) == 0);
	lfpool_epoch_destroy(s->gate);
}

#endif
