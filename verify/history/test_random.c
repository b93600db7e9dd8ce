/* SPDX-License-Identifier: MIT */
/*
 * test_random.c - the checker against random histories.
 *
 * Sound        A simulated pool, correct by construction, in which every call takes effect at a random moment of its
 *              interval and NULL is answered only when no object is free at that moment.  Stamps are much coarser than
 *              moments, so that many are equal.  The checker must find nothing.
 * Complete     Calls with random times and random answers, mostly wrong.  The verdict is compared with one that is
 *              reached tick by tick and pair by pair, straight from the definitions.
 *
 *   test_random [SEED]   LFPOOL_DEEP=1: 300 times as many histories, from a new seed
 */
#include "by_hand.h"

#include <inttypes.h>

#define HISTORIES 30000
#define DEEP 300
#define OBJECTS_MAX 4

/* ---- Sound: a pool that is correct ---- */

#define STEPS 400
#define MOMENTS_PER_TICK_MAX 24

struct actor {
	enum { IDLE, ACQUIRING, ACQUIRED, REFUSED, RELEASING, RELEASED } state;
	uint64_t begin;
	uintptr_t object; /* it has, or is about to have or to have had */
	struct hold hold;
};

struct simulation {
	struct hand *hand;
	struct random *random;
	uint64_t moment, per_tick;
	unsigned objects, actors;
	bool held[OBJECTS_MAX + 1];
	struct actor actor[HAND_LOGS];
};

static uint64_t tick(const struct simulation *s)
{
	return s->moment / s->per_tick;
}

static uintptr_t any_free(struct simulation *s)
{
	uintptr_t chosen = 0;
	uint32_t seen = 0;

	for (uintptr_t object = 1; object <= s->objects; object++)
		if (!s->held[object] && random_below(s->random, ++seen) == 0)
			chosen = object;
	return chosen;
}

/* The next thing happens to one of the actors. */
static void simulate_step(struct simulation *s, unsigned index)
{
	struct actor *actor = &s->actor[index];

	switch (actor->state) {
	case IDLE:
		actor->begin = tick(s);
		actor->state = actor->object ? RELEASING : ACQUIRING;
		break;
	case ACQUIRING:
		actor->object = any_free(s);
		s->held[actor->object] = true;
		actor->state = actor->object ? ACQUIRED : REFUSED;
		break;
	case ACQUIRED:
		actor->hold = hand_acquire(s->hand, index, actor->begin, tick(s), actor->object);
		actor->state = IDLE;
		break;
	case REFUSED:
		hand_null(s->hand, index, actor->begin, tick(s));
		actor->state = IDLE;
		break;
	case RELEASING:
		s->held[actor->object] = false;
		actor->state = RELEASED;
		break;
	case RELEASED:
		hand_release(s->hand, index, actor->begin, tick(s), actor->object, actor->hold);
		actor->object = 0;
		actor->state = IDLE;
	}
}

/* Gives the object to an idle neighbour without one, who will release it. */
static void hand_over(struct simulation *s, unsigned index)
{
	struct actor *from = &s->actor[index], *to = &s->actor[(index + 1) % s->actors];

	if (from->state == IDLE && to->state == IDLE && from->object && !to->object) {
		to->object = from->object;
		to->hold = from->hold;
		from->object = 0;
	}
}

static bool sound(struct hand *hand, struct random *random, size_t *nulls)
{
	struct simulation s = {.hand = hand, .random = random};
	struct history_counts counts;

	hand_clear(hand);
	s.per_tick = 1 + random_below(random, MOMENTS_PER_TICK_MAX);
	s.objects = 1 + random_below(random, OBJECTS_MAX);
	s.actors = 2 + random_below(random, HAND_LOGS - 1);
	for (unsigned step = 0; step < STEPS; step++, s.moment++) {
		unsigned index = random_below(random, s.actors);

		if (random_below(random, 8) == 0)
			hand_over(&s, index);
		else
			simulate_step(&s, index);
	}
	/* Calls under way are logged when they end. */
	for (unsigned index = 0; index < s.actors; index++)
		while (s.actor[index].state != IDLE) {
			s.moment++;
			simulate_step(&s, index);
		}
	counts = hand_check(hand, s.objects, true, false);
	*nulls += counts.nulls;
	if (hand->text[0])
		printf("false alarm: %s\n", hand->text);
	return !hand->text[0];
}

/* ---- Complete: tick by tick ---- */

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
	size_t histories = deep ? (size_t)HISTORIES * DEEP : HISTORIES, good = 0, nulls = 0, faulty = 0;
	struct random random = {seed};

	printf("seed %" PRIu64 "\n", seed);
	for (size_t i = 0; i < histories && good == 2 * i; i++) {
		good += sound(&hand, &random, &nulls);
		good += complete(&hand, &random, &faulty);
	}
	printf("%zu histories of a correct pool with %zu NULLs; %zu of %zu random ones are faulty\n", histories, nulls, faulty,
	       histories);
	printf("%d passed, %d failed\n", good == 2 * histories, good != 2 * histories);
	return good != 2 * histories;
}
