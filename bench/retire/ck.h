/* SPDX-License-Identifier: MIT */
/*
 * ck.h - sections of ConcurrencyKit's ck_epoch, and a record for each thread: for subjects that use it.
 *
 * Documented   ck_epoch_register(3): a record cannot be destroyed while its epoch exists; so all of them lie beside it.
 */
#ifndef LFPOOL_BENCH_CK_H
#define LFPOOL_BENCH_CK_H

#include "retiring.h"

#include <ck_epoch.h>
#include <lfpool/lfpool.h>
#include <string.h>

#define RECORDS_MAX 128

struct epoch;

/* Each counter has its owner's line. */
struct epoch_hand {
	ck_epoch_record_t record;
	_Alignas(128) struct epoch *epoch;
	size_t freed; /* by this thread; atomic */
	unsigned since_poll;
};

struct epoch {
	ck_epoch_t epoch;
	lfpool_t *pool;                /* if there is one */
	void *gate;                    /* its            */
	_Alignas(128) unsigned joined; /* atomic */
	struct epoch_hand hands[RECORDS_MAX];
};

static inline struct epoch *epoch_open(void)
{
	struct epoch *epoch = (struct epoch *)must(aligned_alloc(_Alignof(struct epoch), sizeof(*epoch)));

	memset(epoch, 0, sizeof(*epoch));
	ck_epoch_init(&epoch->epoch);
	return epoch;
}

static inline void *epoch_join(void *shared)
{
	struct epoch *epoch = (struct epoch *)shared;
	const unsigned index = __atomic_fetch_add(&epoch->joined, 1, __ATOMIC_RELAXED);

	if (index >= RECORDS_MAX)
		give_up("ck_epoch", "more threads than there are records");

	struct epoch_hand *hand = &epoch->hands[index];

	hand->epoch = epoch;
	ck_epoch_register(&epoch->epoch, &hand->record, NULL);
	return hand;
}

static inline void epoch_leave(void *hand)
{
	ck_epoch_unregister(&((struct epoch_hand *)hand)->record);
}

static inline void section_begin(void *hand)
{
	ck_epoch_begin(&((struct epoch_hand *)hand)->record, NULL);
}

static inline void section_end(void *hand)
{
	ck_epoch_end(&((struct epoch_hand *)hand)->record, NULL);
}

#endif
