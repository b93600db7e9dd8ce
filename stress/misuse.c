/* SPDX-License-Identifier: MIT */
/*
 * misuse.c - scenario: wrong releases amid honest work.
 *
 * Foreign and interior pointers go to the pool that every thread works on: each must be refused with the right status,
 * and nothing else may be harmed.  An object that was just released may belong to another thread a moment later, so double
 * releases go to a pool that the thread has for itself.
 */
#include "scenario.h"

#define HOLD_MAX 8
#define PRIVATE_CAPACITY 16

/* A pool that no other thread uses. */
struct private_pool {
	lfpool_t *pool;
	lfpool_cache_t *cache;
	void *object; /* active, foreign to every other pool */
	size_t provoked;
	_Atomic(size_t) reported;
};

static void misuse_plan(void)
{
	round_capacity((size_t)current.threads * HOLD_MAX);
}

static void on_private_misuse(void *context, const lfpool_misuse_t *misuse)
{
	struct private_pool *private = context;

	/* relaxed: one thread. */
	if (misuse->pool == private->pool && misuse->status == LFPOOL_E_NOT_IN_USE)
		atomic_fetch_add_explicit(&private->reported, 1, memory_order_relaxed);
}

static bool private_open(struct private_pool *private)
{
	lfpool_config_t config = current.config;

	*private = (struct private_pool){.provoked = 0};
	config.capacity = PRIVATE_CAPACITY;
	config.max_capacity = config.growth_step = 0;
	config.hooks = (lfpool_hooks_t){.context = private, .misuse = on_private_misuse};
	if (lfpool_create(&private->pool, &config) == LFPOOL_OK) {
		private->cache = lfpool_cache_create(private->pool);
		private->object = lfpool_acquire(private->pool);
	}
	if (!private->cache || !private->object)
		violation("no private pool, cache or object");
	return private->cache && private->object;
}

static void private_close(struct private_pool *private)
{
	size_t counted = lfpool_misuse_count(private->pool);
	/* relaxed: one thread. */
	size_t reported = atomic_load_explicit(&private->reported, memory_order_relaxed);

	if (counted != private->provoked || reported != private->provoked)
		violation("%zu double releases: lfpool_misuse_count() says %zu, the hook was told of %zu", private->provoked,
			  counted, reported);
	if (lfpool_release(private->pool, private->object) != LFPOOL_OK || lfpool_destroy(private->pool) != 0)
		violation("double releases changed what is active in the private pool");
}

static void expect(const void *pointer, lfpool_status_t status, lfpool_status_t expected)
{
	if (status != expected)
		violation("release of %p: \"%s\", not \"%s\"", pointer, lfpool_status_string(status),
			  lfpool_status_string(expected));
}

/* Something that is no object of the round's pool. */
static void *draw_foreign(struct worker *worker, const struct private_pool *private)
{
	static char somewhere;
	void *const foreign[] = {private->object, worker, &somewhere, (void *)private, (void *)(uintptr_t)1, (void *)UINTPTR_MAX};

	return foreign[random_below(&worker->random, sizeof(foreign) / sizeof(foreign[0]))];
}

static void release_wrongly(struct worker *worker, void *pointer, lfpool_status_t expected)
{
	expect(pointer, worker_release_raw(worker, pointer, expected), expected);
	if (expected != LFPOOL_OK)
		/* relaxed: read when all threads have stopped. */
		atomic_fetch_add_explicit(&current.provoked, 1, memory_order_relaxed);
}

static void release_twice(struct worker *worker, struct private_pool *private)
{
	void *object = lfpool_cache_acquire(private->cache);

	if (!object) {
		violation("NULL from a private pool with objects left");
		return;
	}
	expect(object, release_by(worker_draw_route(worker), private->pool, private->cache, object, LFPOOL_E_FOREIGN), LFPOOL_OK);
	expect(object, release_by(worker_draw_route(worker), private->pool, private->cache, object, LFPOOL_E_NOT_IN_USE),
	       LFPOOL_E_NOT_IN_USE);
	private->provoked++;
}

static void misuse_once(struct worker *worker, struct private_pool *private, const struct held *held, size_t count)
{
	size_t size = current.config.object_size;

	switch (random_below(&worker->random, 4)) {
	case 0: release_wrongly(worker, draw_foreign(worker, private), LFPOOL_E_FOREIGN); break;
	case 1:
		if (count > 0 && size > 1)
			release_wrongly(worker,
					held[random_below(&worker->random, (uint32_t)count)].object + 1 +
						random_below(&worker->random, (uint32_t)size - 1),
					LFPOOL_E_INTERIOR);
		break;
	case 2: release_twice(worker, private); break;
	default:
		/* Allowed, and no misuse. */
		release_wrongly(worker, NULL, LFPOOL_OK);
	}
}

static void misuse_work(struct worker *worker)
{
	struct private_pool private;
	struct held held[HOLD_MAX];

	if (!private_open(&private))
		return;
	while (worker_goes_on(worker, 32)) {
		size_t got = worker_acquire_many(worker, held, 1 + random_below(&worker->random, HOLD_MAX));

		misuse_once(worker, &private, held, got);
		worker_rescan(held, got);
		worker_release_many(worker, held, got);
	}
	private_close(&private);
}

const struct scenario scenario_misuse = {
	.name = "misuse",
	.description = "honest work amid releases of foreign, interior and released pointers: all refused, nothing harmed",
	.needs_refusals = true,
	.plan = misuse_plan,
	.work = misuse_work,
};
