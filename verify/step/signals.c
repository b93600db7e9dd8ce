/* SPDX-License-Identifier: MIT */
/*
 * signals.c - a signal handler with a separate cache uses the pool before any instruction of any operation.
 *
 * Idea         There is one thread.  The handler of the trap before an instruction of the operation is the signal
 *              handler.  It makes every call that docs/signals.md allows, acquires every free object, and releases
 *              all, before instruction n, for every n.
 * Checks       No object that another call holds; NULL only if the missing objects are those that the interrupted
 *              call may hold, as when a thread is stopped there; errno is unchanged; nothing waits.  At the end the
 *              pool is whole, each object once.
 * Control      `own`: the handler uses the cache, or the thread, that it has interrupted.  That must fail.
 */
#include "drive.h"
#include "scene.h"

#include "lfpool/handle.h"
#include "lfpool/report.h"

#include <errno.h>

#define ERRNO_OURS 4242

static struct scene *scene;
static const struct operation *operation;
static const char *wrong;

/* ---- The signal handler ---- */

static bool has_no_caches(void)
{
	return operation->cache_capacity == LFPOOL_CACHE_NONE;
}

/* If threads have no caches, some calls use none either. */
static lfpool_cache_t *cache_here(void)
{
	return drive_pass == PASS_OWN ? scene->mine : has_no_caches() && drive_place() % 2 ? NULL : scene->other;
}

static void release_here(lfpool_cache_t *cache, void *object)
{
	if ((cache ? lfpool_cache_release(cache, object) : lfpool_release(scene->pool, object)) != LFPOOL_OK)
		wrong = "the handler's release was refused";
}

static void ask(void *object)
{
	const lfpool_handle_t handle = lfpool_handle_of(scene->pool, object);
	lfpool_stats_t stats;

	if (!lfpool_in_use(scene->pool, object))
		wrong = "the handler's object is not in use";
	/* The maximum of a closed pool is 0. */
	if (lfpool_of(object) != scene->pool ||
	    (!scene_closed(scene) &&
	     lfpool_index_of(scene->pool, object) >= lfpool_quick_stats(scene->pool).max_capacity))
		wrong = "the handler's object is not the pool's";
	if (handle && lfpool_resolve(scene->pool, handle) != object)
		wrong = "the handler's object has a wrong handle";
	if (!lfpool_owns(scene->pool, object) || lfpool_available_count(scene->pool) > lfpool_capacity(scene->pool) ||
	    lfpool_quick_stats(scene->pool).misuses)
		wrong = "an object is not owned, a count is beyond the capacity, or there was misuse";
	if (lfpool_active_count(scene->pool) > lfpool_capacity(scene->pool) ||
	    lfpool_stats(scene->pool, &stats) != LFPOOL_OK || stats.active > stats.capacity)
		wrong = "a count is beyond the capacity";
}

static void take_all(void)
{
	static struct holding h;
	lfpool_cache_t *cache = cache_here();
	void *object;

	if (cache && lfpool_cache_acquire_bulk(cache, &object, 1))
		release_here(cache, object);

	const char *wrong_here = peer_drain(scene, cache, &h);

	if (wrong_here)
		wrong = wrong_here;
	else if (lost(scene, &h) < 0)
		wrong = "there are more objects than the pool has";
	else if (lost(scene, &h) > lost_at_most(scene, operation, &h))
		wrong = "the handler got NULL, but more objects are free than the call may hold";
	if (h.count)
		ask(h.objects[0]);
	if (cache && h.count % 2) {
		if (lfpool_cache_release_bulk(cache, h.objects, h.count) != h.count)
			wrong = "the handler's bulk release was refused";
		return;
	}
	while (h.count)
		release_here(cache, h.objects[--h.count]);
}

void signals_handle(void)
{
	errno = ERRNO_OURS;
	/* The handler serves a waiting call. */
	while (scene->lent_count)
		release_here(scene->other, scene->lent[--scene->lent_count]);
	scene_await_caller(scene);
	take_all();
	if (errno != ERRNO_OURS)
		wrong = "errno was changed";
}

void signals_begin(struct scene *s, const struct operation *o)
{
	scene = s;
	operation = o;
	wrong = NULL;
}

const char *signals_end(void)
{
	struct holding h = {.count = 0};
	/* The handler has done what the operation needs to finish, or it is done now. */
	const char *refused = peer_return_lent(scene);

	return wrong ? wrong : refused ? refused : account(scene, operation, &h);
}
