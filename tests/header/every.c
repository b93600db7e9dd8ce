/* SPDX-License-Identifier: MIT */
/* every.c - each public macro of the headers, in every C and C++ that they support.  (typed.h's are in typed.h;
 * alone.c.in includes each header alone.) */
#include <lfpool/buffer.h>
#include <lfpool/rcu.h>

#include <lfpool/epoch.h>
#include <lfpool/evict.h>
#include <lfpool/registry.h>
#include <lfpool/set.h>

#if LFPOOL_VERSION_MAJOR < 0 || !defined(LFPOOL_VERSION_MINOR) || !defined(LFPOOL_VERSION_PATCH)
#error "no version"
#endif

#ifdef __cplusplus
static_assert(LFPOOL_BUFFER_BYTES(24, 8, 1000) > 24 * 1000, "it has room for the objects");
extern "C" {
#endif

size_t use_everything(lfpool_config_t *config);

/* An integer constant expression. */
static unsigned char memory[LFPOOL_BUFFER_BYTES(sizeof(double), 0, 100) + LFPOOL_BUFFER_ALIGNMENT];

size_t use_everything(lfpool_config_t *config)
{
	size_t sum = sizeof(lfpool_stats_t) + sizeof(lfpool_advice_t) + sizeof(lfpool_registry_report_t);

#ifndef __cplusplus
	const lfpool_config_t initialised = LFPOOL_CONFIG_INIT;
	const lfpool_set_config_t of_set = LFPOOL_SET_CONFIG_INIT;

	sum += initialised.struct_size + of_set.struct_size;
#endif
	config->cache_capacity = LFPOOL_CACHE_NONE;
	config->buffer_caches = LFPOOL_BUFFER_CACHES;
	config->flags = LFPOOL_PREFAULT | LFPOOL_ZERO | LFPOOL_CHECK_RACES | LFPOOL_LOCK | LFPOOL_HUGE_PAGES;
	config->flags |= LFPOOL_PLAIN_STRIDE | LFPOOL_FENCED;
	config->flags &= ~LFPOOL_CREATE_ALL;
	return sum + sizeof(memory) + memory[0] + LFPOOL_ADVICE_SELDOM + LFPOOL_PLACES_MAX + LFPOOL_BATCH_ROOM;
}

#ifdef __cplusplus
}
#endif
