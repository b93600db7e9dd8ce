/* SPDX-License-Identifier: MIT */
/* main.c - the parent project in C: code that lfpool's own warnings would refuse, and a pool with inlined hits. */
#include "lfpool/inline.h"

#ifdef PARENT_HAS_rcu
#include "lfpool/rcu.h"
#endif
#ifdef PARENT_HAS_ck
#include "lfpool/epoch.h"
#endif

#include <stdio.h>

#ifndef PARENT_FLAG
#error "the parent's CMAKE_C_FLAGS did not arrive"
#endif
#ifdef _GNU_SOURCE
#error "a definition of lfpool's own build leaked"
#endif

int other(lfpool_t *pool);

/* No prototype, an unused variable, a conversion, a shadow: -Werror would fail here if it leaked. */
int narrow(long value)
{
	int unused;
	char value_of = value;

	{
		int value_of = 1;

		(void)value_of;
	}
	return value_of;
}

int main(void)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	lfpool_t *pool;

	config.object_size = 24;
	config.capacity = 10;
#ifdef PARENT_HAS_rcu
	config.scheme = lfpool_rcu_scheme(NULL);
#endif
#ifdef PARENT_HAS_ck
	lfpool_epoch_destroy(config.scheme);
#endif
	if (lfpool_create(&pool, &config) != LFPOOL_OK)
		return 1;

	lfpool_cache_t *cache = lfpool_cache_create(pool);
	void *object = cache ? lfpool_cache_acquire(cache) : NULL;

	if (!object || other(pool) != 1 || lfpool_cache_release(cache, object) != LFPOOL_OK)
		return 1;
	puts("parent runs");
	return lfpool_destroy(pool) == 0 ? 0 : 1;
}
