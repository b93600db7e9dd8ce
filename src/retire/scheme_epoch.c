/* SPDX-License-Identifier: MIT */
/*
 * scheme_epoch.c - lfpool/epoch.h: a batch is one entry of a ck_epoch record.
 *
 * Idea         Each of the pool's places for retired objects has a record.  A record must have one user at a time,
 *              which holds here: a place has at most one batch, and one thread at a time begins the batch or asks about
 *              it.  `ready` calls ck_epoch_poll(), which calls our callback when the entry is due.
 * Records      ck_epoch_poll() checks for active threads, and then reclaims all deferred entries of the record.  If
 *              threads shared a record, the poll of one thread would also reclaim an entry that another thread has
 *              deferred since the check, which is too early.  (ck_epoch_call_strict() lets several threads defer at
 *              once, but not while another thread polls.)
 * Order        ck_epoch_call() reads the epoch without a fence.  That epoch must not be older than the object's
 *              removal, so a fence comes first.
 * Progress     Lock-free; a poll is O(records of the epoch).
 */
#include "lfpool/epoch.h"
#include "lfpool/retire.h"

#include <ck_epoch.h>
#include <stdlib.h>
#include <string.h>

struct place {
	ck_epoch_record_t record;
	bool registered; /* record is known to the epoch; written by the holder of the batch */
};

struct records {
	struct ck_epoch *epoch;
	struct place places[LFPOOL_PLACES_MAX];
};

struct deferred {
	ck_epoch_entry_t entry; /* must be first */
	bool due;
};

_Static_assert(sizeof(struct deferred) <= LFPOOL_BATCH_ROOM, "a batch has room for an entry");

static void become_due(ck_epoch_entry_t *entry)
{
	((struct deferred *)(void *)entry)->due = true;
}

static void begin(void *context, lfpool_batch_t *batch)
{
	struct records *records = context;
	struct place *place = &records->places[batch->place];
	struct deferred *deferred = (void *)batch->room;

	if (!place->registered) {
		ck_epoch_register(records->epoch, &place->record, NULL);
		place->registered = true;
	}
	deferred->due = false;
	ck_pr_fence_memory();
	ck_epoch_call(&place->record, &deferred->entry, become_due);
}

static bool ready(void *context, const lfpool_batch_t *batch)
{
	struct records *records = context;
	const struct deferred *deferred = (const void *)batch->room;

	(void)ck_epoch_poll(&records->places[batch->place].record);
	/* Orders the readers' loads of the objects before any later store to them. */
	if (deferred->due)
		ck_pr_fence_memory();
	return deferred->due;
}

lfpool_status_t lfpool_epoch_create(lfpool_scheme_t *scheme_out, struct ck_epoch *epoch)
{
	struct records *records;
	void *memory;

	if (scheme_out)
		*scheme_out = (lfpool_scheme_t){0};
	if (!scheme_out || !epoch)
		return LFPOOL_E_ARGUMENT;
	if (posix_memalign(&memory, _Alignof(struct records), sizeof(struct records)) != 0)
		return LFPOOL_E_NO_MEMORY;
	records = memset(memory, 0, sizeof(struct records));
	records->epoch = epoch;
	*scheme_out = (lfpool_scheme_t){.context = records, .begin = begin, .ready = ready};
	return LFPOOL_OK;
}

void lfpool_epoch_destroy(lfpool_scheme_t scheme)
{
	if (scheme.begin == begin)
		free(scheme.context);
}
