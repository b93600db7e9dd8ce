/* SPDX-License-Identifier: MIT */
/* test: misuse */
/*
 * test_misuse.c - foreign, interior and double releases are refused with the right status, reported with the right
 * facts, and change nothing, by every call that releases; and the calls that answer a foreign pointer without
 * counting misuse.
 *
 * (Sequences, and a hook that uses the pool: verify/fuzz.  Every offset in every stride: core/unit_arena.c.  The
 * owner of an address, while pools come and go: pool/test_many_pools.c, the programs find-* of verify/explore.)
 */
#define LFPOOL_INLINE_KEEP_NAMES_
#include "../support/support.h"
#include "../support/told.h"

#include "lfpool/inline.h"

#include <errno.h>

enum { SIZE = 40, CAPACITY = 200 };

/* One pool with everything that a release may use; `told` has the hook's last report. */
struct subject {
	lfpool_t *pool;
	lfpool_cache_t *cache;
};

/* From WAY_SELF on, a foreign pointer gets an answer and is not misuse. */
enum way {
	WAY_POOL,
	WAY_CACHE,
	WAY_INLINE,
	WAY_BULK,
	WAY_SELF,
	WAY_IF_OWNED,
	WAY_IF_OWNED_INLINE,
	WAY_CACHE_IF_OWNED,
	WAY_CACHE_IF_OWNED_INLINE,
	WAYS
};

/* Each test runs on each of these. */
static const struct kind {
	lfpool_backend_t backend;
	uint32_t flags;
} kinds[] = {{LFPOOL_BACKEND_LOCKFREE, 0},
	     {LFPOOL_BACKEND_LOCKFREE, LFPOOL_CHECK_RACES},
	     {LFPOOL_BACKEND_LOCKFREE, LFPOOL_ZERO},
	     {LFPOOL_BACKEND_MUTEX, 0}};

static struct subject subject_of(lfpool_backend_t backend, uint32_t flags)
{
	struct subject s;

	s.pool = POOL_OF(SIZE, CAPACITY, .name = "the subject", .object_alignment = 64, .flags = flags,
			 .backend = backend, .hooks.misuse = hear);
	assert_non_null(s.cache = lfpool_cache_create(s.pool));
	return s;
}

static lfpool_status_t release_by(struct subject *s, enum way way, void *object)
{
	const size_t before = told.count;

	switch (way) {
	case WAY_POOL: return lfpool_release(s->pool, object);
	case WAY_CACHE: return lfpool_cache_release(s->cache, object);
	case WAY_INLINE: return lfpool_cache_release_inline_(s->cache, object);
	case WAY_SELF: return lfpool_release_self(object);
	case WAY_IF_OWNED: return lfpool_release_if_owned(s->pool, object);
	case WAY_IF_OWNED_INLINE: return lfpool_release_if_owned_inline_(s->pool, object);
	case WAY_CACHE_IF_OWNED: return lfpool_cache_release_if_owned(s->cache, object);
	case WAY_CACHE_IF_OWNED_INLINE: return lfpool_cache_release_if_owned_inline_(s->cache, object);
	default:
		if (lfpool_release_bulk(s->pool, &object, 1) == 1)
			return LFPOOL_OK;
		return told.count > before ? told.misuse.status : LFPOOL_OK;
	}
}

/* Refused in every way: status, report, counts. */
static void expect_refused(struct subject *s, void *object, lfpool_status_t status)
{
	const size_t active = lfpool_active_count(s->pool);

	for (enum way way = WAY_POOL; way < WAYS; way++) {
		const bool told_of = status != LFPOOL_E_FOREIGN || way < WAY_SELF;
		const uint64_t count = lfpool_quick_stats(s->pool).misuses + told_of;

		/* It may be another pool's; and no address leads to a pool in a buffer. */
		if (way == WAY_SELF && lfpool_of(object) != (told_of ? s->pool : NULL))
			continue;
		told_forget();
		assert_int_equal(release_by(s, way, object), status);
		assert_int_equal(told.count, told_of);
		assert_int_equal(lfpool_quick_stats(s->pool).misuses, count);
		assert_int_equal(lfpool_active_count(s->pool), active);
		if (!told_of)
			continue;
		assert_ptr_equal(told.misuse.pool, s->pool);
		assert_ptr_equal(told.misuse.object, object);
		assert_int_equal(told.misuse.status, status);
		assert_int_equal(told.misuse.count, count);
		assert_string_equal(told.pool_name, "the subject");
		assert_string_equal(told.detail, "");
		assert_true(told.misuse.handle == 0);
		assert_true(told.misuse.index ==
			    (status == LFPOOL_E_NOT_IN_USE ? lfpool_index_of(s->pool, object) : SIZE_MAX));
	}
}

static void subject_close(struct subject *s)
{
	lfpool_cache_destroy(s->cache);
	pool_close(s->pool, SIZE);
}

TEST(foreign_pointers_are_refused)
{
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct subject s = subject_of(kinds[i].backend, kinds[i].flags),
			       other = subject_of(kinds[i].backend, kinds[i].flags);
		void *objects[CAPACITY], *heap = malloc(100), *others = lfpool_acquire(other.pool);
		static int in_data;
		int on_stack;

		assert_int_equal(acquire_all(s.pool, objects, CAPACITY), CAPACITY);
		assert_true(sort_disjoint(objects, CAPACITY, SIZE));
		const ptrdiff_t stride = (ptrdiff_t)stride_of(s.pool, objects[0]);
		void *const first = objects[0], *const last = objects[CAPACITY - 1];
		void *const strangers[] = {
			&on_stack,
			&in_data,
			heap,
			others,
			s.pool,
			s.cache,
			(void *)1,
			(void *)UINTPTR_MAX,
			moved(first, -1),
			moved(first, -stride),
			moved(first, -1000 * stride),
			moved(last, stride),
			moved(last, stride + 1),
			moved(last, 1000 * stride),
#if UINTPTR_MAX > UINT32_MAX
			/* 2^32 and 2^33 strides away: a slot number cut to 32 bits would wrap to this one. */
			moved(objects[3], stride << 32),
			moved(objects[3], -(stride << 32)),
			moved(objects[3], stride << 33),
#endif
		};

		/* For free and active objects. */
		for (int active = 1; active >= 0; active--) {
			for (size_t k = 0; k < COUNT(strangers); k++)
				expect_refused(&s, strangers[k], LFPOOL_E_FOREIGN);
			if (active)
				release_all(s.pool, objects, CAPACITY);
		}
		assert_int_equal(lfpool_release(other.pool, others), LFPOOL_OK);
		subject_close(&s);
		subject_close(&other);
		free(heap);
	}
}

/* All objects except one are free: released before, or never acquired.  Padding between aligned objects is interior
 * too. */
TEST(interior_pointers_and_free_objects_are_refused)
{
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct subject s = subject_of(kinds[i].backend, kinds[i].flags);
		char *active = lfpool_acquire(s.pool), *freed = lfpool_cache_acquire_inline_(s.cache);

		assert_int_equal(lfpool_release(s.pool, freed), LFPOOL_OK);
		for (size_t index = 0; index < CAPACITY; index++) {
			char *object = lfpool_object_at(s.pool, index);

			/* Every offset of the first few; of the others some. */
			for (ptrdiff_t offset = 1; offset < 64; offset += index < 8 ? 1 : 9)
				expect_refused(&s, object + offset, LFPOOL_E_INTERIOR);
			if (object != active)
				expect_refused(&s, object, LFPOOL_E_NOT_IN_USE);
		}
		const uint64_t count = lfpool_quick_stats(s.pool).misuses;

		for (enum way way = WAY_POOL; way < WAYS; way++)
			assert_int_equal(release_by(&s, way, NULL), LFPOOL_OK);
		assert_int_equal(lfpool_quick_stats(s.pool).misuses, count);
		assert_int_equal(lfpool_release(s.pool, active), LFPOOL_OK);
		subject_close(&s);
	}
}

static bool hook_fails;

static void change_errno(void *context, const lfpool_misuse_t *misuse)
{
	hear(context, misuse);
	if (hook_fails)
		errno = EIO;
}

/* By every call that reports, whatever the hook does. */
BACKEND_TEST(report_leaves_errno_alone, LFPOOL_BACKEND_MUTEX)
{
	struct subject s = {.pool = POOL_OF(SIZE, CAPACITY, .backend = backend, .hooks.misuse = change_errno)};
	void *object = lfpool_acquire(s.pool);

	assert_non_null(s.cache = lfpool_cache_create(s.pool));
	assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
	for (int fails = 0; fails < 2; fails++) {
		hook_fails = fails;
		for (enum way way = WAY_POOL; way < WAYS; way++) {
			if (way == WAY_SELF && lfpool_of(object) != s.pool)
				continue;
			told_forget();
			errno = EDOM;
			assert_int_equal(release_by(&s, way, object), LFPOOL_E_NOT_IN_USE);
			assert_int_equal(errno, EDOM);
			assert_int_equal(told.count, 1);
		}
		errno = EDOM;
		assert_int_equal(lfpool_release_handle(s.pool, 0), LFPOOL_E_STALE);
		assert_int_equal(errno, EDOM);
		assert_int_equal(lfpool_unpin(s.pool, 0), LFPOOL_E_STALE);
		assert_int_equal(errno, EDOM);
	}
	subject_close(&s);
}

/* Valgrind preloads its own library. */
static bool under_valgrind(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	return preloaded && strstr(preloaded, "vgpreload");
}

/* If only active objects have addresses, no release reads the memory of a foreign pointer, or of a freed object.
 * Only lfpool_release_self() reads the bytes before it, if they are readable: it asks the system, with an address
 * that Valgrind reports. */
TEST(foreign_pointers_are_refused_in_malloc_mode)
{
	enum { UNREADABLE = 3 };
	const enum way ways = under_valgrind() ? WAY_SELF : WAYS;
	struct subject s = subject_of(LFPOOL_BACKEND_MALLOC, 0);
	void *objects[CAPACITY];

	/* The environment may have selected another mode. */
	const bool in_force = lfpool_quick_stats(s.pool).backend == LFPOOL_BACKEND_MALLOC;

	for (enum way way = WAY_POOL; in_force && way < ways; way++) {
		const size_t count = way == WAY_SELF ? UNREADABLE : UNREADABLE + 4;

		assert_int_equal(acquire_all(s.pool, objects, CAPACITY), CAPACITY);
		void *const strangers[] = {(void *)1, (void *)4096,         (void *)UINTPTR_MAX,    &s,
					   s.pool,    moved(objects[0], 1), moved(objects[0], SIZE)};

		told_forget();
		for (size_t i = 0; i < count; i++)
			assert_int_equal(release_by(&s, way, strangers[i]), LFPOOL_E_FOREIGN);
		assert_int_equal(told.count, way < WAY_SELF ? count : 0);
		for (size_t i = 0; i < CAPACITY; i++)
			assert_int_equal(release_by(&s, way, objects[i]), LFPOOL_OK);
		assert_int_equal(lfpool_active_count(s.pool), 0);
		if (way != WAY_SELF)
			assert_int_equal(release_by(&s, way, objects[0]), LFPOOL_E_FOREIGN);
	}
	subject_close(&s);
}

RUN_TESTS()
