/* SPDX-License-Identifier: MIT */
/*
 * heap_set.c - addresses come, go and are found.  See heap_set.h.
 *
 * Orders   All relaxed: a thread that asks about an address got it through an edge of its own.
 */
#include "pool/heap_set.h"

#include "os/os.h"

enum { PROBES = 64 };
#define GONE ((uintptr_t)1)

/* The i-th place of an address (Fibonacci hashing: Knuth 1973, 6.4). */
static inline size_t place_of(const struct heap_set *set, const void *object, size_t i)
{
	return (size_t)((((uint64_t)(uintptr_t)object >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 20) + i) & set->mask;
}

struct heap_set *heap_set_open(size_t addresses)
{
	size_t places = PROBES, bytes;

	while (places / 2 < addresses)
		places *= 2;
	if (__builtin_mul_overflow(places, sizeof(uintptr_t) + sizeof(uint32_t), &bytes) ||
	    __builtin_add_overflow(bytes, sizeof(struct heap_set), &bytes))
		return NULL;

	struct heap_set *set = os_map(bytes);

	if (set) {
		set->mask = places - 1;
		set->mapped_bytes = bytes;
		set->slot = (void *)&set->place[places];
	}
	return set;
}

void heap_set_close(struct heap_set *set)
{
	if (set)
		os_unmap(set, set->mapped_bytes);
}

void heap_set_add(struct heap_set *set, const void *object, uint32_t slot)
{
	for (size_t i = 0; i < PROBES; i++) {
		const size_t place = place_of(set, object, i);
		uintptr_t was = load_relaxed(&set->place[place]);

		if (was <= GONE && cas_relaxed(&set->place[place], &was, (uintptr_t)object)) {
			store_relaxed(&set->slot[place], slot);
			return;
		}
	}
	(void)fetch_add_relaxed(&set->beside, UINT64_C(1));
}

/* YES: *place_out.  NO: because it never came as far as a place that was never used. */
static enum heap_set_answer find(const struct heap_set *set, const void *object, size_t *place_out)
{
	for (size_t i = 0; i < PROBES; i++) {
		*place_out = place_of(set, object, i);

		const uintptr_t is = load_relaxed(&set->place[*place_out]);

		if (is == (uintptr_t)object)
			return HEAP_SET_YES;
		if (!is)
			return HEAP_SET_NO;
	}
	return HEAP_SET_MAYBE;
}

void heap_set_remove(struct heap_set *set, const void *object)
{
	size_t place;

	if (find(set, object, &place) == HEAP_SET_YES)
		store_relaxed(&set->place[place], GONE);
	else
		(void)fetch_add_relaxed(&set->beside, -UINT64_C(1));
}

enum heap_set_answer heap_set_find(const struct heap_set *set, const void *object, uint32_t *slot_out)
{
	size_t place;
	enum heap_set_answer answer = (uintptr_t)object <= GONE ? HEAP_SET_NO : find(set, object, &place);

	if (answer == HEAP_SET_YES)
		*slot_out = load_relaxed(&set->slot[place]);
	return answer == HEAP_SET_MAYBE && !load_relaxed(&set->beside) ? HEAP_SET_NO : answer;
}
