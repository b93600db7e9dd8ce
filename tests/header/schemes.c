/* SPDX-License-Identifier: MIT */
/*
 * schemes.c - lfpool/retire.h, lfpool/rcu.h and lfpool/epoch.h, each by itself and twice, in every C and C++ that they promise:
 * every declaration can be used, and nothing of liburcu or ConcurrencyKit is needed.
 */
#ifdef WITH_RCU_FIRST
#include <lfpool/rcu.h>
#include <lfpool/rcu.h>
#include <lfpool/epoch.h>
#include <lfpool/epoch.h>
#include <lfpool/retire.h>
#else
#include <lfpool/retire.h>
#include <lfpool/retire.h>
#include <lfpool/epoch.h>
#include <lfpool/rcu.h>
#endif

#ifdef __cplusplus
#define NOTHING nullptr
extern "C" {
#else
#define NOTHING NULL
#endif

size_t use_everything(struct ck_epoch *epoch, const struct ck_epoch_record *record);

static size_t sum;

static void on_begin(void *context, lfpool_batch_t *batch)
{
	uint32_t cursor = 0;

	sum += context == lfpool_batch_room(batch) && lfpool_batch_of(context) == batch ? 1u : 0u;
	sum += lfpool_batch_count(batch) + lfpool_batch_place(batch) / LFPOOL_PLACES_MAX + LFPOOL_BATCH_ROOM;
	sum += lfpool_batch_next(batch, &cursor) ? cursor : 0u;
}

static bool is_ready(void *context, const lfpool_batch_t *batch)
{
	return context && lfpool_batch_count(batch) > 1;
}

static bool wait_for_it(void *context)
{
	lfpool_batch_reclaim(lfpool_batch_of(context));
	return true;
}

size_t use_everything(struct ck_epoch *epoch, const struct ck_epoch_record *record)
{
	lfpool_scheme_t scheme = lfpool_rcu_scheme(NOTHING);
	lfpool_epoch_t *gate;
	lfpool_config_t config;
	lfpool_stats_t stats = LFPOOL_STATS_INIT;
	lfpool_t *pool;
	void *objects[2];

	if (lfpool_epoch_create(&gate, epoch) != LFPOOL_OK)
		return 0;
	lfpool_config_init(&config);
	config.object_size = 24;
	config.capacity = 10;
	config.scheme = lfpool_epoch_scheme(gate);
	if (!config.scheme.ready) {
		scheme.context = gate;
		scheme.begin = on_begin;
		scheme.ready = is_ready;
		scheme.wait = wait_for_it;
		config.scheme = scheme;
	}
	if (lfpool_create(&pool, &config) != LFPOOL_OK)
		return lfpool_status_string(LFPOOL_E_CONFIG_SCHEME)[0] == 'c' ? 1u : 0u;
	sum += lfpool_retire(pool, lfpool_acquire(pool)) == LFPOOL_E_NO_SCHEME ? 1u : 0u;
	sum += lfpool_acquire_bulk(pool, objects, 2);
	sum += lfpool_retire_bulk(pool, objects, 2);
	sum += lfpool_release_rcu(pool, objects[0]) == LFPOOL_E_NOT_IN_USE ? 1u : 0u;
	sum += lfpool_release_rcu_bulk(pool, objects, 2);
	sum += lfpool_release_epoch(pool, record, objects[1]) == LFPOOL_OK ? 1u : 0u;
	sum += lfpool_retire_poll(pool) ? 1u : 0u;
	sum += lfpool_drain(pool) == LFPOOL_E_IN_SECTION ? 1u : 0u;
	sum += lfpool_scheme(pool).context == scheme.context ? 1u : 0u;
	sum += lfpool_stats(pool, &stats) == LFPOOL_OK ? stats.retired : lfpool_retired_count(pool);
	sum += lfpool_destroy(pool);
	lfpool_epoch_destroy(gate);
	return sum;
}

#ifdef __cplusplus
}
#endif
