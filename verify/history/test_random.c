/* SPDX-License-Identifier: MIT */
/*
 * test_random.c - the checker against random histories.
 *
 * Idea         Calls with random times and random answers, mostly wrong.  The verdict is compared with one that is
 *              reached tick by tick and pair by pair, straight from the definitions.  (That it finds nothing in what a correct
 *              pool has answered is shown by every run of the stress harness that is clean.)
 *
 *   test_random [SEED]   LFPOOL_DEEP=1: 300 times as many histories, from a new seed
 */
#include "by_hand.h"

#include <inttypes.h>

#define HISTORIES 30000
#define DEEP 300
#define OBJECTS_MAX 4

#define CALLS_MAX 14
#define TICKS 24

struct call {
	bool null;
	uintptr_t object;
	uint64_t begin, end, release_begin, release_end;
};

/* Is the object possibly in use at this tick? */
static bool in_use(const struct call *calls, unsigned count, uintptr_t object, uint64_t t)
{
	for (unsigned i = 0; i < count; i++)
		if (!calls[i].null && calls[i].object == object && calls[i].begin <= t && t <= calls[i].release_end)
			return true;
	return false;
}

static bool null_right(const struct call *calls, unsigned count, uintptr_t objects, const struct call *null)
{
	for (uint64_t t = null->begin; t <= null->end; t++) {
		uintptr_t object = 1;

		while (object <= objects && in_use(calls, count, object, t))
			object++;
		if (object > objects)
			return true;
	}
	return false;
}

/* Neither can have ended before the other began. */
static bool overlap(const struct call *a, const struct call *b)
{
	return !a->null && !b->null && a->object == b->object && a->release_begin > b->end && b->release_begin > a->end;
}

static uint64_t later(struct random *random, uint64_t than)
{
	return than + random_below(random, TICKS / 4);
}

static void draw_call(struct random *random, struct hand *hand, struct call *call, uintptr_t objects)
{
	struct hold hold;

	call->null = random_below(random, 4) == 0;
	call->object = 1 + random_below(random, (uint32_t)objects);
	call->begin = random_below(random, TICKS);
	call->end = later(random, call->begin);
	call->release_begin = later(random, call->end);
	call->release_end = later(random, call->release_begin);
	if (call->null) {
		hand_null(hand, random_below(random, HAND_LOGS), call->begin, call->end);
		return;
	}
	hold = hand_acquire(hand, random_below(random, HAND_LOGS), call->begin, call->end, call->object);
	/* Some are never released. */
	if (random_below(random, 8) == 0)
		call->release_begin = call->release_end = UINT64_MAX;
	else
		hand_release(hand, random_below(random, HAND_LOGS), call->release_begin, call->release_end, call->object, hold);
}

static bool complete(struct hand *hand, struct random *random, size_t *faulty)
{
	struct call calls[CALLS_MAX];
	unsigned count = random_below(random, CALLS_MAX + 1);
	uintptr_t objects = 1 + random_below(random, OBJECTS_MAX);
	size_t wrong_nulls = 0, overlaps = 0;
	struct history_counts counts;

	hand_clear(hand);
	for (unsigned i = 0; i < count; i++)
		draw_call(random, hand, &calls[i], objects);
	for (unsigned i = 0; i < count; i++) {
		wrong_nulls += calls[i].null && !null_right(calls, count, objects, &calls[i]);
		for (unsigned j = i + 1; j < count; j++)
			overlaps += overlap(&calls[i], &calls[j]);
	}
	counts = hand_check(hand, objects, true, false);
	*faulty += wrong_nulls + overlaps > 0;
	/* Of many overlaps the checker reports some. */
	if (counts.faults[HISTORY_FAULT_NULL] == wrong_nulls && (counts.faults[HISTORY_FAULT_OVERLAP] > 0) == (overlaps > 0))
		return true;
	printf("%zu wrong NULLs, the checker says %zu; %zu overlaps, the checker says %zu\n%s\n", wrong_nulls,
	       counts.faults[HISTORY_FAULT_NULL], overlaps, counts.faults[HISTORY_FAULT_OVERLAP], hand->text);
	return false;
}

int main(int argc, char **argv)
{
	static struct hand hand;
	bool deep = getenv("LFPOOL_DEEP") != NULL;
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : deep ? now_ns() : 1;
	size_t histories = deep ? (size_t)HISTORIES * DEEP : HISTORIES, good = 0, faulty = 0;
	struct random random = {seed};

	printf("seed %" PRIu64 "\n", seed);
	while (good < histories && complete(&hand, &random, &faulty))
		good++;
	printf("%zu of %zu random histories are faulty\n", faulty, histories);
	printf("%d passed, %d failed\n", good == histories, good != histories);
	return good != histories;
}
