/* SPDX-License-Identifier: MIT */
/*
 * account.c - see account.h.
 *
 * Idea         What the operation returned is held against what the driver holds.  Then everything is given back and
 *              gathered: it must be the whole pool, each object once, and each magazine in one place.
 */
#include "account.h"

#include "hooks.h"

static bool is_in(const struct holding *h, const void *object)
{
	for (size_t i = 0; i < h->count; i++)
		if (h->objects[i] == object)
			return true;
	return false;
}

static const char *check_results(const struct scene *s, const struct holding *h)
{
	if (s->released != s->given_count)
		return "a release was refused";
	for (size_t i = 0; i < s->wanted; i++) {
		if (s->got[i] && is_in(h, s->got[i]))
			return "the operation returned an object that a peer holds";
		for (size_t k = 0; k < i; k++)
			if (s->got[i] && s->got[i] == s->got[k])
				return "the operation returned one object twice";
	}
	return s->wrong;
}

/* The operation has released all it came by, the driver's too. */
static void forget_released(struct scene *s, struct holding *h)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->count; i++)
		if (lfpool_in_use(s->pool, h->objects[i]))
			h->objects[kept++] = h->objects[i];
	s->released -= h->count - kept;
	h->count = kept;
}

/* Everything is somebody's: gather it, and find the whole pool, each object once. */
static const char *gather(struct scene *s, struct holding *h)
{
	const char *wrong = peer_give_back(s->pool, h);

	for (size_t i = 0; !wrong && i < s->held_count; i++)
		if (lfpool_release(s->pool, s->held[i]) != LFPOOL_OK)
			wrong = "the release of an object that was held is refused";
	for (size_t i = 0; !wrong && i < s->wanted; i++)
		if (s->got[i] && lfpool_release(s->pool, s->got[i]) != LFPOOL_OK)
			wrong = "the release of what the operation acquired is refused";
	s->held_count = s->wanted = 0;
	if (!wrong)
		wrong = peer_drain(s, NULL, h);
	if (!wrong && h->count != lfpool_capacity(s->pool))
		wrong = "objects are missing at the end";
	if (!wrong && lfpool_shrink_owed(s->pool))
		wrong = "all has come back, and something is owed";
	if (!wrong && s->capacity_at_end && h->count != s->capacity_at_end)
		wrong = "there are more objects, or fewer, than the calls have said";
	if (!wrong && lfpool_misuse_count(s->pool))
		wrong = "a release was refused on the way, or a debug mode has found something";
	if (!wrong && hooks_wrong())
		wrong = "a hook was called out of turn";
	return wrong ? wrong : scene_check(s);
}

const char *account(struct scene *s, const struct operation *o, struct holding *h)
{
	if (o->special & RELEASES_ALL)
		forget_released(s, h);

	const char *wrong = check_results(s, h);

	return wrong ? wrong : gather(s, h);
}
