/* SPDX-License-Identifier: MIT */
/*
 * check_evicting.c - does an evicting pool work correctly?
 *
 * Idea         One thread fills a pool, gives all objects new priorities, and lets newcomers evict them one by one:
 *              objects must go in the order of these priorities.  At the end, newcomers with lower priorities must be
 *              refused.
 */
#include "subjects.h"
#include "workload.h"

#define CAPACITY 40
/* Steps of this size visit all of 0 .. CAPACITY - 1: it has no divisor in common with CAPACITY. */
#define ORDER 7

struct got {
	void *object;
	uint64_t handle;
};

/* Is the object still filled with `written`? */
static bool holds(const struct got *got, uint64_t written)
{
	for (size_t i = 0; i < EVICTING_BYTES / sizeof(written); i++)
		if (((const uint64_t *)got->object)[i] != written)
			return false;
	return true;
}

static void must_be_stale(const struct subject *subject, void *hand, uint64_t handle)
{
	const struct evicting_calls *calls = subject->loops.evicting;

	must_be(!calls->update(hand, handle, 5) && !calls->release(hand, handle), subject,
		"a stale handle is not refused");
}

void check_evicting(const struct subject *subject)
{
	const struct plan plan = {.object_bytes = EVICTING_BYTES, .capacity = CAPACITY, .held = CAPACITY, .threads = 1};
	const struct evicting_calls *calls = subject->loops.evicting;
	void *hand = subject->open(&plan);
	struct got held[CAPACITY], newcomer;

	for (uint64_t i = 0; i < CAPACITY; i++) {
		held[i].object = calls->acquire(hand, i, &held[i].handle);
		must_be(held[i].object && holds(&held[i], i), subject, "NULL, or an object that is not filled");
	}
	for (size_t i = 0; i < CAPACITY; i++)
		must_be(calls->update(hand, held[i].handle, i * ORDER % CAPACITY), subject,
			"an update of an object that is in use is refused");
	for (size_t i = 0; i < CAPACITY; i++)
		must_be(holds(&held[i], i), subject, "an object changed while it was held");
	for (size_t priority = 0; priority < CAPACITY; priority++) {
		size_t least = 0;

		while (least * ORDER % CAPACITY != priority)
			least++;
		newcomer.object = calls->acquire(hand, CAPACITY, &newcomer.handle);
		must_be(newcomer.object == held[least].object, subject, "it does not evict the least");
		must_be_stale(subject, hand, held[least].handle);
	}
	must_be(!calls->acquire(hand, 0, &held[0].handle), subject, "it evicts an object that does not give way");
	must_be(calls->release(hand, newcomer.handle), subject, "a release of an object that is in use is refused");
	must_be_stale(subject, hand, newcomer.handle);
	must_be(calls->acquire(hand, 0, &held[0].handle) == newcomer.object, subject, "an object is lost");
	subject->close(hand);
}
