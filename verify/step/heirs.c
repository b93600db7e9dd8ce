/* SPDX-License-Identifier: MIT */
/*
 * heirs.c - a fork while a thread stands and others wait: what the child must find.
 *
 * Idea         Before the fork the driver takes all there is, hands in two continuations, and releases one object: for whoever
 *              came first, the victim perhaps.  The child has no thread but the driver's.  What waits there must have
 *              been served when fork() returns, as far as there is anything free; when all has been released each
 *              continuation has been called once, in order, whatever the victim was doing with it; and every object
 *              is there but those in the victim's hands.  What it was given and had not fetched is in nobody's.
 */
#include "peers.h"

static struct heir {
	void *object;
	unsigned calls, order;
} heirs[2];
static unsigned calls;

static void inherit(void *context, lfpool_t *pool, void *object)
{
	struct heir *heir = context;

	(void)pool;
	heir->object = object;
	heir->calls++;
	heir->order = ++calls;
}

static unsigned called(const struct scene *s)
{
	return calls + (s->ticket && s->got[0]);
}

/* At the fork: continuations called, and yet to be called; calls that were given something. */
static struct {
	unsigned called;
	size_t continuations, given;
} queue;

static bool visit(void *nothing, void *object)
{
	(void)nothing;
	(void)object;
	return true;
}

/* The continuation that the victim serves, if it has left the queue and was not called: its object must be active. */
static const char *check_begun(const struct scene *s, const struct operation *o, const struct holding *h)
{
	size_t known = s->held_count + h->count;

	/* Where the operation may take one back (in_hand 0) it may be gone like that. */
	if (!s->queued || !o->in_hand || s->got[0] || queue.continuations + calls == 3)
		return NULL;
	for (size_t i = 0; i < 2; i++)
		known += heirs[i].object != NULL;
	return lfpool_for_each_active(s->pool, visit, NULL) > known
		       ? NULL
		       : "a continuation is gone before anybody has begun to call it";
}

const char *heirs_prepare(struct scene *s, const struct operation *o, struct holding *h)
{
	const char *wrong = peer_drain(s, s->other, h);

	calls = 0;
	for (size_t i = 0; !wrong && i < 2; i++) {
		heirs[i] = (struct heir){0};
		if (lfpool_acquire_async(s->pool, inherit, &heirs[i], NULL) != LFPOOL_OK)
			wrong = "no room for a continuation";
	}
	if (!wrong && h->count && lfpool_release(s->pool, h->objects[--h->count]) != LFPOOL_OK)
		wrong = "a peer's release was refused";
	queue.called = called(s);
	scene_look_at_queue(s, &queue.continuations, &queue.given);
	return wrong ? wrong : check_begun(s, o, h);
}

/* Whoever waits was served, or there is nothing. */
static const char *check_served(const struct scene *s, const struct operation *o)
{
	const bool wanted = scene_waiting(s) || lfpool_shrink_owed(s->pool);
	void *object = lfpool_acquire(s->pool);

	/* What is retired is free when somebody asks. */
	if (object && wanted && !(o->special & (ASKED | TOLD)))
		return "an object is free, and nobody serves those who wait for it";
	return lfpool_release(s->pool, object) == LFPOOL_OK ? NULL : "a peer's release was refused";
}

/* Releases what the victim's caller, the continuations and `h` hold. */
static const char *release_all(struct scene *s, struct holding *h)
{
	const char *wrong = peer_give_back(s->pool, h);

	while (!wrong && s->held_count)
		if (lfpool_release(s->pool, s->held[--s->held_count]) != LFPOOL_OK)
			wrong = "the release of an object that was held is refused";
	return wrong;
}

const char *heirs_inherit(struct scene *s, const struct operation *o, struct holding *h, long *lost_out)
{
	const char *wrong = check_served(s, o);
	long missing, most;

	if (wrong || (wrong = release_all(s, h)) || (wrong = peer_drain(s, NULL, h)))
		return wrong;
	if (called(s) != queue.called + queue.continuations)
		return called(s) < queue.called + queue.continuations ? "a continuation that waited is never called"
								      : "a continuation is called that was called";
	if (heirs[0].calls != 1 || heirs[1].calls != 1 || heirs[0].order > heirs[1].order)
		return "continuations are called twice, or out of turn";
	missing = lost(s, h) - 2;
	most = lost_at_most(s, o, h) - (long)queue.given;
	if (missing < 0)
		return "there are more objects than the pool has";
	if (missing > (most > 0 ? most : 0))
		return "objects are lost that were in nobody's hands";
	*lost_out = missing;
	for (size_t i = 0; i < 2; i++)
		if (lfpool_release(s->pool, heirs[i].object) != LFPOOL_OK)
			return "the release of what a continuation got is refused";
	if ((wrong = release_all(s, h)))
		return wrong;
	(void)scene_close(s);
	return NULL;
}
