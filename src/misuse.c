/* SPDX-License-Identifier: MIT */
/*
 * misuse.c - a release was refused: count it, tell the hook, or say so once on stderr.
 */
#include "pool.h"

#include <stdio.h>

lfpool_status_t misuse_tell(lfpool_t *pool, lfpool_misuse_t *misuse)
{
	uint32_t slot;

	misuse->pool = pool;
	misuse->pool_name = pool->name;
	/* relaxed: a statistic, and who came first. */
	misuse->count = fetch_add_relaxed(&pool->misuses, (size_t)1) + 1;
	misuse->index = SIZE_MAX;
	/* What a heap's object is, only a look before it would tell: it may be foreign. */
	if (pool_in_place(pool) && arena_locate(pool->arena, misuse->object, &slot) == LFPOOL_OK)
		misuse->index = slot - 1;
	if (pool->hooks.misuse) {
		pool->hooks.misuse(pool->hooks.context, misuse);
	} else if (misuse->count == 1) {
		fprintf(stderr, "lfpool: pool \"%s\", object %p: %s; refused.%s%s  ", pool->name, misuse->object,
			lfpool_status_string(misuse->status), *misuse->detail ? "  " : "", misuse->detail);
		fputs("Further misuse of this pool is counted, not printed.\n", stderr);
	}
	return misuse->status;
}

lfpool_status_t misuse_report(lfpool_t *pool, const void *object, lfpool_status_t status)
{
	return misuse_tell(pool, &(lfpool_misuse_t){.object = object, .status = status, .detail = ""});
}
