/* SPDX-License-Identifier: MIT */
/*
 * freeze.c - a thread stopped before any instruction of any operation (operations.c) blocks no other thread, and
 * takes with it only the objects in its hands.  See drive.h.
 *
 * Idea         The driver empties the pool, and the peer finds it empty.  Everything is released, and both use the
 *              pool at once.  Then the peer empties it, and the driver again.  They must get every object except
 *              those that the sleeper's caller holds, and at most those in transit.
 * At the end   The objects of all hands together are the pool's, each once, and each magazine is in one place.
 * Hits         The exact cost of a hit: instructions, and locked instructions; call, return and the store of the
 *              result are included.  No hit may contain a locked instruction, or more instructions than written here:
 *              the maximum of gcc 12 and clang 14, -O2 and -O3, plus a tenth, for future compilers.  Instructions are
 *              not nanoseconds, but the count is the same on every machine, even a busy one.  The same holds for a
 *              handle's look-up, and for an address's among three pools.  The release that checks for races must have
 *              exactly one locked instruction.
 * Control      With LFPOOL_BACKEND=mutex in the environment the pass `control` must pass.
 */
#include "drive.h"
#include "scene.h"

#include "lfpool/report.h"
#include "lfpool/wait.h"
#include "lfpool/walk.h"

#define STAMP (UINT64_C(1) << 32)

static struct scene scene;
static const struct operation *operation;
static struct holding mine, theirs; /* the driver's, and the peer's */

/* ---- The threads: the driver and the peer run at the same time only in the churn, and use only the pool ---- */

static void act(void)
{
	(void)hooks_wrong();
	scene_open(&scene, operation);
	signals_begin(&scene, operation);
	drive_moved = scene_operate(&scene, operation);
}

static unsigned peer_rounds; /* rounds of churn; 0: drain */

static const char *work(void)
{
	return peer_rounds ? peer_churn(scene.pool, 2 * STAMP, peer_rounds) : peer_drain(&scene, NULL, &theirs);
}

static struct worker peer = {.work = work};

static void order_peer(unsigned rounds)
{
	peer_rounds = rounds;
	worker_order(&peer);
}

/* ---- A fork while a thread is stopped and others wait: the state of the child ----
 *
 * Before the fork the driver acquires everything, queues two continuations, and releases one object: for the first
 * waiter, perhaps the victim.  The child has only the driver's thread.  When fork() returns there, waiters must have
 * been served as far as objects are free.  After everything is released, each continuation has been called once, in
 * order, whatever the victim was doing with it, and every object is there except those in the victim's hands.  An
 * object given to the victim but not fetched is in no hands.
 */

static struct heir {
	void *object;
	unsigned calls, order;
} heirs[2];
static unsigned calls;

static void call_heir(void *context, lfpool_t *pool, void *object)
{
	struct heir *heir = context;

	(void)pool;
	heir->object = object;
	heir->calls++;
	heir->order = ++calls;
}

static unsigned called(const struct scene *s)
{
	return calls + s->called;
}

/* At the fork: continuations called, and still to be called; calls that were given an object. */
static struct {
	unsigned called, handed;
	size_t continuations, given;
} queue;

static bool visit(void *nothing, void *object)
{
	(void)nothing;
	(void)object;
	return true;
}

/* If the continuation that the victim serves has left the queue and was not called, its object must be active. */
static const char *check_begun(const struct scene *s, const struct operation *o, const struct holding *h)
{
	size_t known = s->held_count + h->count;

	/* If the operation may cancel one (in_hand 0), that may explain it. */
	if (!s->queued || !o->in_hand || s->called || o->special & CLOSES || queue.continuations + calls == 3)
		return NULL;
	for (size_t i = 0; i < 2; i++)
		known += heirs[i].object != NULL;
	return lfpool_for_each_active(s->pool, visit, NULL) > known
		       ? NULL
		       : "a continuation is gone before any thread has begun to call it";
}

static const char *heirs_prepare(struct scene *s, const struct operation *o, struct holding *h)
{
	const char *wrong = peer_drain(s, s->other, h);

	calls = queue.handed = 0;
	for (size_t i = 0; !wrong && i < 2; i++) {
		heirs[i] = (struct heir){0};
		const lfpool_status_t status = lfpool_acquire_async(s->pool, call_heir, &heirs[i], NULL);

		if (status == LFPOOL_OK)
			queue.handed++;
		else if (status != LFPOOL_E_CLOSED || !(o->special & CLOSES))
			wrong = "no room for a continuation";
	}
	if (!wrong && h->count && lfpool_release(s->pool, h->objects[--h->count]) != LFPOOL_OK)
		wrong = "a peer's release was refused";
	queue.called = called(s);
	scene_look_at_queue(s, o->special & CLOSES, &queue.continuations, &queue.given);
	return wrong ? wrong : check_begun(s, o, h);
}

/* Every waiter was served, or there is no object. */
static const char *check_served(const struct scene *s, const struct operation *o)
{
	const bool wanted = scene_waiting(s) || lfpool_quick_stats(s->pool).owed;
	void *object = lfpool_acquire(s->pool);

	/* Retired objects become free when a thread polls. */
	if (object && wanted && !(o->special & (ASKED | TOLD)))
		return "an object is free, but no thread serves the waiting calls";
	return lfpool_release(s->pool, object) == LFPOOL_OK ? NULL : "a peer's release was refused";
}

/* Releases the objects of the victim's caller, of the continuations and of `h`. */
static const char *release_all(struct scene *s, struct holding *h)
{
	const char *wrong = s->ranked_count ? evictions_settle(s) : NULL;

	if (!wrong)
		wrong = peer_give_back(s->pool, h);
	while (!wrong && s->held_count)
		if (lfpool_release(s->pool, s->held[--s->held_count]) != LFPOOL_OK)
			wrong = "the release of a held object was refused";
	return wrong;
}

static const char *heirs_inherit(struct scene *s, const struct operation *o, struct holding *h, long *lost_out)
{
	const char *wrong = check_served(s, o);
	long missing, most;

	if (wrong || (wrong = release_all(s, h)) || (wrong = peer_drain(s, NULL, h)))
		return wrong;
	if (called(s) != queue.called + queue.continuations)
		return called(s) < queue.called + queue.continuations ? "a continuation that waited is never called"
								      : "a continuation is called that was called";
	for (size_t i = 0; i < queue.handed; i++)
		if (heirs[i].calls != 1 || heirs[0].order > heirs[i].order)
			return "continuations were called twice, or out of order";
	missing = lost(s, h);
	for (size_t i = 0; i < queue.handed; i++)
		missing -= heirs[i].object != NULL;
	most = lost_at_most(s, o, h) - (long)queue.given;
	if (missing < 0)
		return "there are more objects than the pool has";
	if (missing > (most > 0 ? most : 0))
		return "objects are lost that no call held";
	*lost_out = missing;
	for (size_t i = 0; i < 2; i++)
		if (lfpool_release(s->pool, heirs[i].object) != LFPOOL_OK)
			return "the release of a continuation's object was refused";
	return release_all(s, h);
}

/* ---- The others' part ---- */

/* Empties the pool through `cache` into `mine`; NULL, or an error. */
static const char *drain(lfpool_cache_t *cache, long *worst)
{
	const char *wrong = peer_drain(&scene, cache, &mine);

	return wrong ? wrong : drive_lost(lost(&scene, &mine), lost_at_most(&scene, operation, &mine), worst);
}

/* The peer empties the pool; if the others also hold `held`, then `missing` objects have no holder. */
static const char *peer_finds(size_t held, long missing, const char *wrong_count)
{
	const char *wrong;

	order_peer(0);
	wrong = worker_answer(&peer);
	return wrong || lost(&scene, &theirs) - (long)held == missing ? wrong : wrong_count;
}

/* The others' part while the victim stands.  If it returns NULL the driver holds everything in `mine`. */
static const char *live_on_without(long *worst)
{
	const unsigned rounds = drive_rounds(128, 10000);
	const char *wrong, *wrong_too;
	long missing;

	if (operation->special & AMONG_POOLS) {
		beat("pools were created and destroyed");
		if ((wrong = peer_make_pools(&scene)))
			return wrong;
	}
	if ((wrong = peer_return_lent(&scene)))
		return wrong;
	/* First of all, as the user of the cache that the victim may be about to rob. */
	beat("one emptied the pool");
	if ((wrong = drain(scene.other, worst)))
		return wrong;
	missing = lost(&scene, &mine);
	if ((wrong = peer_finds(mine.count, missing, "a peer got an object after the driver got NULL")))
		return wrong;
	beat("both used the pool");
	if ((wrong = peer_give_back(scene.pool, &mine)))
		return wrong;
	order_peer(rounds);
	wrong = peer_churn(scene.pool, STAMP, rounds);
	wrong_too = worker_answer(&peer);
	if (wrong || wrong_too)
		return wrong ? wrong : wrong_too;
	beat("the other emptied the pool");
	if ((wrong = peer_finds(0, missing, "the peers got different numbers of objects")))
		return wrong;
	beat("one emptied the pool again");
	if ((wrong = peer_give_back(scene.pool, &theirs)) || (wrong = drain(NULL, worst)))
		return wrong;
	return hooks_wrong() ? "a hook was called in a wrong order" : NULL;
}

static const char *live_on(long *worst)
{
	const char *wrong;

	if (drive_pass != PASS_HEIRS)
		return live_on_without(worst);
	return (wrong = peer_return_lent(&scene)) ? wrong : heirs_prepare(&scene, operation, &mine);
}

static const char *give_back(void)
{
	return peer_give_back(scene.pool, &mine);
}

static const char *inherit(long *worst)
{
	const char *wrong;

	(void)scene_damages();
	if (drive_pass == PASS_HEIRS)
		wrong = heirs_inherit(&scene, operation, &mine, worst);
	else if (!(wrong = give_back()) && !(wrong = peer_churn(scene.pool, STAMP, drive_rounds(128, 10000))))
		wrong = drain(NULL, worst);
	if (wrong)
		return wrong;
	(void)scene_close(&scene);
	return scene_damages() ? "a debug mode takes the child's copy of the pool for damaged" : NULL;
}

static const char *go_on(void)
{
	const char *wrong = drive_pass == PASS_HOLD ? NULL : give_back();

	if (operation->special & EVICTS)
		evictions_refill(&scene);
	drive_resume();
	return wrong ? wrong : account(&scene, operation, &mine);
}

/* ---- The program ---- */

static bool choose(size_t index, struct part *part_out)
{
	if (!(operation = operation_at(index)))
		return false;
	/* They come last.  Evicting calls use the thread's own cache, so a signal handler must not make such calls. */
	if (operation->special & EVICTS && (drive_pass == PASS_EMPTY || drive_pass == PASS_OWN))
		return false;
	*part_out = (struct part){.name = operation->name,
				  .moves = operation->moves,
				  .in_program = operation->special & IN_PROGRAM,
				  .locks = operation->special & LOCKS};
	return true;
}

static const char *check(void)
{
	return scene.wrong;
}

static void close_scene(void)
{
	(void)scene_close(&scene);
}

const struct play pool_play = {
	.choose = choose,
	.act = act,
	.close = close_scene,
	.check = check,
	.live_on = live_on,
	.give_back = give_back,
	.go_on = go_on,
	.inherit = inherit,
	.worker = &peer,
	.hits =
		{
			{"acquire hit, inlined", 24, 0},
			{"release hit, inlined", 32, 0},
			{"acquire hit, function", 33, 0},
			{"release hit, function", 50, 0},
			{"acquire hit, thread's cache", 47, 0},
			{"release hit, thread's cache", 58, 0},
			{"acquire hit, built before", 30, 0},
			{"release hit, built before", 40, 0},
			{"handle of", 76, 0},
			{"resolve", 65, 0},
			{"pool of", 101, 0},
			{"release, races checked", 190, 1},
		},
};
