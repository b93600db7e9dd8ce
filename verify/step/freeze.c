/* SPDX-License-Identifier: MIT */
/*
 * freeze.c - a thread that stands before any instruction of any operation (operations.c) holds up no other, and takes
 * nothing with it except what is in its hands.  See drive.h.
 *
 * Idea         The driver empties the pool, the peer hears that it is empty; all goes back; both use the pool at once;
 *              the peer empties it, and the driver again.  They must get every object but those that the sleeper's
 *              caller holds, and at most those that are on their way.
 * At the end   The objects of all hands together are the pool's, each once, and each magazine is in one place.
 * Hits         What a hit costs, exact: instructions, and how many of them are locked; call, return and the store of
 *              the result are counted with it.  No hit may contain a locked instruction, and none more instructions
 *              than is written down here: the most of gcc 12 and clang 14, -O2 and -O3, and a tenth, for compilers to
 *              come.  An instruction is no nanosecond, but the count is the same on every machine and on a busy one.
 *              Of a handle's look-up, and of an address's among three pools, the same is asked.  The release that
 *              checks for races must be found to have its one locked instruction.
 * Control      With LFPOOL_BACKEND=mutex in the environment pass `control` must pass.
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

/* ---- The threads: only in the churn do the driver and the peer run at once, on the pool alone ---- */

static void act(void)
{
	(void)hooks_wrong();
	scene_open(&scene, operation);
	signals_begin(&scene, operation);
	drive_moved = scene_operate(&scene, operation);
}

static unsigned peer_rounds; /* of churn; 0: drain */

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

/* ---- A fork while a thread stands and others wait: what the child must find ----
 *
 * Before the fork the driver takes all there is, hands in two continuations, and releases one object: for the first
 * that waits, the victim perhaps.  The child has no thread but the driver's.  What waits there must have
 * been served when fork() returns, as far as there is anything free; when all has been released each
 * continuation has been called once, in order, whatever the victim was doing with it; and every object
 * is there except those in the victim's hands.  What it was given and had not fetched is in no hands.
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

/* At the fork: continuations called, and yet to be called; calls that were given something. */
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

/* The continuation that the victim serves, if it has left the queue and was not called: its object must be active. */
static const char *check_begun(const struct scene *s, const struct operation *o, const struct holding *h)
{
	size_t known = s->held_count + h->count;

	/* Where the operation may take one back (in_hand 0) it may be gone like that. */
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

/* Every waiter was served, or there is nothing. */
static const char *check_served(const struct scene *s, const struct operation *o)
{
	const bool wanted = scene_waiting(s) || lfpool_quick_stats(s->pool).owed;
	void *object = lfpool_acquire(s->pool);

	/* What is retired is free when a thread asks. */
	if (object && wanted && !(o->special & (ASKED | TOLD)))
		return "an object is free, and no thread serves those that wait for it";
	return lfpool_release(s->pool, object) == LFPOOL_OK ? NULL : "a peer's release was refused";
}

/* Releases what the victim's caller, the continuations and `h` hold. */
static const char *release_all(struct scene *s, struct holding *h)
{
	const char *wrong = s->ranked_count ? evictions_settle(s) : NULL;

	if (!wrong)
		wrong = peer_give_back(s->pool, h);
	while (!wrong && s->held_count)
		if (lfpool_release(s->pool, s->held[--s->held_count]) != LFPOOL_OK)
			wrong = "the release of an object that was held is refused";
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
			return "continuations are called twice, or out of turn";
	missing = lost(s, h);
	for (size_t i = 0; i < queue.handed; i++)
		missing -= heirs[i].object != NULL;
	most = lost_at_most(s, o, h) - (long)queue.given;
	if (missing < 0)
		return "there are more objects than the pool has";
	if (missing > (most > 0 ? most : 0))
		return "objects are lost that were in no hands";
	*lost_out = missing;
	for (size_t i = 0; i < 2; i++)
		if (lfpool_release(s->pool, heirs[i].object) != LFPOOL_OK)
			return "the release of what a continuation got is refused";
	return release_all(s, h);
}

/* ---- What the others do ---- */

/* Empties the pool through `cache` into `mine`; NULL, or what is wrong with what there was. */
static const char *drain(lfpool_cache_t *cache, long *worst)
{
	const char *wrong = peer_drain(&scene, cache, &mine);

	return wrong ? wrong : drive_lost(lost(&scene, &mine), lost_at_most(&scene, operation, &mine), worst);
}

/* The peer empties the pool; if the others hold `held` besides, `missing` objects are held by none then. */
static const char *peer_finds(size_t held, long missing, const char *wrong_count)
{
	const char *wrong;

	order_peer(0);
	wrong = worker_answer(&peer);
	return wrong || lost(&scene, &theirs) - (long)held == missing ? wrong : wrong_count;
}

/* What the others do while the victim stands.  Leaves the driver with everything in `mine` if it returns NULL. */
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
	if ((wrong = peer_finds(mine.count, missing,
				"a peer got an object when the driver had been told that there is none")))
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
	if ((wrong = peer_finds(0, missing, "the second peer got another number of objects than the first")))
		return wrong;
	beat("one emptied the pool again");
	if ((wrong = peer_give_back(scene.pool, &theirs)) || (wrong = drain(NULL, worst)))
		return wrong;
	return hooks_wrong() ? "a hook was called out of turn" : NULL;
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
	/* They are the last.  Calls that evict use the thread's own cache, so a signal handler must not make one. */
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
