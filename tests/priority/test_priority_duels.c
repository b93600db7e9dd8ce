/* SPDX-License-Identifier: MIT */
/* test: threads once */
/*
 * test_priority_duels.c - two, three or four calls at one object at the same instant (priority_duel.h): one of the
 * outcomes that the header allows, and nothing in between.
 */
#include "../support/priority_duel.h"

enum { LOW = 1, MIDDLE = 5, HIGH = 10 };

/* ---- The calls ---- */

static void release(struct scene *s, unsigned self)
{
	s->says[self] = lfpool_priority_release(s->pool, s->handle);
}

static void release_least(struct scene *s, unsigned self)
{
	s->released[self] = lfpool_priority_release_min(s->pool, 1);
}

static void acquire(struct scene *s, unsigned self)
{
	s->got[self] = lfpool_priority_acquire(s->pool, MIDDLE, NULL, &s->new_handle[self]);
}

static void publish(struct scene *s, unsigned self)
{
	s->says[self] = lfpool_priority_publish(s->pool, s->handle);
}

static void pin(struct scene *s, unsigned self)
{
	s->got[self] = lfpool_priority_pin(s->pool, s->handle);
}

static void unpin(struct scene *s, unsigned self)
{
	s->says[self] = lfpool_priority_unpin(s->pool, s->handle);
}

static void lower(struct scene *s, unsigned self)
{
	s->says[self] = lfpool_priority_update(s->pool, s->handle, LOW);
}

/* Each to another one. */
static void raise_it(struct scene *s, unsigned self)
{
	s->says[self] = lfpool_priority_update(s->pool, s->handle, HIGH + self);
}

/* An object of its own, to anywhere, some of them equal. */
static void move_other(struct scene *s, unsigned self)
{
	const size_t i = (self * 67 + 3) % s->duel->capacity;

	s->says[self] = lfpool_priority_update(s->pool, s->others[i], random_below(&s->random[self], 6));
}

static void touch_other(struct scene *s, unsigned self)
{
	const size_t i = (self * 67 + 3) % s->duel->capacity;

	REQUIRE(lfpool_priority_pin(s->pool, s->others[i]));
	s->says[self] = lfpool_priority_unpin(s->pool, s->others[i]);
}

static void replace_other(struct scene *s, unsigned self)
{
	const size_t i = (self * 67 + 3) % s->duel->capacity;

	s->says[self] = lfpool_priority_release(s->pool, s->others[i]);
	REQUIRE(s->others[i] = priority_put(s->pool, random_below(&s->random[self], 6)));
}

/* ---- The scenes ---- */

static void set_new(struct scene *s)
{
	REQUIRE(s->object = lfpool_priority_acquire(s->pool, LOW, NULL, &s->handle));
}

static void set_low(struct scene *s)
{
	set_new(s);
	REQUIRE(lfpool_priority_publish(s->pool, s->handle) == LFPOOL_OK);
}

static void set_high(struct scene *s)
{
	set_low(s);
	REQUIRE(lfpool_priority_update(s->pool, s->handle, HIGH) == LFPOOL_OK);
}

static void set_pinned(struct scene *s)
{
	set_low(s);
	REQUIRE(lfpool_priority_pin(s->pool, s->handle) == s->object);
}

static void set_pinned_twice(struct scene *s)
{
	set_pinned(s);
	REQUIRE(lfpool_priority_pin(s->pool, s->handle) == s->object);
}

static void set_released(struct scene *s)
{
	set_pinned(s);
	REQUIRE(lfpool_priority_release(s->pool, s->handle) == LFPOOL_OK);
}

static void set_nearly_full_of_pins(struct scene *s)
{
	set_low(s);
	for (int i = 1; i < PINS; i++)
		REQUIRE(lfpool_priority_pin(s->pool, s->handle));
}

/* And one that the newcomer cannot have. */
static void set_beside_a_high_one(struct scene *s)
{
	set_high(s);
	REQUIRE(s->others[0] = priority_put(s->pool, HIGH));
	REQUIRE(lfpool_priority_release(s->pool, s->handle) == LFPOOL_OK);
}

static void set_two(struct scene *s)
{
	set_low(s);
	REQUIRE(s->others[0] = priority_put(s->pool, LOW + 1));
}

static void set_all(struct scene *s)
{
	for (size_t i = 0; i < s->duel->capacity; i++)
		REQUIRE(s->others[i] || (s->others[i] = priority_put(s->pool, 3 + i % 3)));
}

/* ---- What must hold ---- */

static void must_be_active(struct scene *s, uint64_t expected)
{
	uint64_t priority = ~expected;

	require_priority(s->pool, s->handle, expected);
	REQUIRE(lfpool_priority_peek_min(s->pool, &priority) == s->handle && priority == expected);
	REQUIRE(atomic_load(&s->evictions) == 0);
}

static void must_be_evicted(struct scene *s, uint64_t priority)
{
	require_stale(s->pool, s->handle);
	REQUIRE(atomic_load(&s->evictions) == 1 && atomic_load(&s->evicted_priority) == priority);
}

static bool got_it(struct scene *s, unsigned self)
{
	REQUIRE((s->got[self] != NULL) == (s->new_handle[self] != 0));
	REQUIRE(!s->got[self] || s->got[self] == s->object);
	return s->got[self];
}

/* Released by one and free, or evicted by the other.  The newcomer may find nothing while the release is under way. */
static void one_of_release_and_evict(struct scene *s)
{
	if (s->says[0] == LFPOOL_OK) {
		REQUIRE(atomic_load(&s->evictions) == 0);
		(void)got_it(s, 1);
		require_stale(s->pool, s->handle);
		return;
	}
	REQUIRE(s->says[0] == LFPOOL_E_STALE && got_it(s, 1));
	must_be_evicted(s, LOW);
}

static void one_release(struct scene *s)
{
	const size_t winners = s->released[2] + (s->says[0] == LFPOOL_OK ? 1 : 0) + (s->says[1] == LFPOOL_OK ? 1 : 0);

	REQUIRE(winners == 1 && lfpool_priority_count(s->pool) == 0);
	REQUIRE(atomic_load(&s->evictions) == s->released[2]);
	REQUIRE(s->says[0] == LFPOOL_OK || s->says[0] == LFPOOL_E_STALE);
	REQUIRE(s->says[1] == LFPOOL_OK || s->says[1] == LFPOOL_E_STALE);
}

static void both_evict(struct scene *s)
{
	REQUIRE(s->got[0] && s->got[1] && s->got[0] != s->got[1]);
	must_be_evicted(s, LOW);
	require_stale(s->pool, s->others[0]);
}

static void up_or_evicted(struct scene *s)
{
	if (s->says[0] == LFPOOL_OK) {
		REQUIRE(!got_it(s, 1));
		must_be_active(s, HIGH);
	} else {
		REQUIRE(s->says[0] == LFPOOL_E_STALE && got_it(s, 1));
		must_be_evicted(s, LOW);
	}
}

static void fallen(struct scene *s)
{
	REQUIRE(s->says[0] == LFPOOL_OK);
	if (got_it(s, 1))
		must_be_evicted(s, LOW);
	else
		must_be_active(s, LOW);
}

static void pinned_or_evicted(struct scene *s)
{
	if (s->got[0]) {
		REQUIRE(!s->got[1] && lfpool_priority_is_active(s->pool, s->handle));
		REQUIRE(lfpool_priority_unpin(s->pool, s->handle) == LFPOOL_OK);
		must_be_active(s, LOW);
	} else {
		REQUIRE(got_it(s, 1));
		must_be_evicted(s, LOW);
	}
}

static void freed_by_the_last(struct scene *s)
{
	REQUIRE(s->says[0] == LFPOOL_OK && s->says[1] == LFPOOL_OK && s->says[2] == LFPOOL_OK);
	REQUIRE(lfpool_priority_count(s->pool) == 0);
}

static void one_unpin(struct scene *s)
{
	REQUIRE((s->says[0] == LFPOOL_OK) + (s->says[1] == LFPOOL_OK) == 1);
	REQUIRE((s->says[0] == LFPOOL_E_NOT_PINNED) + (s->says[1] == LFPOOL_E_NOT_PINNED) == 1);
	must_be_active(s, LOW);
}

static void pinned_or_not(struct scene *s)
{
	REQUIRE(s->says[1] == LFPOOL_OK && lfpool_priority_count(s->pool) == (s->got[0] ? 1 : 0));
	require_stale(s->pool, s->handle);
	REQUIRE(!s->got[0] || lfpool_priority_unpin(s->pool, s->handle) == LFPOOL_OK);
	REQUIRE(lfpool_priority_count(s->pool) == 0);
}

static void one_publish_at_most(struct scene *s)
{
	REQUIRE(s->says[1] == LFPOOL_OK);
	REQUIRE((s->says[0] == LFPOOL_OK) + (s->says[2] == LFPOOL_OK) <= 1);
	REQUIRE(lfpool_priority_count(s->pool) == 0);
}

static void one_of_them_stays(struct scene *s)
{
	uint64_t priority = 0;

	for (unsigned i = 0; i < s->duel->actors; i++)
		REQUIRE(s->says[i] == LFPOOL_OK);
	REQUIRE(lfpool_priority_get(s->pool, s->handle, &priority));
	REQUIRE(priority >= HIGH && priority < HIGH + s->duel->actors);
	must_be_active(s, priority);
	/* The tree knows the same one. */
	REQUIRE(!lfpool_priority_acquire(s->pool, priority, NULL, &s->new_handle[0]));
	REQUIRE(lfpool_priority_acquire(s->pool, priority + 1, NULL, &s->new_handle[0]));
	must_be_evicted(s, priority);
}

static void released_whatever_the_update(struct scene *s)
{
	REQUIRE(s->says[1] == LFPOOL_OK && (s->says[0] == LFPOOL_OK || s->says[0] == LFPOOL_E_STALE));
	REQUIRE(lfpool_priority_count(s->pool) == 0);
}

static void pinned_or_unpinned_and_raised(struct scene *s)
{
	REQUIRE(s->got[0] == s->object && s->says[1] == LFPOOL_OK && s->says[2] == LFPOOL_OK);
	REQUIRE(lfpool_priority_peek_min(s->pool, NULL) == 0);
	REQUIRE(lfpool_priority_unpin(s->pool, s->handle) == LFPOOL_OK);
	must_be_active(s, HIGH + 2);
}

static void one_pin(struct scene *s)
{
	REQUIRE((s->got[0] != NULL) + (s->got[1] ? 1 : 0) + (s->got[2] != NULL) == 1);
	for (int i = 0; i < PINS; i++)
		REQUIRE(lfpool_priority_unpin(s->pool, s->handle) == LFPOOL_OK);
	must_be_active(s, LOW);
}

static void one_acquire(struct scene *s)
{
	REQUIRE((s->got[0] != NULL) + (s->got[1] ? 1 : 0) == 1);
	REQUIRE(lfpool_priority_is_active(s->pool, s->others[0]));
}

static void unpinned(struct scene *s)
{
	REQUIRE(s->says[0] == LFPOOL_OK);
	(void)got_it(s, 1);
	REQUIRE(lfpool_priority_count(s->pool) == (s->got[1] ? 1 : 0) && atomic_load(&s->evictions) == 0);
}

/* What the tree says, and what is. */
static void the_least_is_known(struct scene *s)
{
	uint64_t named = 0, priority = 0, least = UINT64_MAX;
	const lfpool_handle_t handle = lfpool_priority_peek_min(s->pool, &named);

	for (unsigned i = 0; i < s->duel->actors; i++)
		REQUIRE(s->says[i] == LFPOOL_OK);
	for (size_t i = 0; i < s->duel->capacity; i++) {
		REQUIRE(lfpool_priority_get(s->pool, s->others[i], &priority));
		least = priority < least ? priority : least;
	}
	require_priority(s->pool, handle, least);
	/* Of equals the first; their ages are as their places, but for one that was replaced. */
	for (size_t i = 0; i < s->duel->capacity && s->duel->act[2] != replace_other; i++) {
		REQUIRE(lfpool_priority_get(s->pool, s->others[i], &priority));
		if (priority == least) {
			REQUIRE(s->others[i] == handle);
			break;
		}
	}
	REQUIRE(named == least);
}

static const struct duel duels[] = {
	{"release, evict", 2, 1, set_low, {release, acquire}, one_of_release_and_evict, false},
	{"release, release, release_min", 3, 1, set_low, {release, release, release_least}, one_release, false},
	{"evict, evict", 2, 2, set_two, {acquire, acquire}, both_evict, false},
	{"update up, evict", 2, 1, set_low, {raise_it, acquire}, up_or_evicted, false},
	{"update down, evict", 2, 1, set_high, {lower, acquire}, fallen, false},
	{"pin, evict", 2, 1, set_low, {pin, acquire}, pinned_or_evicted, false},
	{"unpin, evict", 2, 1, set_pinned, {unpin, acquire}, fallen, false},
	{"publish, evict", 2, 1, set_new, {publish, acquire}, fallen, false},
	{"unpin, unpin, release", 3, 1, set_pinned_twice, {unpin, unpin, release}, freed_by_the_last, false},
	{"unpin, unpin", 2, 1, set_pinned, {unpin, unpin}, one_unpin, false},
	{"pin, release", 2, 1, set_low, {pin, release}, pinned_or_not, false},
	{"publish, release, publish", 3, 1, set_new, {publish, release, publish}, one_publish_at_most, false},
	{"update, update, update, update", 4, 1, set_low, {raise_it, raise_it, raise_it, raise_it}, one_of_them_stays, false},
	{"update, release", 2, 1, set_low, {raise_it, release}, released_whatever_the_update, false},
	{"pin, unpin, update", 3, 1, set_pinned, {pin, unpin, raise_it}, pinned_or_unpinned_and_raised, false},
	{"pin, pin, pin", 3, 1, set_nearly_full_of_pins, {pin, pin, pin}, one_pin, false},
	{"acquire, acquire", 2, 2, set_beside_a_high_one, {acquire, acquire}, one_acquire, false},
	{"last unpin, acquire", 2, 1, set_released, {unpin, acquire}, unpinned, false},
	{"update others", 4, 17, set_all, {move_other, move_other, move_other, move_other}, the_least_is_known, true},
	{"update others, far apart", 3, 257, set_all, {move_other, move_other, move_other}, the_least_is_known, true},
	{"update, pin, replace", 3, 20, set_all, {move_other, touch_other, replace_other}, the_least_is_known, true},
};

TEST(every_duel_has_one_of_its_outcomes)
{
	const uint64_t seed = test_seed("every_duel_has_one_of_its_outcomes");

	for (size_t i = 0; i < COUNT(duels); i++) {
		print_message("%s\n", duels[i].name);
		fight(&duels[i], seed + i);
	}
}

RUN_TESTS()
