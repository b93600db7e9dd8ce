/* SPDX-License-Identifier: MIT */
/*
 * misuse.c - a release was refused, or a debug mode found something: count it, tell the hook, or say so once on stderr.
 */
#include "object/misuse.h"

#include "base/probes.h"
#include "base/text.h"
#include "object/debugging.h"
#include "object/lifecycle.h"
#include "pool/pool.h"

#include <stdio.h>

/* Is it an answer to a release that changed nothing? */
static bool is_refusal(lfpool_status_t status)
{
	return (status <= LFPOOL_E_FOREIGN && status > LFPOOL_E_WRITTEN_WHEN_FREE) || status <= LFPOOL_E_NOT_PINNED;
}

void misuse_say(const lfpool_hooks_t *hooks, const lfpool_misuse_t *misuse)
{
	/* stderr may be closed. */
	KEEP_ERRNO();
	const char *kind = misuse->pool ? "pool" : "set";

	if (hooks->misuse) {
		hooks->misuse(hooks->context, misuse);
	} else if (misuse->count == 1) {
		fprintf(stderr, "lfpool: %s \"%s\", object %p: %s%s.%s%s  ", kind, misuse->pool_name, misuse->object,
			lfpool_status_string(misuse->status), is_refusal(misuse->status) ? "; refused" : "",
			*misuse->detail ? "  " : "", misuse->detail);
		fprintf(stderr, "Further misuse of this %s is counted, not printed.\n", kind);
	}
}

lfpool_status_t misuse_tell(lfpool_t *pool, lfpool_misuse_t *misuse)
{
	uint32_t slot;

	misuse->pool = pool;
	misuse->pool_name = pool->name;
	/* relaxed: a statistic, and who came first. */
	misuse->count = fetch_add_relaxed(&pool->misuses, (size_t)1) + 1;
	probe_misuse(pool, pool->name, misuse->object, misuse->status);
	misuse->index = SIZE_MAX;
	/* What a heap's object is, only a look before it would tell: it may be foreign. */
	if (pool_in_place(pool) && arena_locate(pool->arena, misuse->object, &slot) == LFPOOL_OK)
		misuse->index = slot - 1;
	/* A line on stderr enters the kernel. */
	if (pool->hooks.misuse || !pool->arena->in_buffer)
		misuse_say(&pool->hooks, misuse);
	return misuse->status;
}

lfpool_status_t misuse_report(lfpool_t *pool, const void *object, lfpool_status_t status)
{
	const struct debug *debug = lifecycle_debug(pool->lifecycle);
	char detail[DETAIL_BYTES];
	struct text text;
	uint32_t slot;

	text_open(&text, detail, sizeof(detail));
	if (debug && status == LFPOOL_E_NOT_IN_USE && arena_locate(pool->arena, object, &slot) == LFPOOL_OK)
		debug_put_released(debug, slot, &text);
	return misuse_tell(pool, &(lfpool_misuse_t){.object = object, .status = status, .detail = detail});
}

lfpool_status_t pool_release(lfpool_t *pool, void *object)
{
	if (!object)
		return LFPOOL_OK;

	lfpool_status_t status = pool->backend->release(pool, object);

	return likely(status == LFPOOL_OK) ? status : misuse_report(pool, object, status);
}
