/* SPDX-License-Identifier: MIT */
/*
 * set.c - lfpool/set.h by itself, twice, in every C and C++ that it promises: every declaration can be used.
 */
#include <lfpool/set.h>
#include <lfpool/set.h>

#ifdef __cplusplus
extern "C"
#endif
	size_t
	use_everything(void);

static void on_misuse(void *context, const lfpool_misuse_t *misuse)
{
	(void)context;
	(void)misuse;
}

size_t use_everything(void)
{
	lfpool_stats_t stats = LFPOOL_STATS_INIT;
	lfpool_set_config_t config;
	lfpool_set_t *set;
	void *objects[2];
	char text[100];
	size_t sum = 0;

#ifndef __cplusplus
	lfpool_set_config_t initialised = LFPOOL_SET_CONFIG_INIT;

	sum += initialised.struct_size;
#endif
	lfpool_set_config_init(&config);
	config.name = "trays";
	config.largest = 4096;
	config.object_alignment = 32;
	config.steps = 16;
	config.larger = 1;
	config.class_bytes = 1 << 16;
	config.capacity = 10;
	config.max_class_bytes = 1 << 17;
	config.max_capacity = 20;
	config.growth_bytes = 1 << 12;
	config.growth_step = 5;
	config.cache_capacity = LFPOOL_CACHE_NONE;
	config.flags = LFPOOL_PREFAULT;
	config.backend = LFPOOL_BACKEND_MUTEX;
	config.hooks.misuse = on_misuse;
	config.depot_shards = 1;
	config.debug = "check";
	if (lfpool_set_create(&set, &config) != LFPOOL_OK)
		return 0;
	objects[0] = lfpool_set_acquire(set, 100);
	sum += lfpool_set_owns(set, objects[0]) ? lfpool_set_usable_size(set, objects[0]) : 0;
	sum += lfpool_set_release(set, objects[0]) == LFPOOL_OK ? 1u : 0u;
	sum += lfpool_set_acquire_bulk(set, 100, objects, 2);
	sum += lfpool_set_release_bulk(set, objects, 1);
	sum += lfpool_set_release_if_owned(set, objects[1]) == LFPOOL_OK ? 1u : 0u;
	sum += lfpool_set_class_count(set) + lfpool_set_class_size(set, lfpool_set_class_of(set, 100));
	sum += lfpool_capacity(lfpool_set_pool(set, 0));
	sum += lfpool_set_peek(set, 1) ? 1u : 0u;
	sum += lfpool_set_stats(set, &stats) == LFPOOL_OK ? stats.active : 0;
	sum += lfpool_set_dump(set, LFPOOL_TEXT, text, sizeof(text));
	return sum + lfpool_set_destroy(set);
}
