/* SPDX-License-Identifier: MIT */
/* peers.c - the others' part while the victim stands; see scene.h. */
#include "scene.h"

#include "sleeper.h"

#include "pool/pool.h"
#include "retire/retired.h"

#include "lfpool/handle.h"
#include "lfpool/report.h"
#include "lfpool/retire.h"

#include <string.h>

static bool stamp_all(void **objects, size_t count, uint64_t stamp)
{
	bool ours = true;

	for (size_t i = 0; i < count; i++)
		memcpy(objects[i], &stamp, sizeof(stamp));
	for (size_t i = 0; i < count; i++)
		ours = ours && memcmp(objects[i], &stamp, sizeof(stamp)) == 0;
	return ours;
}

const char *peer_churn(lfpool_t *pool, uint64_t stamp, unsigned rounds)
{
	const bool retires = retired_asks(pool->retired);
	void *objects[3];

	for (unsigned round = 0; round < rounds; round++) {
		size_t count = 0, wanted = 1 + round % 3;

		while (count < wanted && (objects[count] = lfpool_acquire(pool)))
			count++;
		if (!stamp_all(objects, count, stamp + round))
			return "a peer found another thread's stamp in its object";
		/* Now and then without naming the pool; or retired, if such objects are reclaimed. */
		while (count-- > 0)
			if ((round + count) % 4 ? lfpool_release(pool, objects[count])
			    : retires           ? lfpool_retire(pool, objects[count])
						: lfpool_release_self(objects[count]))
				return "a peer's release was refused";
		if (round % 64 == 63) {
			lfpool_cache_t *cache = lfpool_cache_create(pool);

			if (!cache)
				return "no cache";
			objects[0] = lfpool_cache_acquire(cache);
			if (lfpool_cache_release(cache, objects[0]) != LFPOOL_OK)
				return "a release through a new cache was refused";
			lfpool_cache_destroy(cache);
		}
	}
	return NULL;
}

static bool is_among(const void *object, void *const *objects, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (objects[i] == object)
			return true;
	return false;
}

const char *peer_drain(struct scene *s, lfpool_cache_t *cache, struct holding *h)
{
	const char *wrong = s->ranked_count ? evictions_empty(s) : NULL;
	void *object;

	h->count = 0;
	if (wrong)
		return wrong;
	while ((object = cache ? lfpool_cache_acquire(cache) : lfpool_acquire(s->pool))) {
		if (h->count == OBJECTS_MAX)
			return "more objects than the pool has";
		if (!lfpool_owns(s->pool, object))
			return "an object of another pool";
		if (lfpool_of(object) != s->pool)
			return "lfpool_of() does not name the pool of an object";
		if (is_among(object, h->objects, h->count))
			return "the same object twice";
		if (is_among(object, s->held, s->held_count) || is_among(object, s->got, s->wanted))
			return "an object that the victim's caller holds";
		h->objects[h->count++] = object;
	}
	return NULL;
}

const char *peer_give_back(lfpool_t *pool, struct holding *h)
{
	size_t count = h->count;

	h->count = 0;
	return lfpool_release_bulk(pool, h->objects, count) == count ? NULL : "a peer's release was refused";
}

const char *peer_return_lent(struct scene *s)
{
	while (s->lent_count)
		if (lfpool_release(s->pool, s->lent[--s->lent_count]) != LFPOOL_OK)
			return "a peer's release was refused";
	beat("a call that waits was served");
	scene_await_caller(s);
	return NULL;
}

const char *peer_make_pools(const struct scene *s)
{
	lfpool_t *pools[3];
	const char *wrong = NULL;

	for (size_t i = 0; i < 3; i++) {
		pools[i] = scene_pool();
		void *object = lfpool_acquire(pools[i]);

		if (!object || lfpool_of(object) != pools[i] || lfpool_release_self(object) != LFPOOL_OK)
			wrong = "lfpool_of() does not name the new pool of an object";
	}
	for (size_t i = 0; i < 3; i++)
		if (lfpool_destroy(pools[i]) != 0)
			wrong = "an object of a new pool is still active";
	if (s->held_count && lfpool_of(s->held[0]) != s->pool)
		wrong = "lfpool_of() does not name the pool of an object, after pools came and went";
	return wrong;
}

static long acquired(const struct scene *s)
{
	long count = 0;

	for (size_t i = 0; i < s->wanted; i++)
		count += s->got[i] != NULL;
	return count;
}

long lost(const struct scene *s, const struct holding *h)
{
	return (long)lfpool_capacity(s->pool) - (long)s->held_count - acquired(s) - (long)h->count;
}

long lost_at_most(const struct scene *s, const struct operation *o, const struct holding *h)
{
	long still = 0;

	/* Objects that the operation got and has not begun to release. */
	for (size_t i = 0; i < s->given_count; i++)
		still += lfpool_in_use(s->pool, s->given[i]) && !is_among(s->given[i], h->objects, h->count);
	return still + (long)o->in_hand;
}

/* ---- After the operation has finished ---- */

static const char *check_results(const struct scene *s, const struct holding *h)
{
	if (s->released != s->given_count)
		return "a release was refused";
	for (size_t i = 0; i < s->wanted; i++) {
		if (s->got[i] && is_among(s->got[i], h->objects, h->count))
			return "the operation returned an object that a peer holds";
		for (size_t k = 0; k < i; k++)
			if (s->got[i] && s->got[i] == s->got[k])
				return "the operation returned one object twice";
	}
	return s->wrong;
}

/* The operation has released everything, including the driver's objects. */
static void forget_released(struct scene *s, struct holding *h)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->count; i++)
		if (lfpool_in_use(s->pool, h->objects[i]))
			h->objects[kept++] = h->objects[i];
	s->released -= h->count - kept;
	h->count = kept;
}

/* With every object held: gathers them, which must be the whole pool, each object once. */
static const char *gather(struct scene *s, struct holding *h)
{
	const char *wrong = s->ranked_count ? evictions_settle(s) : NULL;
	size_t place;

	if (!wrong)
		wrong = peer_give_back(s->pool, h);

	for (size_t i = 0; !wrong && i < s->held_count; i++)
		if (lfpool_release(s->pool, s->held[i]) != LFPOOL_OK)
			wrong = "the release of a held object was refused";
	for (size_t i = 0; !wrong && i < s->wanted; i++)
		if (s->got[i] && lfpool_release(s->pool, s->got[i]) != LFPOOL_OK)
			wrong = "the release of the operation's object was refused";
	s->held_count = s->wanted = 0;
	if (!wrong)
		wrong = peer_drain(s, NULL, h);
	if (!wrong && h->count != lfpool_capacity(s->pool))
		wrong = "objects are missing at the end";
	if (!wrong && lfpool_quick_stats(s->pool).owed)
		wrong = "everything was released, but a shrink is pending";
	if (!wrong && s->capacity_at_end && h->count != s->capacity_at_end)
		wrong = "the number of objects is not the sum of the calls' results";
	if (!wrong && lfpool_quick_stats(s->pool).misuses)
		wrong = "a release was refused, or a debug mode found something";
	if (!wrong && hooks_wrong())
		wrong = "a hook was called in a wrong order";
	return wrong ? wrong : lfpool_check(s->pool, &place);
}

const char *account(struct scene *s, const struct operation *o, struct holding *h)
{
	if (o->special & RELEASES_ALL)
		forget_released(s, h);

	const char *wrong = check_results(s, h);

	return wrong ? wrong : gather(s, h);
}
