/* SPDX-License-Identifier: MIT */
/*
 * core.cpp - lfpool.h by itself, twice, in every C++ from C++11 on; two of its functions under their C names.
 */
#include <lfpool/lfpool.h>
#include <lfpool/lfpool.h>

size_t use_everything();

/* A constant expression. */
alignas(LFPOOL_BUFFER_ALIGNMENT) static unsigned char memory[LFPOOL_BUFFER_BYTES(sizeof(double), 0, 100)];
static_assert(LFPOOL_BUFFER_BYTES(24, 8, 1000) > 24 * 1000, "it has room for the objects");

static void on_misuse(void *context, const lfpool_misuse_t *misuse)
{
	*static_cast<size_t *>(context) += misuse->count + (misuse->status == LFPOOL_E_FOREIGN);
}

size_t use_everything()
{
	lfpool_config_t config;
	lfpool_t *pool;
	void *objects[2];
	size_t misuses = 0, sum = 0;

	lfpool_config_init(&config);
	config.name = "everything";
	config.object_size = 24;
	config.capacity = 10;
	config.cache_capacity = LFPOOL_CACHE_NONE;
	config.flags = LFPOOL_PREFAULT | LFPOOL_ZERO | LFPOOL_CHECK_RACES;
	config.backend = LFPOOL_BACKEND_LOCKFREE;
	config.hooks.context = &misuses;
	config.hooks.misuse = on_misuse;
	sum += lfpool_buffer_bytes(&config);
	if (lfpool_create_in(&pool, &config, memory, sizeof(memory)) == LFPOOL_OK)
		sum += lfpool_destroy(pool);
	if (lfpool_create(&pool, &config) != LFPOOL_OK)
		return lfpool_status_string(LFPOOL_E_NO_MEMORY)[0] == 't';
	sum += lfpool_release(pool, lfpool_acquire(pool)) == LFPOOL_OK;
	sum += lfpool_acquire_bulk(pool, objects, 2);
	sum += lfpool_owns(pool, objects[0]) && lfpool_in_use(pool, objects[0]);
	sum += lfpool_release_bulk(pool, objects, 1);
	sum += lfpool_release_if_owned(pool, objects[1]) == LFPOOL_OK;
	lfpool_cache_t *cache = lfpool_cache_create(pool);
	sum += lfpool_cache_release(cache, lfpool_cache_acquire(cache)) == LFPOOL_OK;
	sum += lfpool_cache_acquire_bulk(cache, objects, 2);
	sum += lfpool_cache_release_bulk(cache, objects, 2);
	lfpool_cache_flush(pool, cache);
	lfpool_cache_flush(pool, nullptr);
	lfpool_cache_destroy(cache);
	sum += lfpool_capacity(pool) + lfpool_active_count(pool) + lfpool_available_count(pool) + lfpool_misuse_count(pool);
	lfpool_stats_t stats = LFPOOL_STATS_INIT;
	sum += lfpool_stats(pool, &stats) == LFPOOL_OK ? 1u : 0u;
	sum += lfpool_check(pool, nullptr) == nullptr ? 1u : 0u;
	sum += lfpool_dump(pool, LFPOOL_TEXT, nullptr, 0) + lfpool_dump(pool, LFPOOL_JSON, nullptr, 0);
	sum += lfpool_backend(pool) == LFPOOL_BACKEND_MUTEX;
	return sum + lfpool_destroy(pool);
}
