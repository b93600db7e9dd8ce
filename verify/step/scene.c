/* SPDX-License-Identifier: MIT */
/* scene.c - see scene.h.  Only this file looks inside the pool, to see which path a call took. */
#include "drive.h"
#include "scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cache.h"
#include "pool/pool.h"
#include "retire/retired.h"
#include "pool/threads.h"
#include "waiting/waiters.h"

#include "lfpool/report.h"

const struct operation *operation_at(size_t index)
{
	static const struct operation *const tables[] = {operations,        object_operations, pool_operations,
							 resize_operations, wait_operations,   retire_operations,
							 evict_operations};

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		for (const struct operation *o = tables[i]; o->name; o++)
			if (index-- == 0)
				return o;
	return NULL;
}

/* Debug reports about an abandoned thread's objects do not count. */
static _Atomic(unsigned) damages;

static void be_silent(void *context, const lfpool_misuse_t *misuse)
{
	(void)context;
	/* relaxed: read after the others have returned the turn. */
	if (misuse->status != LFPOOL_E_STILL_ACTIVE)
		(void)fetch_add_relaxed(&damages, 1);
}

unsigned scene_damages(void)
{
	const unsigned found = load_relaxed(&damages);

	store_relaxed(&damages, 0);
	return found;
}

/* The pool is a class of a set, whose other classes do not exist yet. */
static lfpool_status_t open_set(struct scene *s, const lfpool_config_t *config)
{
	lfpool_set_config_t set = LFPOOL_SET_CONFIG_INIT;
	lfpool_status_t status;

	set.pool = *config;
	set.pool.object_size = 0;
	status = lfpool_set_create(&s->set, &set);
	if (status == LFPOOL_OK && !(s->pool = lfpool_set_class(s->set, OBJECT_BYTES, true, NULL)))
		status = LFPOOL_E_NO_MEMORY;
	return status;
}

lfpool_t *scene_pool(void)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	lfpool_t *pool;

	config.object_size = OBJECT_BYTES;
	config.capacity = 4;
	config.cache_capacity = 2;
	config.depot_shards = 1;
	if (lfpool_create(&pool, &config) != LFPOOL_OK) {
		fprintf(stderr, "no pool\n");
		exit(3);
	}
	return pool;
}

/* There are no readers: every batch is due. */
static bool scheme_ready(void *scene, const lfpool_batch_t *batch)
{
	(void)scene;
	(void)batch;
	return true;
}

static void scheme_begin(void *scene, lfpool_batch_t *batch)
{
	((struct scene *)scene)->batch = batch;
}

static lfpool_scheme_t scheme(struct scene *s, const struct operation *o)
{
	return (lfpool_scheme_t){.context = o->special & (ASKED | TOLD) ? s : NULL,
				 .ready = o->special & ASKED ? scheme_ready : NULL,
				 .begin = o->special & TOLD ? scheme_begin : NULL};
}

void scene_open(struct scene *s, const struct operation *o)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;

	memset(s, 0, sizeof(*s));
	/* A call that this thread was taken out of, in the last scene, may have been in a continuation. */
	thread_serve(NULL);
	config.object_size = o->object_bytes ? o->object_bytes : OBJECT_BYTES;
	config.capacity = o->capacity;
	config.cache_capacity = o->cache_capacity;
	config.max_capacity = o->max_capacity;
	config.growth_step = o->growth_step;
	config.depot_shards = 1;
	config.flags = o->flags;
	config.debug = o->debug;
	config.scheme = scheme(s, o);
	if (o->hooks)
		config.hooks = *o->hooks;
	if (o->special & EVICTS) {
		config.evict = LFPOOL_EVICT_LESS;
		config.hooks = *evictions_hooks(s);
	}
	if (o->debug || o->special & EVICTS)
		config.hooks.misuse = be_silent;
	if ((o->special & IN_SET ? open_set(s, &config) : lfpool_create(&s->pool, &config)) != LFPOOL_OK ||
	    !(s->mine = lfpool_cache_create(s->pool)) || !(s->other = lfpool_cache_create(s->pool))) {
		fprintf(stderr, "%s: no pool\n", o->name);
		exit(3);
	}
	setup(s, o->setup);
	s->queued = s->ticket;
}

size_t scene_waiting(const struct scene *s)
{
	return waiters_waiting(&s->pool->waiters);
}

bool scene_closed(const struct scene *s)
{
	return waiters_closed(&s->pool->waiters);
}

void scene_look_at_queue(const struct scene *s, bool claimed, size_t *continuations_out, size_t *given_out)
{
	const struct waiters *d = &s->pool->waiters;

	*continuations_out = *given_out = 0;
	/* relaxed, all: no thread runs. */
	for (uint32_t index = 0; index < load_relaxed(&d->cells); index++) {
		const struct cell *cell = cell_at(d, index);
		const enum phase phase = cell_phase(load_relaxed(&cell->word));

		if (phase >= (claimed ? CLAIMED : WAITING) && load_relaxed(&cell->then))
			++*continuations_out;
		else if (phase >= GIVEN)
			++*given_out;
	}
}

size_t scene_close(struct scene *s)
{
	struct retired *limbo = s->pool->retired;

	/* A thread that never continues may hold a shard, for which a drain would wait. */
	for (uint32_t i = 0; limbo && i < limbo->shards; i++)
		store_relaxed(&limbo->shard[i].word, 0);

	const size_t active = s->set ? lfpool_set_destroy(s->set) : lfpool_destroy(s->pool);

	(void)lfpool_destroy(s->beside);
	(void)lfpool_destroy(s->made);
	s->pool = s->beside = s->made = NULL;
	s->set = NULL;
	return active;
}

static uint64_t tops_of(const struct core *core, uint32_t first, uint32_t count)
{
	uint64_t sum = 0;

	for (uint32_t number = first; number < first + count; number++)
		sum += magazine_top(load_relaxed(&magazines_at(&core->magazines, number)->top)) - LFPOOL_HOME_;
	return sum;
}

/* One call changes its words in one direction: tags and counts grow.  So sums show the changes.  In the order of enum
 * moves.  relaxed, all: only this thread uses the pool. */
static struct reading read_pool(const struct scene *s)
{
	const struct core *core = ((struct cache *)(void *)s->other)->core;
	const struct magazines *ms = &core->magazines;
	const uint32_t count = load_relaxed(&core->table.count);
	uint64_t currents = 0, own = 0, claims = count, tops = tops_of(core, 1, ms->chunks);

	for (uint32_t index = 0; index < count; index++) {
		uint32_t left;
		struct cache *c = cache_at(core, index, &left);

		currents += load_relaxed(&c->current_word);
		own += load_relaxed(&c->full.head) + load_relaxed(&c->empty.head);
		claims += (uint64_t)load_relaxed(&c->claimed) << 32;
		tops += tops_of(core, magazines_extra_number(ms, index, 0), EXTRA_PER_CACHE);
	}
	return (struct reading){{census_chunks(core), load_relaxed(&core->depot.shard[0].full.head),
				 load_relaxed(&core->depot.shard[0].partial.head),
				 load_relaxed(&core->depot.shard[0].empty.head), currents, own, tops, claims,
				 load_relaxed(&s->pool->core.cold.counts) + load_relaxed(&s->pool->core.cold.maximum) +
					 load_relaxed(&s->pool->given_back),
				 load_relaxed(&s->pool->waiters.closed) << 32 | load_relaxed(s->pool->waiters.wanted)}};
}

unsigned scene_operate(struct scene *s, const struct operation *o)
{
	if (lfpool_quick_stats(s->pool).backend != LFPOOL_BACKEND_LOCKFREE) {
		o->operate(s);
		return o->moves;
	}

	const struct reading before = read_pool(s);

	o->operate(s);

	const struct reading after = read_pool(s);

	return drive_changes(&before, &after);
}
