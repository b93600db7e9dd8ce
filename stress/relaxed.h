/* SPDX-License-Identifier: MIT */
/*
 * relaxed.h - relaxed accesses to shared counts and flags, and to values that an edge of the library already orders.
 *
 * If the harness ordered them, ThreadSanitizer could not see that an edge of the library is missing.
 */
#ifndef STRESS_RELAXED_H
#define STRESS_RELAXED_H

#include <stdatomic.h>

#define load_relaxed(at) atomic_load_explicit((at), memory_order_relaxed)
#define store_relaxed(at, value) atomic_store_explicit((at), (value), memory_order_relaxed)
#define exchange_relaxed(at, value) atomic_exchange_explicit((at), (value), memory_order_relaxed)
/* These two return the value before the change. */
#define add_relaxed(at, count) atomic_fetch_add_explicit((at), (count), memory_order_relaxed)
#define subtract_relaxed(at, count) atomic_fetch_sub_explicit((at), (count), memory_order_relaxed)
#define compare_exchange_relaxed(at, expected, value) \
	atomic_compare_exchange_strong_explicit((at), (expected), (value), memory_order_relaxed, memory_order_relaxed)

#endif
