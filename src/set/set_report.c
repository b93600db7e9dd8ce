/* SPDX-License-Identifier: MIT */
/*
 * set_report.c - lfpool_set_stats(), lfpool_set_dump(): the pools of a set added up, and one by one.
 *
 * Idea         Everything comes from lfpool_stats() and lfpool_dump() of each pool.  A class whose pool was never made
 *              has its objects all the same: untouched ones.
 * Progress     As those.  Does not allocate.
 */
#include "base/sized.h"
#include "base/stats_fields.h"
#include "base/text.h"
#include "pool/configure.h"
#include "set/pool_set.h"

#include <inttypes.h>

/* Of one class; true if it has a pool. */
static bool class_stats(const lfpool_set_t *set, size_t class_number, lfpool_stats_t *stats_out)
{
	const lfpool_t *pool = set_pool(set, class_number);
	lfpool_config_t config;

	*stats_out = (lfpool_stats_t)LFPOOL_STATS_INIT;
	if (pool) {
		(void)lfpool_stats(pool, stats_out);
		return true;
	}
	set_class_config(set, class_number, &config);
	stats_out->capacity = stats_out->untouched = config.capacity;
	stats_out->max_capacity = config.max_capacity;
	return false;
}

/* Returns how many classes have a pool. */
static size_t sum_of_classes(const lfpool_set_t *set, lfpool_stats_t *sum_out)
{
	size_t made = 0;

	*sum_out = (lfpool_stats_t)LFPOOL_STATS_INIT;
	/* relaxed: a statistic. */
	sum_out->misuses = load_relaxed(&set->misuses);
	for (size_t i = 0; i < set->classes.count; i++) {
		lfpool_stats_t stats;

		made += class_stats(set, i, &stats);
		stats_add(sum_out, &stats);
	}
	return made;
}

lfpool_status_t lfpool_set_stats(const lfpool_set_t *set, lfpool_stats_t *stats_out)
{
	lfpool_stats_t sum;

	if (!stats_out || !sized_fits(stats_out, offsetof(lfpool_stats_t, refills)))
		return LFPOOL_E_ARGUMENT;
	(void)sum_of_classes(set, &sum);
	sized_write(stats_out, &sum, sizeof(sum));
	return LFPOOL_OK;
}

void set_look(const void *context, struct registered_state *state)
{
	const lfpool_set_t *set = context;

	(void)sum_of_classes(set, &state->stats);
	state->object_size = class_size(&set->classes, set->classes.count - 1);
	for (size_t i = 0; i < set->classes.count; i++) {
		lfpool_stats_t stats;

		(void)class_stats(set, i, &stats);
		state->bytes += (uint64_t)stats.capacity * class_size(&set->classes, i);
	}
}

/* ---- Text ---- */

static void put_class(struct text *t, const lfpool_set_t *set, size_t class_number)
{
	lfpool_stats_t s;

	if (class_stats(set, class_number, &s))
		text_put(t, "%8zu %10zu %10zu %10zu %10zu %10zu %12" PRIu64 " %8" PRIu64 "\n",
			 class_size(&set->classes, class_number), s.capacity, s.active, s.cached, s.shared, s.untouched,
			 s.acquires, s.misuses);
}

static void put_text(struct text *t, const lfpool_set_t *set, const lfpool_stats_t *s, size_t made)
{
	const size_t last = set->classes.count - 1;

	text_put(t, "lfpool      " VERSION ", set ");
	text_put_quoted(t, set->name);
	text_put(t, "\nbackend     %s\n", backend_name(set->config.backend));
	text_put(t, "classes     %" PRIu32 " of %zu to %zu bytes, %zu to each doubling, aligned to %zu; %zu in use\n",
		 set->classes.count, class_size(&set->classes, 0), class_size(&set->classes, last), set->given.steps,
		 set->config.object_alignment, made);
	if (set->windows)
		text_put(t, "windows     of %zu bytes, from %p on\n", (size_t)1 << set->window_shift, (void *)set->base);
	text_put(t, "larger      %zu\n", set->larger);
	text_put(t, "misuses     %" PRIu64 "\n", s->misuses);
	text_put(t, "identity    %zu = %zu active + %zu cached + %zu shared + %zu untouched", s->capacity, s->active, s->cached,
		 s->shared, s->untouched);
	if (s->unaccounted)
		text_put(t, ", %+" PRId64 " unaccounted", s->unaccounted);
	text_put(t, "\n%8s %10s %10s %10s %10s %10s %12s %8s\n", "bytes", "objects", "active", "cached", "shared", "untouched",
		 "acquires", "misuses");
	for (size_t i = 0; i <= last; i++)
		put_class(t, set, i);
}

/* ---- JSON ---- */

/* A pool's own dump, in the room that is left. */
static void put_pool(struct text *t, const lfpool_t *pool)
{
	const size_t left = t->wanted < t->room ? t->room - t->wanted : 0;

	t->wanted += lfpool_dump(pool, LFPOOL_JSON, left ? t->out + t->wanted : NULL, left);
}

static void put_json(struct text *t, const lfpool_set_t *set, const lfpool_stats_t *s)
{
	const char *comma = "";

	text_put(t, "{\"lfpool\":\"" VERSION "\",\"set\":");
	text_put_quoted(t, set->name);
	text_put(t, ",\"backend\":\"%s\",\"classes\":%" PRIu32 ",\"largest\":%zu", backend_name(set->config.backend),
		 set->classes.count, class_size(&set->classes, set->classes.count - 1));
	text_put(t, ",\"steps\":%zu,\"object_alignment\":%zu,\"larger\":%zu,\"window_bytes\":%zu", set->given.steps,
		 set->config.object_alignment, set->larger, set->windows ? (size_t)1 << set->window_shift : 0);
	text_put(t, ",\"capacity\":%zu,\"active\":%zu,\"cached\":%zu,\"shared\":%zu", s->capacity, s->active, s->cached,
		 s->shared);
	text_put(t, ",\"untouched\":%zu,\"unaccounted\":%" PRId64 ",\"acquires\":%" PRIu64 ",\"releases\":%" PRIu64, s->untouched,
		 s->unaccounted, s->acquires, s->releases);
	text_put(t, ",\"misuses\":%" PRIu64 ",\"pools\":[", s->misuses);
	for (size_t i = 0; i < set->classes.count; i++) {
		const lfpool_t *pool = set_pool(set, i);

		if (!pool)
			continue;
		text_put(t, "%s", comma);
		put_pool(t, pool);
		comma = ",";
	}
	text_put(t, "]}");
}

size_t lfpool_set_dump(const lfpool_set_t *set, lfpool_format_t format, char *text_out, size_t room)
{
	lfpool_stats_t sum;
	struct text t;

	text_open(&t, text_out, room);

	const size_t made = sum_of_classes(set, &sum);

	switch (format) {
	case LFPOOL_TEXT: put_text(&t, set, &sum, made); break;
	case LFPOOL_JSON: put_json(&t, set, &sum); break;
	}
	return t.wanted;
}
