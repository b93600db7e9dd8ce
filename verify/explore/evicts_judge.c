/* SPDX-License-Identifier: MIT */
/*
 * evicts_judge.c - was each decision right at some moment, and is everything in order in the end?
 */
#include "evicts.h"

#include "oracle.h"

#include <string.h>

static bool goes_first(unsigned life, uint64_t key, int other, uint64_t other_key)
{
	return key != other_key ? key < other_key : evicts.life[life].handle < evicts.life[other].handle && (int)life != other;
}

/* Could an object have been taken, or a slot, at operation `at`, so that the decision was wrong then? */
static bool wrong_at(const struct verdict *d, uint64_t at)
{
	for (unsigned i = 0; i < evicts.spans; i++) {
		const struct span *span = &evicts.span[i];

		if (at <= span->from || at > span->until)
			continue;
		if (span->life < 0  ? d->newcomer != NEVER && !engine_weak()
		    : d->victim < 0 ? span->key < d->newcomer
				    : goes_first((unsigned)span->life, span->key, d->victim, d->key))
			return true;
	}
	return false;
}

static void judge(const struct verdict *d)
{
	for (uint64_t at = d->after + 1; at <= d->upto; at++)
		if (!wrong_at(d, at))
			return;
	if (d->victim < 0)
		engine_fail("no object was found by a call with priority %llu, though one could be taken all the time",
			    (unsigned long long)d->newcomer);
	else
		engine_fail("object %u, of priority %llu, was never the least during the call", evicts.life[d->victim].slot,
			    (unsigned long long)d->key);
}

/* Each record that is used is named, and each that is named is used: what fill_own() filled, apart. */
static void check_records(const struct place *places, unsigned count, uint32_t (*named)(uint64_t word), unsigned *spares)
{
	for (unsigned i = 0; i < count; i++) {
		const struct place *p = &places[i];
		const uint32_t name = named(load_relaxed(&p->word));
		const bool filled = p >= evicts.slots && p < evicts.slots + SLOTS_MAX && evicts.filled[i];

		*spares += name > OWN_RECORDS;
		for (uint32_t k = 1; k <= OWN_RECORDS; k++)
			if (!filled && (load_relaxed(&p->used[k - 1]) != 0) != (name == k))
				engine_fail("afterwards own record %u of place %u is %s", k, i,
					    name == k ? "named, and not in use" : "in use, and not named");
	}
}

static void check_all_records(void)
{
	unsigned named = 0, used = 0;

	check_records(evicts.slots, evicts_capacity, state_record, &named);
	check_records(evicts.nodes, SLOTS_MAX, tagged_number, &named);
	for (unsigned i = 0; i < SPARES_MAX; i++)
		used += evicts.spare_used[i];
	if (used != named)
		engine_fail("afterwards %u records of the pool are in use, %u are named", used, named);
}

/* What is left comes out in order, and then every slot is free. */
static void check_rest(void)
{
	uint64_t last = 0;
	unsigned released = 0, expected = 0;

	for (unsigned i = 0; i < evicts.lives; i++)
		expected += !evicts.life[i].gone && evicts.life[i].published && !evicts.life[i].pins;
	for (lfpool_handle_t handle; released <= evicts_capacity; released++) {
		uint64_t key = 0, now_has = 0;

		handle = lfpool_priority_peek_min(&evicts.pool, &key);
		if (!handle)
			break;
		if (key < last)
			engine_fail("afterwards priority %llu comes after %llu", (unsigned long long)key,
				    (unsigned long long)last);
		if (!lfpool_priority_get(&evicts.pool, handle, &now_has) || now_has != key)
			engine_fail("afterwards the least has another priority");
		last = key;
		if (evicts.life[evicts_life_of(handle)].gone || lfpool_priority_release(&evicts.pool, handle) != LFPOOL_OK)
			engine_fail("afterwards the least is one that is gone");
	}
	if (released != expected)
		engine_fail("afterwards %u objects can be evicted, %u should", released, expected);
}

void evicts_check(void)
{
	uint64_t empty;
	bool free[SLOTS_MAX] = {false};
	unsigned held = 0, found = 0;

	if (!evicts_capacity)
		return;
	for (unsigned i = 0; i < evicts.verdicts; i++)
		judge(&evicts.verdict[i]);
	check_all_records();
	check_rest();
	for (unsigned t = 0; t < THREADS_MAX + 1; t++)
		held += evicts.thread[t].mines;
	for (unsigned i = 0; i < evicts.lives; i++)
		held += evicts.life[i].pins != 0;
	if (lfpool_priority_count(&evicts.pool) != held)
		engine_fail("afterwards %zu objects are counted, %u are held", lfpool_priority_count(&evicts.pool), held);
	for (uint32_t slot; (slot = free_slots_pop(&evicts.pool.free, &empty)); found++) {
		if (free[slot - 1])
			engine_fail("afterwards slot %u is free twice", slot);
		free[slot - 1] = true;
	}
	if (found + held != evicts_capacity)
		engine_fail("afterwards %u slots are free, %u held", found, held);
}
