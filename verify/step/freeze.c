/* SPDX-License-Identifier: MIT */
/*
 * freeze.c - a thread that stands before any instruction of any operation (operations.c) holds up nobody, and takes nothing
 * with it but what is in its hands.  See drive.h.
 *
 * Idea         The driver empties the pool, the peer hears that it is empty; all goes back; both use the pool at once; the
 *              peer empties it, and the driver again.  They must get every object but those that the sleeper's caller
 *              holds, and at most those that are on their way.
 * At the end   The objects of all hands together are the pool's, each once, and each magazine is in one place.
 * Hits         What a hit costs, exact: instructions, and how many of them are locked; call, return and the store of the
 *              result are counted with it.  No hit may contain a locked instruction, and none more instructions than is
 *              written down here: the most of gcc 12 and clang 14, -O2 and -O3, and a tenth, for compilers to come.  An
 *              instruction is no nanosecond, but the count is the same on every machine and on a busy one.  Of a handle's
 *              look-up, and of an address's among three pools, the same is asked.  The release that checks for races must
 *              be found to have its one locked instruction.
 * Control      With LFPOOL_BACKEND=mutex in the environment pass `control` must pass.
 */
#include "drive.h"
#include "hooks.h"
#include "peers.h"

#define STAMP (UINT64_C(1) << 32)

static struct scene scene;
static const struct operation *operation;
static struct holding mine, theirs; /* the driver's, and the peer's */

/* ---- The threads: only in the churn do the driver and the peer run at once, on the pool alone ---- */

static void act(void *nothing)
{
	(void)nothing;
	(void)hooks_wrong();
	scene_open(&scene, operation);
	drive_moved = scene_operate(&scene, operation);
}

static unsigned peer_rounds; /* of churn; 0: drain */

static const char *work(void *nothing)
{
	(void)nothing;
	return peer_rounds ? peer_churn(scene.pool, 2 * STAMP, peer_rounds) : peer_drain(&scene, NULL, &theirs);
}

static struct worker peer = {.work = work};

static void order_peer(unsigned rounds)
{
	peer_rounds = rounds;
	worker_order(&peer);
}

/* ---- What the others do ---- */

/* Empties the pool through `cache` into `mine`; NULL, or what is wrong with what there was. */
static const char *drain(lfpool_cache_t *cache, long *worst)
{
	const char *wrong = peer_drain(&scene, cache, &mine);

	return wrong ? wrong : drive_lost(lost(&scene, &mine), lost_at_most(&scene, operation, &mine), worst);
}

/* The peer empties the pool; if the others hold `held` besides, `missing` objects must be nobody's then. */
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
	if ((wrong = peer_finds(mine.count, missing, "a peer got an object when the driver had been told that there is none")))
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

static const char *live_on(enum pass pass, long *worst)
{
	const char *wrong;

	if (pass != PASS_HEIRS)
		return live_on_without(worst);
	return (wrong = peer_return_lent(&scene)) ? wrong : heirs_prepare(&scene, operation, &mine);
}

static const char *give_back(void)
{
	return peer_give_back(scene.pool, &mine);
}

static const char *inherit(enum pass pass, long *worst)
{
	const char *wrong;

	if (pass == PASS_HEIRS)
		return heirs_inherit(&scene, operation, &mine, worst);
	if ((wrong = give_back()) || (wrong = peer_churn(scene.pool, STAMP, drive_rounds(128, 10000))))
		return wrong;
	return drain(NULL, worst);
}

static const char *go_on(enum pass pass)
{
	const char *wrong = pass == PASS_HOLD ? NULL : give_back();

	drive_resume();
	return wrong ? wrong : account(&scene, operation, &mine);
}

/* ---- The program ---- */

static bool choose(size_t index, struct part *part_out)
{
	if (!(operation = operation_at(index)))
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

static const struct hit hits[] = {
	{"acquire hit, inlined", 24, 0},
	{"release hit, inlined", 32, 0},
	{"acquire hit, function", 33, 0},
	{"release hit, function", 50, 0},
	{"acquire hit, thread's cache", 47, 0},
	{"release hit, thread's cache", 58, 0},
	{"acquire hit, built before", 30, 0},
	{"release hit, built before", 40, 0},
	{"handle of", 70, 0},
	{"resolve", 65, 0},
	{"pool of", 101, 0},
	{"release, races checked", 190, 1},
};

int main(int count, char **arguments)
{
	static const struct play play = {.choose = choose,
					 .act = act,
					 .close = close_scene,
					 .check = check,
					 .live_on = live_on,
					 .give_back = give_back,
					 .go_on = go_on,
					 .inherit = inherit,
					 .lacks = PASS_MEET,
					 .hits = hits,
					 .hit_count = sizeof(hits) / sizeof(*hits)};

	return drive_main(&play, &peer, count, arguments);
}
