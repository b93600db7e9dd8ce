/* SPDX-License-Identifier: MIT */
/*
 * evict.c - as freeze.c, of an evicting pool: a thread that stands before any instruction of any operation holds up
 * nobody, takes nothing with it but what is in its hands, and hides nothing: what goes first goes first.  See drive.h.
 *
 * Idea         The driver acquires with the highest priority until that is refused: it must get every object but those that
 *              the sleeper's caller has pinned or not published, and at most the one that the sleeper has in its hands;
 *              and what it evicts must come in order, but for the one that the sleeper is changing.  A second thread finds
 *              nothing more.  What the driver has it publishes, and the second thread releases the least until there is
 *              none: in order again.  Both use the pool at once, and the driver empties it once more.
 *              Pass `meet`: they change but one thing or two (evict_meet.c).
 * At the end   Whatever the sleeper evicted when it went on was the least; the tree is in order; all objects are there,
 *              each once.
 * Hits         How many locked instructions a call makes is part of the design, in a pool of two levels that nobody else
 *              uses: a pin, and an unpin or a publish that climbs nowhere, make one; an update two (the spare record, the
 *              state); each node that is written two more; a question none.  The ceilings are as freeze.c's.
 */
#include "drive.h"
#include "evict.h"

enum order { FIND_NOTHING, RELEASE_ALL, CHURN };

static const struct evict_operation *operation;
static struct evict_scene scene;
static struct share mine; /* the driver's */
static enum order order;
static struct list released; /* by the worker */

/* ---- The threads ---- */

static void act(void *nothing)
{
	(void)nothing;
	evict_scene_open(&scene, operation);
	drive_moved = evict_scene_operate(&scene);
}

static const char *work(void *nothing)
{
	(void)nothing;
	if (order == CHURN)
		return others_churn(&scene, 2, drive_rounds(40, 1000));
	return order == FIND_NOTHING ? others_find_nothing(&scene) : others_release_all_min(&scene, &released);
}

static struct worker worker = {.work = work};

static void give_order(enum order next)
{
	order = next;
	worker_order(&worker);
}

static const char *obey(enum order next)
{
	give_order(next);
	return worker_answer(&worker);
}

/* ---- What the others do while it stands ---- */

/* The driver gets all that is to be had; of items, what is due. */
static const char *empty_pool(long *worst)
{
	struct list due = {.count = 0};
	const char *wrong;

	list_add_items(&due, &scene);
	list_sort(&due);
	if ((wrong = others_take_all(&scene, &mine)))
		return wrong;
	if (!list_is(&due, &mine.evicted, &scene))
		return "objects were not evicted in the right order";

	const char *too_many = drive_lost(lost_of(&scene, &mine), scene.operation->lost, worst);

	return too_many ? too_many : account_handles(&scene);
}

/* What the driver has is published, and released by `by`, the least first. */
static const char *release_in_order(const char *(*by)(void))
{
	struct list due = {.count = 0};
	const char *wrong = others_publish(&scene, &mine, false);

	list_add_share(&due, &mine);
	list_sort(&due);
	mine.count = 0;
	if (wrong || (wrong = by()))
		return wrong;
	return list_is(&due, &released, &scene) ? NULL : "objects were not released in the right order";
}

static const char *worker_releases(void)
{
	return obey(RELEASE_ALL);
}

static const char *driver_releases(void)
{
	return others_release_all_min(&scene, &released);
}

/* Leaves the driver with everything in `mine` if it returns NULL. */
static const char *live_on_without(long *worst)
{
	const char *wrong, *wrong_too;

	beat("one acquired everything");
	if ((wrong = empty_pool(worst)))
		return wrong;
	beat("another looked for more");
	if ((wrong = obey(FIND_NOTHING)))
		return wrong;
	beat("another released everything");
	if ((wrong = release_in_order(worker_releases)))
		return wrong;
	beat("both used the pool");
	give_order(CHURN);
	wrong = others_churn(&scene, 1, drive_rounds(40, 1000));
	wrong_too = worker_answer(&worker);
	if (wrong || wrong_too)
		return wrong ? wrong : wrong_too;
	beat("one acquired everything again");
	if ((wrong = empty_pool(worst)))
		return wrong;
	return evict_hook_wrong() ? "on_evict was told something wrong, or of an object that was still active" : NULL;
}

/* ---- What becomes of it ---- */

/* It has gone on. */
static const char *account_of_it(void)
{
	const char *wrong = account_at_rest(&scene, &mine);

	return !wrong && evict_hook_wrong() ? "on_evict was told something wrong" : wrong;
}

/* It goes on where only little has changed. */
static const char *meet(void)
{
	beat("another met it");
	/* The same again when it is replayed. */
	const long kind = drive_place() + (operation - evict_operations);
	const char *wrong = others_meet(&scene, &mine, (unsigned)kind);

	drive_resume();
	return wrong ? wrong : account_of_it();
}

static const char *live_on(enum pass pass, long *worst)
{
	mine.count = 0;
	return pass == PASS_MEET ? meet() : live_on_without(worst);
}

static const char *give_back(void)
{
	return others_give_back(&scene, &mine);
}

static const char *inherit(enum pass pass, long *worst)
{
	const char *wrong;

	(void)pass;
	if ((wrong = release_in_order(driver_releases)) || (wrong = others_churn(&scene, 1, drive_rounds(40, 1000))))
		return wrong;
	return empty_pool(worst);
}

/* It goes on in a pool where others have published all that there is anew, or two thirds; or where they have it all. */
static const char *go_on(enum pass pass)
{
	const char *wrong = pass == PASS_HOLD ? others_keep(&scene, &mine) : others_publish(&scene, &mine, drive_place() % 2);

	scene.seen = scene.evicted.count;
	drive_resume();
	return wrong ? wrong : account_of_it();
}

/* ---- The program ---- */

static bool choose(size_t index, struct part *part_out)
{
	if (index == evict_operation_count)
		return false;
	operation = &evict_operations[index];
	*part_out = (struct part){.name = operation->name, .moves = operation->moves};
	return true;
}

static const char *check(void)
{
	scene.seen = scene.evicted.count;
	mine.count = 0;
	return account_at_rest(&scene, &mine);
}

static void close_scene(void)
{
	evict_scene_close(&scene);
}

static const struct hit hits[] = {
	{"acquire, a free slot", 119, 2},
	{"publish, climbs nowhere", 375, 1},
	{"publish, climbs to the root", 952, 5},
	{"update, climbs nowhere", 450, 2},
	{"update, becomes the least", 1026, 6},
	{"pin, another", 184, 1},
	{"unpin, climbs nowhere", 387, 1},
	{"release, another", 212, 2},
	{"see the least", 128, 0},
	{"is active", 83, 0},
	{"look", 91, 0},
	{"get", 92, 0},
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
					 .lacks = PASS_HEIRS,
					 .hits = hits,
					 .hit_count = sizeof(hits) / sizeof(*hits)};

	return drive_main(&play, &worker, count, arguments);
}
