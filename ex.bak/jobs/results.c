/* SPDX-License-Identifier: MIT */
/*
 * results.c - pooled result records on a list that is taken as a whole, see results.h.
 */
#include "results.h"

#include "lfpool/inline.h"

/* A worker collects after every so many results of its own. */
#define POSTS_PER_COLLECT 64

lfpool_status_t results_create(struct results *results_out, size_t capacity, lfpool_backend_t backend)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;

	config.name = "results";
	config.object_size = sizeof(struct result);
	config.object_alignment = alignof(struct result);
	config.capacity = capacity;
	config.backend = backend;
	atomic_init(&results_out->newest, NULL);
	return lfpool_create(&results_out->pool, &config);
}

size_t results_destroy(struct results *results)
{
	return lfpool_destroy(results->pool);
}

lfpool_status_t collector_create(struct collector *collector_out, struct results *results)
{
	*collector_out = (struct collector){.results = results, .cache = lfpool_cache_create(results->pool)};
	return collector_out->cache ? LFPOOL_OK : LFPOOL_E_NO_MEMORY;
}

void results_post(struct collector *collector, const struct counts *counts)
{
	struct results *results = collector->results;
	struct result *result = lfpool_cache_acquire(collector->cache);

	if (!result) {
		collector->without++;
		counts_add(&collector->sum, counts);
		results_collect(collector);
		return;
	}
	result->counts = *counts;
	result->poster = collector;
	/* relaxed: only a link, followed by the collector after its exchange. */
	result->next = atomic_load_explicit(&results->newest, memory_order_relaxed);
	/* release: the record goes to the collector; relaxed on failure: as above.  Retries (all but spurious ones)
	 * only after another worker changed the list: lock-free. */
	while (!atomic_compare_exchange_weak_explicit(&results->newest, &result->next, result, memory_order_release,
						      memory_order_relaxed))
		;
	if (++collector->posted % POSTS_PER_COLLECT == 0)
		results_collect(collector);
}

void results_collect(struct collector *collector)
{
	/* acquire: all records in the list, for each post continues the release sequence of the posts before it. */
	struct result *result = atomic_exchange_explicit(&collector->results->newest, NULL, memory_order_acquire);
	uint64_t batch = 0;

	while (result) {
		struct result *next = result->next;

		counts_add(&collector->sum, &result->counts);
		collector->from_others += result->poster != collector;
		lfpool_cache_release(collector->cache, result);
		result = next;
		batch++;
	}
	if (batch > collector->largest_batch)
		collector->largest_batch = batch;
}
