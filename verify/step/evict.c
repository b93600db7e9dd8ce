/* SPDX-License-Identifier: MIT */
/*
 * evict.c - as freeze.c, of an evicting pool: a thread that stands before any instruction of any operation holds up no other, takes
 * nothing with it except what is in its hands, and hides nothing: what goes first goes first.  See drive.h.
 *
 * Idea         The driver acquires with the highest priority until that is refused: it must get every object except those that
 *              the sleeper's caller has pinned or not published, and at most the one that the sleeper has in its hands;
 *              and what it evicts must come in order, except the one that the sleeper is changing.  A second thread finds
 *              nothing more.  What the driver has it publishes, and the second thread releases the least until there is
 *              none: in order again.  The driver empties it once more.
 *              Pass `meet`: they change two things.
 * Order        What can be evicted, and in which order, follows from priorities and handles alone (the age is in the
 *              handle).  Of a change under way either may be seen, that it has happened or not yet, and for a moment
 *              neither: so while the sleeper stands one item, which it may be changing, is left out of the comparison.
 *              When it has finished nothing is left out.
 * At the end   Whatever the sleeper evicted when it went on was the least; the tree is in order; all objects are there,
 *              each once.
 * Hits         How many locked instructions a call makes is part of the design, in a pool of two levels that no other thread
 *              uses: a pin, and an unpin or a publish that climbs nowhere, make one; an update two (the spare record, the
 *              state); each node that is written two more; a question none.  The ceilings are as freeze.c's.
 */
#include "drive.h"
#include "evict.h"

#define AGE_SHIFT 20 /* a handle: {acquires before it, slot} */

enum order { FIND_NOTHING, RELEASE_ALL };

static const struct evict_operation *operation;
static struct evict_scene scene;
static enum order order;
static struct list released; /* by the worker */

/* ---- Lists ---- */

static void list_add(struct list *list, const struct items *items)
{
	for (size_t i = 0; i < items->count; i++) {
		if (!item_can_go(&items->of[i]))
			continue;
		list->of[list->count].handle = items->of[i].handle;
		list->of[list->count++].priority = items->of[i].priority;
	}
}

static bool goes_after(const struct list *list, size_t a, size_t b)
{
	if (list->of[a].priority != list->of[b].priority)
		return list->of[a].priority > list->of[b].priority;
	return list->of[a].handle >> AGE_SHIFT > list->of[b].handle >> AGE_SHIFT;
}

/* What of these, and of others if there are, can be evicted, in the order in which it goes. */
static struct list list_due(const struct items *items, const struct items *others)
{
	struct list list = {.count = 0};

	list_add(&list, items);
	if (others)
		list_add(&list, others);
	for (size_t i = 1; i < list.count; i++) {
		for (size_t k = i; k && goes_after(&list, k - 1, k); k--) {
			const struct list before = list;

			list.of[k] = before.of[k - 1];
			list.of[k - 1] = before.of[k];
		}
	}
	return list;
}

/* Leaving out `skip`, wherever it stands. */
static bool are_equal(const struct list *a, const struct list *b, lfpool_handle_t skip)
{
	size_t i = 0, k = 0;

	for (;;) {
		i += i < a->count && a->of[i].handle == skip;
		k += k < b->count && b->of[k].handle == skip;
		if (i == a->count || k == b->count)
			return i == a->count && k == b->count;
		if (a->of[i].handle != b->of[k].handle || a->of[i].priority != b->of[k].priority)
			return false;
		i++, k++;
	}
}

/* Where it stands in the list, it has its old priority, or the one that it is given. */
static bool has_a_priority(const struct item *item, const struct list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->of[i].handle == item->handle && list->of[i].priority != item->priority &&
		    !(item == scene.mine && list->of[i].priority == scene.priority))
			return false;
	return true;
}

/* Is `evicted` what was due, in this order, except perhaps the one item that the sleeper is changing? */
static bool is_due(const struct list *due, const struct list *evicted)
{
	if (are_equal(due, evicted, 0))
		return true;
	for (size_t i = 0; i < scene.items.count; i++) {
		const struct item *item = &scene.items.of[i];

		if (item->uncertain && are_equal(due, evicted, item->handle))
			return has_a_priority(item, evicted);
	}
	return false;
}

/* Items that cannot be evicted, and cannot be acquired. */
static size_t kept(const struct items *items)
{
	size_t count = 0;

	for (size_t i = 0; i < items->count; i++)
		count += !items->of[i].uncertain && item_is_in_use(&items->of[i]) && !item_can_go(&items->of[i]);
	return count;
}

/* ---- What must be true ---- */

/* Handles of items that were evicted name nothing; those of pinned ones name what they named. */
static const char *check_handles(void)
{
	for (size_t i = 0; i < scene.items.count; i++) {
		const struct item *item = &scene.items.of[i];
		uint64_t priority;

		if (item->evicted > 1)
			return "an object was evicted twice";
		if (item->evicted && !names_nothing(scene.pool, item->handle))
			return "the handle of an object that was evicted names something";
		if (!item_is_in_use(item) || item_can_go(item) || item->uncertain)
			continue;
		if (!object_is_marked(item->object, item->handle))
			return "another thread has written to an object that is pinned, or new";
		if (item != scene.mine && item->state == ACTIVE &&
		    (lfpool_priority_look(scene.pool, item->handle) != item->object ||
		     !lfpool_priority_get(scene.pool, item->handle, &priority) || priority != item->priority))
			return "the handle of a pinned object does not name it";
	}
	return NULL;
}

/* What it has evicted since it went on was the least, each time, of what the others had published. */
static const char *check_its_evictions(void)
{
	const struct list *due = &scene.due;
	size_t next = 0;

	for (size_t i = scene.seen; i < scene.evicted.count; i++) {
		const lfpool_handle_t handle = scene.evicted.of[i].handle;
		const struct item *item = item_of(&scene.items, handle);

		/* Taken before it stood. */
		if (item && item->uncertain)
			continue;
		if (next == due->count || due->of[next++].handle != handle)
			return "when it went on, it evicted what was not the least";
	}
	if (scene.has_peeked && scene.peeked != scene.mine->handle && scene.peeked != (due->count ? due->of[0].handle : 0))
		return "it was told of a least that never was the least";
	return NULL;
}

/* No thread has anything: all objects are there, each once, and go in the right order. */
static const char *check_empty(void)
{
	struct items all = {.count = 0};
	const char *wrong;

	if (lfpool_priority_count(scene.pool))
		return "all has come back, and something is in use";
	if ((wrong = others_take_all(&scene, &all)))
		return wrong;
	if (all.count != lfpool_priority_capacity(scene.pool) || all.evicted.count)
		return "objects are missing at the end, or something was left to be evicted";
	if ((wrong = others_publish(&scene, &all)))
		return wrong;

	const struct list due = list_due(&all, NULL);

	if ((wrong = others_release_all_min(&scene, &released)))
		return wrong;
	return are_equal(&due, &released, 0) ? NULL : "in the end objects do not go in the right order";
}

/* The sleeper has finished, and no thread is in a call.  Uses up the scene. */
static const char *account(void)
{
	static struct items rest;
	const char *wrong = scene.wrong;

	if (wrong || (!scene.met && (wrong = check_its_evictions())) || (wrong = lfpool_priority_check(scene.pool, NULL)))
		return wrong;
	for (size_t i = 0; i < scene.items.count; i++)
		scene.items.of[i].uncertain = false;

	const struct list due = list_due(&scene.items, &scene.others);
	const size_t held = kept(&scene.items) + kept(&scene.others);

	if ((wrong = others_take_all(&scene, &rest)))
		return wrong;
	if (!are_equal(&due, &rest.evicted, 0))
		return "at rest, objects do not go in the right order";
	if (rest.count + held != lfpool_priority_capacity(scene.pool))
		return "at rest, objects are missing";
	if ((wrong = check_handles()) || (wrong = give_back_all(&scene, &rest)) ||
	    (wrong = give_back_all(&scene, &scene.others)) || (wrong = give_back_all(&scene, &scene.items)) ||
	    (wrong = check_empty()) || (wrong = lfpool_priority_check(scene.pool, NULL)))
		return wrong;
	return evict_hook_wrong() ? "on_evict was told something wrong" : NULL;
}

/* ---- The threads ---- */

static void act(void)
{
	evict_scene_open(&scene, operation);
	drive_moved = evict_scene_operate(&scene);
}

static const char *work(void)
{
	return order == FIND_NOTHING ? others_find_nothing(&scene) : others_release_all_min(&scene, &released);
}

static struct worker worker = {.work = work};

static const char *obey(enum order next)
{
	order = next;
	worker_order(&worker);
	return worker_answer(&worker);
}

/* ---- What the others do while it stands ---- */

/* The driver gets all that there is; of items, what is due. */
static const char *empty_pool(long *worst)
{
	const struct list due = list_due(&scene.items, NULL);
	const char *wrong;

	scene.others.count = 0;
	if ((wrong = others_take_all(&scene, &scene.others)))
		return wrong;
	if (!is_due(&due, &scene.others.evicted))
		return "objects were not evicted in the right order";

	const size_t found = scene.others.count + kept(&scene.items);

	wrong = drive_lost((long)lfpool_priority_capacity(scene.pool) - (long)found, scene.operation->lost, worst);
	return wrong ? wrong : check_handles();
}

/* What the driver has is published, and released, the least first: by the worker, or by the driver. */
static const char *release_in_order(bool by_worker)
{
	const char *wrong = others_publish(&scene, &scene.others);
	const struct list due = list_due(&scene.others, NULL);

	if (wrong || (wrong = by_worker ? obey(RELEASE_ALL) : others_release_all_min(&scene, &released)))
		return wrong;
	scene.others.count = 0;
	return is_due(&due, &released) ? NULL : "objects were not released in the right order";
}

/* Leaves the driver with everything if it returns NULL. */
static const char *live_on_without(long *worst)
{
	const char *wrong;

	beat("one acquired everything");
	if ((wrong = empty_pool(worst)))
		return wrong;
	beat("another looked for more");
	if ((wrong = obey(FIND_NOTHING)))
		return wrong;
	beat("another released everything");
	if ((wrong = release_in_order(true)))
		return wrong;
	beat("one acquired everything again");
	if ((wrong = empty_pool(worst)))
		return wrong;
	return evict_hook_wrong() ? "on_evict was told something wrong, or of an object that was still active" : NULL;
}

/* It goes on where only little has changed. */
static const char *meet(void)
{
	beat("another met it");

	const char *wrong = others_meet(&scene);

	drive_resume();
	return wrong ? wrong : account();
}

static const char *live_on(long *worst)
{
	return drive_pass == PASS_MEET ? meet() : live_on_without(worst);
}

static const char *give_back(void)
{
	return give_back_all(&scene, &scene.others);
}

static const char *inherit(long *worst)
{
	const char *wrong = release_in_order(false);

	return wrong ? wrong : empty_pool(worst);
}

/* It goes on in a pool where others have published all that there is anew. */
static const char *go_on(void)
{
	const char *wrong = others_publish(&scene, &scene.others);

	scene.seen = scene.evicted.count;
	scene.due = list_due(&scene.others, NULL);
	drive_resume();
	return wrong ? wrong : account();
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
	return account();
}

static void close_scene(void)
{
	(void)lfpool_priority_destroy(scene.pool);
}

const struct play evict_play = {
	.choose = choose,
	.act = act,
	.close = close_scene,
	.check = check,
	.live_on = live_on,
	.give_back = give_back,
	.go_on = go_on,
	.inherit = inherit,
	.worker = &worker,
	.passes = 1u << PASS_GIVE_BACK | 1u << PASS_NEVER | 1u << PASS_FORK | 1u << PASS_CONTROL | 1u << PASS_HITS |
		  1u << PASS_MEET,
	.hits =
		{
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
		},
};
