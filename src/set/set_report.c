/* SPDX-License-Identifier: MIT */
/*
 * set_report.c - lfpool_set_stats(), lfpool_set_dump(): the pools of a set added up, and one by one.
 *
 * Idea         Everything comes from lfpool_stats() and lfpool_dump() of each pool.
 * Progress     As those.  Does not allocate.
 */
#include "set/pool_set.h"

#include "base/sized.h"
#include "base/stats_fields.h"
#include "base/text.h"
#include "base/words.h"

#include <inttypes.h>

/* Adds up all pools; returns their number. */
static size_t sum_of_classes(const lfpool_set_t *set, lfpool_stats_t *sum_out)
{
	size_t pools = 0;

	*sum_out = (lfpool_stats_t)LFPOOL_STATS_INIT;
	for (size_t i = 0; i < set->classes.count; i++) {
		const lfpool_t *pool = set_pool(set, i);
		lfpool_stats_t stats = LFPOOL_STATS_INIT;

		if (!pool)
			continue;
		(void)lfpool_stats(pool, &stats);
		stats_add(sum_out, &stats);
		pools++;
	}
	return pools;
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

/* ---- Text ---- */

static void put_class(struct text *t, const lfpool_set_t *set, size_t class_number)
{
	const lfpool_t *pool = set_pool(set, class_number);
	lfpool_stats_t s = LFPOOL_STATS_INIT;

	if (!pool)
		return;
	(void)lfpool_stats(pool, &s);
	text_put(t, "%8zu %10zu %10zu %10zu %10zu %10zu %12" PRIu64 " %8" PRIu64 "\n", class_size(&set->classes, class_number),
		 s.capacity, s.active, s.cached, s.shared, s.untouched, s.acquires, s.misuses);
}

static size_t window_bytes_of(const lfpool_set_t *set)
{
	return set->windows.count ? (size_t)1 << set->windows.shift : 0;
}

static void put_text(struct text *t, const lfpool_set_t *set, const lfpool_stats_t *sum, size_t pools)
{
	const size_t last = set->classes.count - 1;

	text_put(t, "lfpool      " VERSION ", set ");
	text_put_quoted(t, set->config.name);
	text_put(t, "\nclasses     %" PRIu32 " of %zu to %zu bytes, %zu to each doubling, aligned to %zu; %zu in use\n",
		 set->classes.count, class_size(&set->classes, 0), class_size(&set->classes, last), set->steps,
		 set->config.object_alignment, pools);
	if (set->windows.count)
		text_put(t, "windows     of %zu bytes, from %p on\n", window_bytes_of(set), (void *)set->windows.base);
	text_put(t, "larger      %zu\n", set->larger);
	text_put(t, "identity    %zu = %zu active + %zu cached + %zu shared + %zu untouched", sum->capacity, sum->active,
		 sum->cached, sum->shared, sum->untouched);
	if (sum->unaccounted)
		text_put(t, ", %+" PRId64 " unaccounted", sum->unaccounted);
	text_put(t, "\n");
	stats_put_text(t, sum);
	text_put(t, "%8s %10s %10s %10s %10s %10s %12s %8s\n", "bytes", "objects", "active", "cached", "shared", "untouched",
		 "acquires", "misuses");
	for (size_t i = 0; i <= last; i++)
		put_class(t, set, i);
}

/* ---- JSON ---- */

/* The dump of a pool, in the room that is left. */
static void put_pool(struct text *t, const lfpool_t *pool)
{
	const size_t left = t->wanted < t->room ? t->room - t->wanted : 0;

	t->wanted += lfpool_dump(pool, LFPOOL_JSON, left ? t->out + t->wanted : NULL, left);
}

static void put_json(struct text *t, const lfpool_set_t *set, const lfpool_stats_t *sum)
{
	const char *comma = "";

	text_put(t, "{\"lfpool\":\"" VERSION "\",\"set\":");
	text_put_quoted(t, set->config.name);
	text_put(t, ",\"classes\":%" PRIu32 ",\"largest\":%zu", set->classes.count,
		 class_size(&set->classes, set->classes.count - 1));
	text_put(t, ",\"steps\":%zu,\"object_alignment\":%zu,\"larger\":%zu,\"window_bytes\":%zu,", set->steps,
		 set->config.object_alignment, set->larger, window_bytes_of(set));
	stats_put_json(t, sum);
	text_put(t, ",\"pools\":[");
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

	const size_t pools = sum_of_classes(set, &sum);

	switch (format) {
	case LFPOOL_TEXT: put_text(&t, set, &sum, pools); break;
	case LFPOOL_JSON: put_json(&t, set, &sum); break;
	}
	return t.wanted;
}
