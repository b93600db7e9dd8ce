/* SPDX-License-Identifier: MIT */
/*
 * absent.c - with LFPOOL_EMBEDDED, in the place of all that is left out (docs/embedded.md); empty without.
 *
 * Idea         A pool in a buffer has no debug modes, no scheme, no objects of the heap's, no caches of threads, and is in no
 *              list.  The sources that are kept ask whether there is any of it, and find
 *              none: what they would call then traps.  What they ask without a look before answers here that there is none.
 */
#include "api/check.h"
#include "base/absent.h"
#include "core/cold.h"
#include "evict/order.h"
#include "object/debugging.h"
#include "pool/misuse.h"
#include "os/os.h"
#include "pool/configure.h"
#include "pool/heap.h"
#include "pool/live_pools.h"
#include "pool/threads.h"
#include "retire/retired.h"

#ifdef LFPOOL_EMBEDDED

/* clang-format off */

/* ---- Threads, and other pools ---- */

NONE(false, bool, threads_keep_caches, void)
NONE(NULL, struct cache_head *, thread_cache, lfpool_t *pool)
NONE(NULL, struct cache_head *, thread_cache_remembered, lfpool_t *pool)
NONE(NULL, struct cache_head *, thread_cache_if_any, const lfpool_t *pool)
NONE(NULL, lfpool_t *, live_pools_find_by_address, const void *address)
NEVER(uint64_t, live_pools_add, lfpool_t *pool, uintptr_t first, uintptr_t end)
NEVER(void, live_pools_remove, uint64_t id)
NOTHING(config_tell_ignored, const char *name, const char *why)

/* ---- The debug modes, and the check ---- */

NEVER(bool, debug_open, struct debug **debug_out, const lfpool_config_t *config, const struct debug_modes *modes)
NOTHING(debug_close, struct debug *debug)
NOTHING(debug_plan, const struct debug *debug, struct arena_plan *plan)
NOTHING(debug_attach, struct debug *debug, const struct debug_home *home)
NOTHING(debug_detach, struct debug *debug, size_t used)
NEVER(void, debug_slot_open, struct debug *debug, uint32_t slot, void *object)
NEVER(void, debug_slot_refused, struct debug *debug, uint32_t slot, void *object)
NEVER(void, debug_slot_begun, struct debug *debug, uint32_t slot)
NEVER(void, debug_slot_ending, struct debug *debug, uint32_t slot, void *object)
NEVER(uint32_t, debug_slot_end, struct debug *debug, uint32_t slot, void *object)
NEVER(void, debug_slot_cool, struct debug *debug, uint32_t slot, void *object)
NEVER(void, debug_slot_lend, struct debug *debug, void *object, bool begins)
NOTHING(debug_slot_show, struct debug *debug, uint32_t slot, void *object)
NONE(false, bool, debug_quarantines, const struct debug *debug)
NEVER(uint32_t, debug_take_back, struct debug *debug, uint64_t *versions_out)
NONE(0, size_t, debug_held_back, const struct debug *debug)
NEVER(uint32_t, debug_next_held_back, const struct debug *debug, uint32_t *place)
NEVER(void, debug_label, struct debug *debug, uint32_t slot, const char *label)
NEVER(void, debug_put_released, const struct debug *debug, uint32_t slot, struct text *text)
NEVER(void, check_last, lfpool_t *pool)

/* ---- Retired objects, pages that were given back, the heap ---- */

NEVER(lfpool_status_t, retired_open, lfpool_t *pool, const lfpool_scheme_t *scheme, size_t slots, uint32_t flags)
NONE(LFPOOL_OK, lfpool_status_t, retired_finish, struct retired *retired, lfpool_t *pool)
NOTHING(retired_close, struct retired *retired)
NEVER(void, retired_push, lfpool_t *pool, uint32_t slot)
NEVER(lfpool_status_t, order_open, struct order **order_out, const lfpool_config_t *config, const struct arena *arena)
NOTHING(order_close, struct order *order)
NEVER(void, order_lower, struct order *order, uint32_t slot)
NONE(false, bool, retired_poll, struct retired *retired, struct cache_head *head)
NONE(0, size_t, retired_count, const struct retired *retired, size_t capacity)
NEVER(const void *, heap_label, const void *object)
NEVER(void *, heap_object_new, lfpool_t *pool, uint32_t slot)
NEVER(void, heap_object_free, lfpool_t *pool, uint32_t slot, void *object)
NEVER(void *, heap_object_at, const lfpool_t *pool, uint32_t slot)
NEVER(lfpool_status_t, heap_locate, const lfpool_t *pool, const void *object, uint32_t *slot_out)
NEVER(struct heap *, heap_open, const lfpool_config_t *config)
NOTHING(heap_close, struct heap *heap)
NEVER(bool, os_mutex_open, os_mutex_t *mutex)
NEVER(void, os_mutex_close, os_mutex_t *mutex)

/* clang-format on */

/* ---- What is there after all ---- */

uint32_t thread_hint(void)
{
	return (uint32_t)(os_thread_self() >> 10);
}

/* None is known: a word is one too many. */
bool debug_words_read(struct debug_modes *modes, const char *words)
{
	return !words || !*words;
}

#endif
