/* SPDX-License-Identifier: MIT */
/*
 * soak_others.c - two more pools of the scenario soak, which every thread uses in addition to the first.
 *
 * Built        hooks.create builds each object once, and hooks.deactivate refuses one use in 64, so that object is
 *              destroyed, and built again later.  The pool grows automatically.  Half of the objects are retired
 *              instead of released.  (Objects own no memory of the heap: its fragments would count as a leak.)
 * Scheme       A counter, as in retire.c: a thread publishes the counter's value while it is inside a step, and
 *              otherwise 0.  A batch is ready once no thread is in a step that began before the batch.
 * Evicting     The pool is full most of the time, so most acquires evict.
 * Checked      Each hook finds its object in the state that the hook before left.  After each cycle nothing is active
 *              or retired.  As many objects were destroyed as were created, after each cycle's trim and at the end.
 */
#include "soak_others.h"

#include "lfpool/evict.h"
#include "lfpool/handle.h"
#include "lfpool/resize.h"
#include "lfpool/retire.h"

#include <inttypes.h>
#include <sched.h>
#include <string.h>

enum { BLOCK_BYTES = 500, BUILT_BASE = 64, BUILT_MOST = 4096, AT_ONCE = 8, VOICES_BASE = 16, VOICES_MOST = 64 };

struct built {
	bool is_built, active, bad;
	unsigned char block[BLOCK_BYTES];
};

static struct {
	lfpool_t *built, *evicting;
	_Atomic(size_t) created, destroyed, victims;
	_Alignas(64) _Atomic(uint64_t) now;
	struct stand {
		_Alignas(64) _Atomic(uint64_t) at; /* 0: in no step */
	} stands[THREADS_MAX];
} others;

/* ---- Hooks ---- */

static bool create(void *context, void *object)
{
	struct built *built = object;

	(void)context;
	expect(!built->is_built, "hooks.create: the object is built");
	*built = (struct built){.is_built = true};
	count_up(&others.created);
	return true;
}

static bool activate(void *context, void *object)
{
	struct built *built = object;

	(void)context;
	expect(built->is_built && !built->active, "hooks.activate: the object is not free");
	built->active = true;
	return true;
}

static bool deactivate(void *context, void *object)
{
	struct built *built = object;

	(void)context;
	expect(built->is_built && built->active, "hooks.deactivate: the object is not active");
	built->active = false;
	return !built->bad;
}

static void destroy(void *context, void *object)
{
	struct built *built = object;

	(void)context;
	expect(built->is_built && !built->active, "hooks.destroy: the object is not free");
	built->is_built = false;
	count_up(&others.destroyed);
}

static void evicted(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	(void)context, (void)handle, (void)priority;
	memset(object, 0, sizeof(unsigned));
	count_up(&others.victims);
}

/* ---- The scheme ---- */

static void begin(void *context, lfpool_batch_t *batch)
{
	(void)context;
	batch->room[0] = atomic_fetch_add(&others.now, 1) + 1;
}

static bool ready(void *context, const lfpool_batch_t *batch)
{
	(void)context;
	for (unsigned i = 0; i < current.threads; i++) {
		const uint64_t at = atomic_load(&others.stands[i].at);

		if (at && at < batch->room[0])
			return false;
	}
	return true;
}

/* ---- Life ---- */

static lfpool_t *open_pool(lfpool_config_t *config)
{
	lfpool_t *pool;
	const lfpool_status_t status = lfpool_create(&pool, config);

	if (status != LFPOOL_OK) {
		say("lfpool-stress: another pool of soak: %s\n", lfpool_status_string(status));
		exit(EXIT_STUCK);
	}
	return pool;
}

void others_open(void)
{
	lfpool_config_t built = LFPOOL_CONFIG_INIT, evicting = LFPOOL_CONFIG_INIT;

	memset(&others, 0, sizeof(others));
	atomic_init(&others.now, 1);
	built.name = "built";
	built.object_size = sizeof(struct built);
	built.capacity = built.growth_step = BUILT_BASE;
	built.max_capacity = BUILT_MOST;
	built.hooks = (lfpool_hooks_t){
		.create = create, .activate = activate, .deactivate = deactivate, .destroy = destroy};
	built.scheme = (lfpool_scheme_t){.begin = begin, .ready = ready};
	built.backend = current.config.backend;
	others.built = open_pool(&built);
	evicting.name = "evicting";
	evicting.object_size = 64;
	evicting.capacity = evicting.growth_step = VOICES_BASE;
	evicting.max_capacity = VOICES_MOST;
	evicting.evict = LFPOOL_EVICT_LESS_OR_EQUAL;
	evicting.hooks.evict = evicted;
	evicting.backend = current.config.backend;
	others.evicting = open_pool(&evicting);
}

void others_rest(void)
{
	expect(doing(lfpool_drain)(others.built) == LFPOOL_OK, "lfpool_drain() of the pool with hooks fails");
	while (doing(lfpool_release_least)(others.evicting, SIZE_MAX))
		;
	for (int i = 0; i < 2; i++) {
		lfpool_t *pool = i ? others.evicting : others.built;
		const size_t base = i ? VOICES_BASE : BUILT_BASE, active = lfpool_active_count(pool);

		expect(!active, "%zu objects of the pool %s are active", active, i ? "that evicts" : "with hooks");
		(void)doing(lfpool_shrink)(pool, lfpool_capacity(pool) - base);
		while (doing(lfpool_trim)(pool, 0, SIZE_MAX))
			;
	}
	/* relaxed: no other thread is in a call. */
	expect(load_relaxed(&others.created) == load_relaxed(&others.destroyed), "%zu objects created, %zu destroyed",
	       load_relaxed(&others.created), load_relaxed(&others.destroyed));

	lfpool_stats_t built, evicting;

	others_stats(&built, &evicting);
	expect(evicting.evicted == load_relaxed(&others.victims), "%zu calls of hooks.evict for %" PRIu64 " evictions",
	       load_relaxed(&others.victims), evicting.evicted);
}

void others_stats(lfpool_stats_t *built_out, lfpool_stats_t *evicting_out)
{
	(void)lfpool_stats(others.built, built_out);
	(void)lfpool_stats(others.evicting, evicting_out);
}

void others_close(void)
{
	expect(lfpool_destroy(others.built) == 0, "the pool with hooks has active objects");
	expect(lfpool_destroy(others.evicting) == 0, "the pool that evicts has active objects");
	/* relaxed: no other thread is left. */
	expect(load_relaxed(&others.created) == load_relaxed(&others.destroyed), "%zu objects created, %zu destroyed",
	       load_relaxed(&others.created), load_relaxed(&others.destroyed));
}

/* ---- Work ---- */

static void use_built(struct worker *worker)
{
	struct built *objects[AT_ONCE];
	const size_t wanted = 1 + draw(worker, AT_ONCE);
	size_t count = 0;

	while (count < wanted && (objects[count] = doing(lfpool_acquire)(others.built))) {
		expect(objects[count]->active, "an object that hooks.activate did not see");
		memset(objects[count]->block, (int)worker->index, BLOCK_BYTES);
		count++;
	}
	for (size_t i = 0; i < count; i++) {
		expect(objects[i]->block[BLOCK_BYTES - 1] == (unsigned char)worker->index, "an object has two users");
		objects[i]->bad = chance(worker, 64);

		const lfpool_status_t status = chance(worker, 2) ? doing(lfpool_retire)(others.built, objects[i])
								 : doing(lfpool_release)(others.built, objects[i]);

		expect(status == LFPOOL_OK, "a release of an object with hooks: %s", lfpool_status_string(status));
	}
}

static void use_evicting(struct worker *worker)
{
	lfpool_handle_t handle;
	unsigned *object = doing(lfpool_acquire_evicting)(others.evicting, draw(worker, 1000), &handle);

	if (!object)
		return;
	*object = worker->index + 1;
	if (chance(worker, 16))
		(void)sched_yield();
	expect(*object == worker->index + 1, "a pinned object has two users");

	const lfpool_status_t status = doing(lfpool_unpin)(others.evicting, handle);

	expect(status == LFPOOL_OK, "the first unpin: %s", lfpool_status_string(status));
	/* The object may be evicted by now. */
	if (chance(worker, 4))
		(void)doing(lfpool_set_priority)(others.evicting, handle, draw(worker, 1000));
	if (chance(worker, 64))
		(void)doing(lfpool_release_least)(others.evicting, VOICES_BASE);
}

void others_step(struct worker *worker)
{
	_Atomic(uint64_t) *stand = &others.stands[worker->index].at;

	atomic_store(stand, atomic_load(&others.now));
	use_built(worker);
	atomic_store(stand, 0);
	use_evicting(worker);
}
