/* SPDX-License-Identifier: MIT */
/* orders.c - each verb of atomics.h, and each protocol step that is inlined elsewhere, as a function for checking its
 * instructions (orders.table). */
#include "core/cache.h"

#define ORDER(result, name, parameters, call)                                 \
	__attribute__((used, noinline)) static result order_##name parameters \
	{                                                                     \
		return call;                                                  \
	}

ORDER(uint64_t, load_relaxed, (const _Atomic(uint64_t) *p), load_relaxed(p))
ORDER(uint64_t, load_acquire, (const _Atomic(uint64_t) *p), load_acquire(p))
ORDER(void, store_relaxed, (_Atomic(uint64_t) *p, uint64_t v), store_relaxed(p, v))
ORDER(void, store_release, (_Atomic(uint64_t) *p, uint64_t v), store_release(p, v))
ORDER(bool, cas_acq_rel, (_Atomic(uint64_t) *p, uint64_t *old, uint64_t new), cas_acq_rel(p, old, new))
ORDER(bool, cas_weak_acq_rel, (_Atomic(uint64_t) *p, uint64_t *old, uint64_t new), cas_weak_acq_rel(p, old, new))
ORDER(bool, cas_release, (_Atomic(uint64_t) *p, uint64_t *old, uint64_t new), cas_release(p, old, new))
ORDER(bool, cas_weak_release, (_Atomic(uint64_t) *p, uint64_t *old, uint64_t new), cas_weak_release(p, old, new))
ORDER(bool, cas_acquire, (_Atomic(uint64_t) *p, uint64_t *old, uint64_t new), cas_acquire(p, old, new))
ORDER(void, light_barrier, (void), light_barrier())
ORDER(void, full_fence, (void), full_fence())
ORDER(void, tagged_set, (tagged_word * word, uint32_t number), tagged_set(word, number))
ORDER(void *, hit_acquire, (struct lfpool_cache_t * cache), lfpool_cache_acquire_inline_(cache))
ORDER(lfpool_status_t, hit_release, (struct lfpool_cache_t * cache, void *object),
      lfpool_cache_release_inline_(cache, object))
ORDER(uintptr_t, pop_asymmetric, (struct lfpool_magazine * m, uint32_t slots), magazine_pop(m, slots, true))
ORDER(uintptr_t, pop_fenced, (struct lfpool_magazine * m, uint32_t slots), magazine_pop(m, slots, false))
ORDER(bool, push, (struct lfpool_magazine * m, uint32_t slots, uintptr_t object), magazine_push(m, slots, object))
ORDER(uintptr_t, take, (struct lfpool_magazine * m, uint32_t slots, uint64_t top, uintptr_t born),
      magazine_take(m, slots, top, born))
ORDER(void, stack_push, (struct stack * s, const struct magazines *ms, struct lfpool_magazine *m), stack_push(s, ms, m))
ORDER(uint32_t, stack_pop, (struct stack * s, const struct magazines *ms, tagged_word *in_transit),
      stack_pop(s, ms, in_transit))
