/* SPDX-License-Identifier: MIT */
/*
 * place.c - records from the pool, for places whose own two are in use; see place.h.
 */
#include "priority/place.h"

uint32_t spare_take(const struct spares *s)
{
	const void *record;

	/* Only while CALLS_MAX, or CALLS_MAX_BACKED, other calls are under way. */
	while (unlikely(!(record = lfpool_acquire(s->pool))))
		cpu_relax();
	return (uint32_t)(((uintptr_t)record - s->zero) / s->stride) + OWN_RECORDS;
}

void spare_give(const struct spares *s, uint32_t number)
{
	(void)lfpool_release(s->pool, (void *)(s->zero + (number - OWN_RECORDS) * s->stride));
}
