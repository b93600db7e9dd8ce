/* SPDX-License-Identifier: MIT */
/*
 * tools.c - see tools.h.
 */
#include "object/tools.h"

#if defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#define HAVE_MEMCHECK 1
#endif
#endif

/* The sanitizers define these names. */
__attribute__((weak)) void __asan_poison_memory_region(void const volatile *address, size_t bytes);
__attribute__((weak)) void __asan_unpoison_memory_region(void const volatile *address, size_t bytes);
__attribute__((weak)) void __lsan_register_root_region(const void *address, size_t bytes);
__attribute__((weak)) void __lsan_unregister_root_region(const void *address, size_t bytes);

/* TO3: a library built with ThreadSanitizer reports no edges, because a reported edge would hide that the library lacks
 * one. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BUILT_FOR_TSAN 1
#endif
#endif
#if !defined(__SANITIZE_THREAD__) && !defined(BUILT_FOR_TSAN)
#define TELL_TSAN 1
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);
#endif

/* The range of roots begins with this size and doubles, so a search for leaks reads at most this size or twice the used
 * memory. */
#define ROOTS_FIRST_BYTES ((size_t)1 << 20)

bool tools_find(struct tools *t)
{
	*t = (struct tools){
		.asan = __asan_poison_memory_region && __asan_unpoison_memory_region,
		.lsan = __lsan_register_root_region && __lsan_unregister_root_region,
	};
#ifdef TELL_TSAN
	t->tsan = __tsan_acquire && __tsan_release;
#endif
#ifdef HAVE_MEMCHECK
	char byte = 0;

	/* If the program does not run in Valgrind, the request does nothing, and does not read `byte`. */
	(void)byte;
	/* Valgrind's other tools return 0. */
	t->memcheck = VALGRIND_MAKE_MEM_DEFINED(&byte, sizeof(byte)) != 0;
#endif
	return t->asan || t->lsan || t->memcheck || t->tsan;
}

/* ---- Memory ---- */

void tools_open(const struct tools *t, void *memory, size_t bytes)
{
	if (t->asan)
		__asan_unpoison_memory_region(memory, bytes);
#ifdef HAVE_MEMCHECK
	if (t->memcheck)
		(void)VALGRIND_MAKE_MEM_DEFINED(memory, bytes);
#endif
}

void tools_shut(const struct tools *t, void *memory, size_t bytes)
{
	if (t->asan)
		__asan_poison_memory_region(memory, bytes);
#ifdef HAVE_MEMCHECK
	if (t->memcheck)
		(void)VALGRIND_MAKE_MEM_NOACCESS(memory, bytes);
#endif
}

/* ---- Roots ---- */

/* The next value of `rooted`, the number of slots that are roots. */
static uint64_t roots_next(const struct object_range *range, uint64_t rooted)
{
	const uint64_t first = ROOTS_FIRST_BYTES / range->stride + 1, next = rooted ? 2 * rooted : first;

	return next < range->slots ? next : range->slots;
}

static void *roots_at(const struct object_range *range, uint64_t rooted, uint64_t next, size_t *bytes_out)
{
	*bytes_out = (size_t)(next - rooted) * range->stride;
	return range_object(range, (uint32_t)rooted + 1);
}

static COLD void roots_grow(struct tools *t, uint32_t slot)
{
	/* relaxed, all: the word only assigns ranges to threads, and publishes no data. */
	uint64_t rooted = load_relaxed(&t->rooted);

	/* Retries only after another thread has added a range. */
	while (rooted < slot) {
		const uint64_t next = roots_next(&t->range, rooted);
		size_t bytes;
		void *at = roots_at(&t->range, rooted, next, &bytes);

		if (!cas_weak_relaxed(&t->rooted, &rooted, next))
			continue;
		__lsan_register_root_region(at, bytes);
		rooted = next;
	}
}

static void roots_remove(struct tools *t)
{
	const uint64_t end = load_relaxed(&t->rooted);

	for (uint64_t rooted = 0, next; rooted < end; rooted = next) {
		size_t bytes;
		void *at;

		next = roots_next(&t->range, rooted);
		at = roots_at(&t->range, rooted, next, &bytes);
		__lsan_unregister_root_region(at, bytes);
	}
}

/* ---- A pool ---- */

/* The memory of the first `slots` slots, guard bytes included. */
static void *first_of(const struct object_range *range, uint64_t slots, size_t *bytes_out)
{
	*bytes_out = (size_t)(slots < range->slots ? slots : range->slots) * range->stride;
	return (char *)range_object(range, 1) - range->front;
}

void tools_attach(struct tools *t, const struct object_range *range, bool defined)
{
	size_t bytes;
	void *first = first_of(range, SHUT_FIRST_BYTES / range->stride, &bytes);

	t->range = *range;
	tools_shut(t, first, bytes);
#ifdef HAVE_MEMCHECK
	if (t->memcheck)
		VALGRIND_CREATE_MEMPOOL(t, 0, defined);
#endif
	(void)defined;
}

void tools_detach(struct tools *t, size_t used)
{
	const uint64_t shut = SHUT_FIRST_BYTES / t->range.stride;
	size_t bytes;
	void *first = first_of(&t->range, shut < used ? used : shut, &bytes);

#ifdef HAVE_MEMCHECK
	if (t->memcheck)
		VALGRIND_DESTROY_MEMPOOL(t);
#endif
	tools_open(t, first, bytes);
	if (t->lsan)
		roots_remove(t);
}

void tools_acquired(struct tools *t, uint32_t slot, void *object, size_t bytes)
{
#ifdef HAVE_MEMCHECK
	if (t->memcheck)
		VALGRIND_MEMPOOL_ALLOC(t, object, bytes);
#endif
#ifdef TELL_TSAN
	if (t->tsan)
		__tsan_acquire(object);
#endif
	(void)object;
	(void)bytes;
	/* relaxed: a stale value costs a needless call of roots_grow(). */
	if (t->lsan && slot > load_relaxed(&t->rooted))
		roots_grow(t, slot);
}

void tools_released(struct tools *t, void *object, size_t bytes)
{
#ifdef TELL_TSAN
	if (t->tsan)
		__tsan_release(object);
#endif
#ifdef HAVE_MEMCHECK
	if (t->memcheck)
		VALGRIND_MEMPOOL_FREE(t, object);
#endif
	if (t->asan)
		__asan_poison_memory_region(object, bytes);
}
