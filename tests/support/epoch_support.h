/* SPDX-License-Identifier: MIT */
/*
 * epoch_support.h - implements readers.h with ck_epoch: lfpool/epoch.h.
 *
 * Records      ck_epoch keeps each record for ever.  So a thread that ends gives its record back
 *              (ck_epoch_unregister), a later thread takes it (ck_epoch_recycle), and the records are in a static
 *              array.
 */
#ifndef LFPOOL_TESTS_EPOCH_SUPPORT_H
#define LFPOOL_TESTS_EPOCH_SUPPORT_H

#include "readers.h"

#include "lfpool/epoch.h"

#include <ck_epoch.h>

#define A_WHILE_NS INT64_C(20000000)

/* The epoch of a program, or of the test that runs. */
static ck_epoch_t epoch;
static lfpool_scheme_t scheme;                  /* the epoch's scheme */
static _Thread_local ck_epoch_record_t *record; /* the thread's record */

static inline ck_epoch_record_t *record_new(ck_epoch_t *of)
{
	enum { RECORDS = 1000 };
	static ck_epoch_record_t records[RECORDS];
	static atomic_size_t used;
	ck_epoch_record_t *found = ck_epoch_recycle(of, NULL);

	if (!found) {
		const size_t i = atomic_fetch_add(&used, 1);

		REQUIRE(i < RECORDS);
		ck_epoch_register(of, found = &records[i], NULL);
	}
	return found;
}

static inline void join_readers(void)
{
	record = record_new(&epoch);
}

static inline void leave_readers(void)
{
	ck_epoch_unregister(record);
}

static int readers_open(void **state)
{
	(void)state;
	ck_epoch_init(&epoch);
	join_readers();
	return lfpool_epoch_create(&scheme, &epoch) == LFPOOL_OK ? 0 : -1;
}

static int readers_close(void **state)
{
	(void)state;
	lfpool_epoch_destroy(scheme);
	return 0;
}

/* ---- Sections ---- */

static inline void enter(void)
{
	ck_epoch_begin(record, NULL);
}

static inline void leave(void)
{
	ordered_before(&sections);
	(void)ck_epoch_end(record, NULL);
}

/* ---- Pools ---- */

static inline void retire_inside(lfpool_t *pool, void *object)
{
	REQUIRE(lfpool_retire(pool, object) == LFPOOL_OK);
}

static inline void retire(lfpool_t *pool, void *object)
{
	retire_inside(pool, object);
}

static inline void retire_bulk(lfpool_t *pool, void **objects, size_t count)
{
	REQUIRE(lfpool_retire_bulk(pool, objects, count) == count);
}

static inline lfpool_t *readers_pool(lfpool_config_t config)
{
	config.scheme = scheme;
	return pool_with(&config);
}

#endif
