/* SPDX-License-Identifier: MIT */
/*
 * orders.c - each verb of atomics.h and each protocol step that is inlined elsewhere, as a function whose instructions
 * can be looked at (orders.table).
 */
#include "core/cache.h"

#define KEEP __attribute__((used, noinline))

KEEP static uint64_t order_load_relaxed(const _Atomic(uint64_t) *p)
{
	return load_relaxed(p);
}

KEEP static uint64_t order_load_acquire(const _Atomic(uint64_t) *p)
{
	return load_acquire(p);
}

KEEP static void order_store_relaxed(_Atomic(uint64_t) *p, uint64_t v)
{
	store_relaxed(p, v);
}

KEEP static void order_store_release(_Atomic(uint64_t) *p, uint64_t v)
{
	store_release(p, v);
}

KEEP static bool order_cas_acq_rel(_Atomic(uint64_t) *p, uint64_t *old, uint64_t new)
{
	return cas_acq_rel(p, old, new);
}

KEEP static bool order_cas_weak_acq_rel(_Atomic(uint64_t) *p, uint64_t *old, uint64_t new)
{
	return cas_weak_acq_rel(p, old, new);
}

KEEP static bool order_cas_release(_Atomic(uint64_t) *p, uint64_t *old, uint64_t new)
{
	return cas_release(p, old, new);
}

KEEP static bool order_cas_weak_release(_Atomic(uint64_t) *p, uint64_t *old, uint64_t new)
{
	return cas_weak_release(p, old, new);
}

KEEP static bool order_cas_acquire(_Atomic(uint64_t) *p, uint64_t *old, uint64_t new)
{
	return cas_acquire(p, old, new);
}

KEEP static void order_light_barrier(void)
{
	light_barrier();
}

KEEP static void order_full_fence(void)
{
	full_fence();
}

KEEP static void order_tagged_set(tagged_word *word, uint32_t number)
{
	tagged_set(word, number);
}

KEEP static void *order_hit_acquire(struct lfpool_cache *cache)
{
	return lfpool_cache_acquire_inline(cache);
}

KEEP static lfpool_status_t order_hit_release(struct lfpool_cache *cache, void *object)
{
	return lfpool_cache_release_inline(cache, object);
}

KEEP static uintptr_t order_pop_asymmetric(struct lfpool_magazine *m, uint32_t slots)
{
	return magazine_pop(m, slots, true);
}

KEEP static uintptr_t order_pop_fenced(struct lfpool_magazine *m, uint32_t slots)
{
	return magazine_pop(m, slots, false);
}

KEEP static bool order_push(struct lfpool_magazine *m, uint32_t slots, uintptr_t object)
{
	return magazine_push(m, slots, object);
}

KEEP static uintptr_t order_take(struct lfpool_magazine *m, uint32_t slots, uint64_t top, uintptr_t born)
{
	return magazine_take(m, slots, top, born);
}

KEEP static void order_stack_push(struct stack *s, const struct magazines *ms, struct lfpool_magazine *m)
{
	stack_push(s, ms, m);
}

KEEP static uint32_t order_stack_pop(struct stack *s, const struct magazines *ms, tagged_word *in_transit)
{
	return stack_pop(s, ms, in_transit);
}
