/* SPDX-License-Identifier: MIT */
/*
 * dump.c - lfpool_dump(): the state of a pool, as text for bug reports or as JSON for programs.
 *
 * Idea         All data are fixed at creation, or snapshots as in lfpool_stats().  So a dump may be taken at any time.
 * Progress     As lfpool_stats().  Does not allocate.
 */
#include "base/stats_fields.h"
#include "base/text.h"
#include "evict/order.h"
#include "object/debugging.h"
#include "object/lifecycle.h"
#include "pool/open.h"
#include "pool/slots.h"

#include "lfpool/report.h"

#include <inttypes.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Sets of names: flags, hooks ---- */

static void put_flags(struct text *t, lfpool_format_t format, uint32_t flags)
{
	const struct text_name names[] = {
#define FLAG_NAME(flag, word) {word, flags & flag},
		FLAG_MAP(FLAG_NAME)
#undef FLAG_NAME
	};

	text_put_names(t, format == LFPOOL_JSON, names, COUNT(names));
}

static void put_hooks(struct text *t, lfpool_format_t format, const lfpool_hooks_t *hooks)
{
	const struct text_name names[] = {
		{"misuse", hooks->misuse},       {"create", hooks->create},         {"validate", hooks->validate},
		{"activate", hooks->activate},   {"deactivate", hooks->deactivate}, {"destroy", hooks->destroy},
		{"exhausted", hooks->exhausted},
	};

	text_put_names(t, format == LFPOOL_JSON, names, COUNT(names));
}

static void put_debug(struct text *t, lfpool_format_t format, const lfpool_t *pool)
{
	debug_put_report(lifecycle_debug(pool->lifecycle), &pool->modes, slots_used(pool), format, t);
}

/* ---- Text ---- */

static void put_core(struct text *t, const struct core *core, const lfpool_stats_t *s)
{
	const struct magazines *ms = &core->magazines;

	text_put(t, "caches      %" PRIu32 " in use, %" PRIu32 " ever, of at most %" PRIu32 " objects\n",
		 s->caches_in_use, s->caches, cache_most_objects(core));
	text_put(t, "magazines   of %" PRIu32 " objects, %" PRIu64 " of %" PRIu32 " used, and %" PRIu32 " extra\n",
		 ms->slots, census_chunks(core), ms->chunks, s->caches * EXTRA_PER_CACHE);
	text_put(t, "depot       %" PRIu32 " shard%s\n", core->depot.shards, core->depot.shards == 1 ? "" : "s");
}

static lfpool_advice_t advice_of(const lfpool_t *pool)
{
	lfpool_advice_t advice;

	(void)lfpool_advise(pool, &advice);
	return advice;
}

static void put_text_advice(struct text *t, const lfpool_t *pool)
{
	const lfpool_advice_t a = advice_of(pool);

	text_put(t, "advice      capacity %zu, headroom %zu", a.capacity, a.headroom);
	if (a.cache_capacity == LFPOOL_CACHE_NONE)
		text_put(t, ", no caches");
	else if (a.cache_capacity)
		text_put(t, ", cache_capacity %zu", a.cache_capacity);
	text_put(t, "\nreason      %s\n", a.reason);
}

static void put_pool_text(struct text *t, const lfpool_t *pool, const lfpool_stats_t *s)
{
	text_put(t, "lfpool      " VERSION ", pool ");
	text_put_quoted(t, pool->name);
	text_put(t, "\nbackend     %s%s%s\n", backend_name(pool->backend_kind),
		 pool->locked            ? ""
		 : pool->core.asymmetric ? ", membarrier"
					 : ", full fences",
		 pool->core.hits ? ", inlined hits" : "");
	text_put(t, "objects     %zu of %zu bytes, aligned to %zu", s->capacity, pool->object_size,
		 pool->object_alignment);
	if (pool_in_place(pool))
		text_put(t, ", %" PRIu32 " bytes apart", pool->core.arena.stride);
	text_put(t, "\nflags       ");
	put_flags(t, LFPOOL_TEXT, pool->flags);
	text_put(t, "\nhooks       ");
	put_hooks(t, LFPOOL_TEXT, &pool->hooks);
	text_put(t, "\nidentity    %zu = %zu active", s->capacity, s->active);
	if (pool->retired)
		text_put(t, " + %zu retired", s->retired);
	text_put(t, " + %zu cached + %zu shared + %zu untouched", s->cached, s->shared, s->untouched);
	if (s->unaccounted)
		text_put(t, ", %+" PRId64 " unaccounted", s->unaccounted);
	text_put(t, "\n");
	if (pool->order)
		text_put(t, "evictions   %" PRIu64 ", %" PRIu64 " refused\n", s->evicted, s->not_evicted);
	stats_put_text(t, s);
	put_core(t, &pool->core, s);
	put_text_advice(t, pool);
	put_debug(t, LFPOOL_TEXT, pool);
}

/* ---- JSON ---- */

static void put_json_core(struct text *t, const lfpool_t *pool, uint32_t caches)
{
	const struct core *core = &pool->core;
	const struct magazines *ms = &core->magazines;

	text_put(t, ",\"core\":{\"membarrier\":%s,\"inlined_hits\":%s,\"shards\":%" PRIu32,
		 core->asymmetric && !pool->locked ? "true" : "false", core->hits ? "true" : "false",
		 core->depot.shards);
	text_put(t, ",\"cache_capacity\":%" PRIu32 ",\"magazine_objects\":%" PRIu32 ",\"magazines\":%" PRIu32,
		 cache_most_objects(core), ms->slots, ms->chunks);
	text_put(t, ",\"magazines_used\":%" PRIu64 ",\"magazines_extra\":%" PRIu32 "}", census_chunks(core),
		 caches * EXTRA_PER_CACHE);
}

static void put_json_advice(struct text *t, const lfpool_t *pool)
{
	const lfpool_advice_t a = advice_of(pool);

	text_put(t, ",\"advice\":{\"capacity\":%zu,\"headroom\":%zu,\"cache_capacity\":", a.capacity, a.headroom);
	if (a.cache_capacity == LFPOOL_CACHE_NONE)
		text_put(t, "null");
	else
		text_put(t, "%zu", a.cache_capacity);
	text_put(t, ",\"reason\":");
	text_put_quoted(t, a.reason);
	text_put(t, "}");
}

static void put_pool_json(struct text *t, const lfpool_t *pool, const lfpool_stats_t *s)
{
	text_put(t, "{\"lfpool\":\"" VERSION "\",\"name\":");
	text_put_quoted(t, pool->name);
	text_put(t, ",\"backend\":\"%s\",\"object_size\":%zu,\"object_alignment\":%zu",
		 backend_name(pool->backend_kind), pool->object_size, pool->object_alignment);
	if (pool_in_place(pool))
		text_put(t, ",\"stride\":%" PRIu32, pool->core.arena.stride);
	text_put(t, ",\"flags\":");
	put_flags(t, LFPOOL_JSON, pool->flags);
	text_put(t, ",\"hooks\":");
	put_hooks(t, LFPOOL_JSON, &pool->hooks);
	text_put(t, ",");
	stats_put_json(t, s);
	put_json_core(t, pool, s->caches);
	put_json_advice(t, pool);
	put_debug(t, LFPOOL_JSON, pool);
}

size_t lfpool_dump(const lfpool_t *pool, lfpool_format_t format, char *text_out, size_t room)
{
	lfpool_stats_t stats;
	struct text t;

	text_open(&t, text_out, room);
	(void)lfpool_stats(pool, &stats);
	switch (format) {
	case LFPOOL_TEXT: put_pool_text(&t, pool, &stats); break;
	case LFPOOL_JSON: put_pool_json(&t, pool, &stats); break;
	}
	return t.wanted;
}
