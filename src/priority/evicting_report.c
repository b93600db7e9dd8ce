/* SPDX-License-Identifier: MIT */
/*
 * evicting_report.c - lfpool_priority_dump(): what an evicting pool is, where its objects are, which would go next.
 *
 * Idea         The objects in use are counted by their states, the free ones by their stack, and neither knows of the
 *              other: in a pool at rest what is unaccounted is an object lost or doubled.
 */
#include "base/text.h"
#include "object/debugging.h"
#include "pool/configure.h"
#include "pool/pool.h"
#include "priority/plain.h"

#include <inttypes.h>

/*     capacity = active + fresh + released + free + unaccounted     */
struct evicting_census {
	size_t active, pinned, fresh, released, free; /* pinned: of the active ones; fresh: new */
	uint64_t pins;
	int64_t unaccounted;
};

static struct evicting_census take_census(const lfpool_priority_t *pool)
{
	struct evicting_census c = {.free = lfpool_priority_capacity(pool) - lfpool_priority_count(pool)};
	const uint32_t count = pool->tournament.count;

	for (uint32_t slot = 1; slot <= count; slot++) {
		const uint64_t state = state_of(pool, slot);
		const uint32_t pins = state_pins(state);

		if (is_new(state)) {
			c.fresh++;
		} else if (is_pinned_or_active(state)) {
			c.active += is_active(state);
			c.released += !is_active(state);
			c.pinned += is_active(state) && pins;
			c.pins += pins;
		}
	}
	c.unaccounted = (int64_t)lfpool_priority_capacity(pool) - (int64_t)(c.active + c.fresh + c.released + c.free);
	return c;
}

/* ---- Names that are there or not ---- */

static void put_flags_and_hooks(struct text *t, lfpool_format_t format, const lfpool_priority_t *pool)
{
	const struct text_name flags[] = {
		{"prefault", pool->flags & LFPOOL_PREFAULT},
		{"lock", pool->flags & LFPOOL_LOCK},
		{"plain_stride", pool->flags & LFPOOL_PLAIN_STRIDE},
		{"fenced", pool->flags & LFPOOL_FENCED},
		{"zero", pool->flags & LFPOOL_ZERO},
		{"evict_equal", pool->flags & LFPOOL_EVICT_EQUAL},
	};
	const struct text_name hooks[] = {
		{"create", pool->hooks.create},   {"activate", pool->hooks.activate},  {"deactivate", pool->hooks.deactivate},
		{"destroy", pool->hooks.destroy}, {"before", pool->tournament.before}, {"on_evict", pool->on_evict},
		{"misuse", pool->hooks.misuse},
	};

	const bool json = format == LFPOOL_JSON;

	text_put(t, json ? ",\"flags\":" : "\nflags       ");
	text_put_names(t, json, flags, sizeof(flags) / sizeof(flags[0]));
	text_put(t, json ? ",\"hooks\":" : "\nhooks       ");
	text_put_names(t, json, hooks, sizeof(hooks) / sizeof(hooks[0]));
}

static size_t records_in_use(const lfpool_priority_t *pool)
{
	return pool->backend ? 0 : lfpool_active_count(pool->tournament.spares.pool);
}

/* ---- Both forms ---- */

static void put_text(struct text *t, lfpool_priority_t *pool, const lfpool_priority_stats_t *s, const struct evicting_census *c)
{
	uint64_t priority = 0;
	const lfpool_handle_t least = lfpool_priority_peek_min(pool, &priority);

	text_put(t, "lfpool      " VERSION ", evicting pool ");
	text_put_quoted(t, pool->name);
	text_put(t, "\nbackend     %s", backend_name(pool->backend));
	text_put(t, "\nobjects     %zu of %zu bytes, aligned to %zu, %zu bytes apart", lfpool_priority_capacity(pool),
		 pool->object_size, pool->object_alignment, pool->stride);
	put_flags_and_hooks(t, LFPOOL_TEXT, pool);
	text_put(t, "\nidentity    %zu = %zu active + %zu new + %zu released + %zu free", lfpool_priority_capacity(pool),
		 c->active, c->fresh, c->released, c->free);
	if (c->unaccounted)
		text_put(t, ", %+" PRId64 " unaccounted", c->unaccounted);
	text_put(t, "\npinned      %zu of the active ones; %" PRIu64 " pins\nleast       ", c->pinned, c->pins);
	if (least)
		text_put(t, "priority %" PRIu64 ", handle 0x%" PRIx64 "\n", priority, least);
	else
		text_put(t, "none that can be evicted\n");
	text_put(t, "calls       %" PRIu64 " acquired, %" PRIu64 " evicted, %" PRIu64 " refused\n", s->acquired, s->evicted,
		 s->refused);
	if (!pool->backend)
		text_put(t, "records     %zu of %zu in use\n", records_in_use(pool),
			 lfpool_capacity(pool->tournament.spares.pool));
	/* relaxed: a statistic. */
	text_put(t, "misuses     %zu\n", load_relaxed(&pool->misuses));
	debug_put_report(lifecycle_debug(pool->lifecycle), &pool->modes, pool->tournament.count, LFPOOL_TEXT, t);
}

static void put_json(struct text *t, lfpool_priority_t *pool, const lfpool_priority_stats_t *s, const struct evicting_census *c)
{
	uint64_t priority = 0;
	const lfpool_handle_t least = lfpool_priority_peek_min(pool, &priority);

	text_put(t, "{\"lfpool\":\"" VERSION "\",\"name\":");
	text_put_quoted(t, pool->name);
	text_put(t, ",\"evicting\":true,\"backend\":\"%s\"", backend_name(pool->backend));
	text_put(t, ",\"object_size\":%zu,\"object_alignment\":%zu,\"stride\":%zu", pool->object_size, pool->object_alignment,
		 pool->stride);
	put_flags_and_hooks(t, LFPOOL_JSON, pool);
	text_put(t, ",\"capacity\":%zu", lfpool_priority_capacity(pool));
	text_put(t, ",\"active\":%zu,\"new\":%zu,\"released\":%zu,\"free\":%zu", c->active, c->fresh, c->released, c->free);
	text_put(t, ",\"unaccounted\":%" PRId64 ",\"pinned\":%zu,\"pins\":%" PRIu64, c->unaccounted, c->pinned, c->pins);
	if (least)
		text_put(t, ",\"least\":{\"priority\":%" PRIu64 ",\"handle\":\"0x%" PRIx64 "\"}", priority, least);
	else
		text_put(t, ",\"least\":null");
	text_put(t, ",\"acquired\":%" PRIu64 ",\"evicted\":%" PRIu64 ",\"refused\":%" PRIu64, s->acquired, s->evicted,
		 s->refused);
	text_put(t, ",\"records\":%zu,\"misuses\":%zu", records_in_use(pool),
		 /* relaxed: a statistic. */
		 load_relaxed(&pool->misuses));
	debug_put_report(lifecycle_debug(pool->lifecycle), &pool->modes, pool->tournament.count, LFPOOL_JSON, t);
}

size_t lfpool_priority_dump(lfpool_priority_t *pool, lfpool_format_t format, char *text_out, size_t room)
{
	const struct evicting_census census = take_census(pool);
	lfpool_priority_stats_t stats;
	struct text t;

	lfpool_priority_stats(pool, &stats);
	text_open(&t, text_out, room);
	switch (format) {
	case LFPOOL_TEXT: put_text(&t, pool, &stats, &census); break;
	case LFPOOL_JSON: put_json(&t, pool, &stats, &census); break;
	}
	return t.wanted;
}
