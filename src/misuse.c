/* SPDX-License-Identifier: MIT */
/*
 * misuse.c - a release was refused: count it, tell the hook, or say so once on stderr.
 */
#include "pool.h"

#include <stdio.h>

lfpool_status_t misuse_report(lfpool_t *pool, const void *object, lfpool_status_t status)
{
	/* relaxed: a statistic, and who came first. */
	size_t count = fetch_add_relaxed(&pool->misuses, (size_t)1) + 1;

	if (pool->hooks.misuse) {
		const lfpool_misuse_t misuse = {pool, pool->name, object, status, count};

		pool->hooks.misuse(pool->hooks.context, &misuse);
	} else if (count == 1) {
		fprintf(stderr,
			"lfpool: pool \"%s\", object %p: %s; refused.  Further misuse of this pool is counted, not printed.\n",
			pool->name, object, lfpool_status_string(status));
	}
	return status;
}
