/* SPDX-License-Identifier: MIT */
/* test: misuse */
/*
 * test_misuse.c - foreign, interior and double releases are refused with the right status, reported with the right
 * facts, and change nothing, whichever call they come through.  (The sequences: verify/fuzz.)
 */
#define LFPOOL_INLINE_KEEP_NAMES
#include "../support/support.h"
#include "../support/told.h"

#include "lfpool/inline.h"

/* One pool with all that a release can come through; what the hook heard is in `told`. */
struct subject {
	lfpool_t *pool;
	lfpool_cache_t *cache;
};

enum way { WAY_POOL, WAY_CACHE, WAY_INLINE, WAY_BULK, WAYS };

/* Each test runs on each of these. */
static const struct kind {
	lfpool_backend_t backend;
	uint32_t flags;
} kinds[] = {{LFPOOL_BACKEND_LOCKFREE, 0},
	     {LFPOOL_BACKEND_LOCKFREE, LFPOOL_CHECK_RACES},
	     {LFPOOL_BACKEND_LOCKFREE, LFPOOL_ZERO},
	     {LFPOOL_BACKEND_MUTEX, 0}};

static struct subject subject_of(const struct kind *kind, size_t object_size, size_t capacity, size_t alignment)
{
	struct subject s;

	s.pool = POOL_OF(object_size, capacity, .name = "the subject", .object_alignment = alignment, .flags = kind->flags,
			 .backend = kind->backend, .hooks.misuse = hear);
	assert_non_null(s.cache = lfpool_cache_create(s.pool));
	return s;
}

static lfpool_status_t release_by(struct subject *s, enum way way, void *object)
{
	const size_t before = told.count;

	switch (way) {
	case WAY_POOL: return lfpool_release(s->pool, object);
	case WAY_CACHE: return lfpool_cache_release(s->cache, object);
	case WAY_INLINE: return lfpool_cache_release_inline(s->cache, object);
	default:
		if (lfpool_release_bulk(s->pool, &object, 1) == 1)
			return LFPOOL_OK;
		return told.count > before ? told.misuse.status : LFPOOL_OK;
	}
}

/* Refused by every way: status, report, counts. */
static void expect_refused(struct subject *s, void *object, lfpool_status_t status)
{
	const size_t active = lfpool_active_count(s->pool);

	for (enum way way = WAY_POOL; way < WAYS; way++) {
		const size_t count = lfpool_misuse_count(s->pool);

		told_forget();
		assert_int_equal(release_by(s, way, object), status);
		assert_int_equal(told.count, 1);
		assert_int_equal(lfpool_misuse_count(s->pool), count + 1);
		assert_ptr_equal(told.misuse.pool, s->pool);
		assert_ptr_equal(told.misuse.object, object);
		assert_int_equal(told.misuse.status, status);
		assert_int_equal(told.misuse.count, count + 1);
		assert_string_equal(told.pool_name, "the subject");
		assert_string_equal(told.detail, "");
		assert_true(told.misuse.handle == 0);
		if (status == LFPOOL_E_NOT_IN_USE)
			assert_int_equal(told.misuse.index, lfpool_index_of(s->pool, object));
		else
			assert_true(told.misuse.index == SIZE_MAX);
		assert_int_equal(lfpool_active_count(s->pool), active);
	}
}

static void subject_close(struct subject *s, size_t object_size)
{
	lfpool_cache_destroy(s->cache);
	pool_close(s->pool, object_size);
}

TEST(foreign_pointers)
{
	for (size_t i = 0; i < COUNT(kinds); i++) {
		enum { CAPACITY = 50 };
		struct subject s = subject_of(&kinds[i], 24, CAPACITY, 1), other = subject_of(&kinds[i], 24, CAPACITY, 1);
		void *objects[CAPACITY], *heap = malloc(100), *others = lfpool_acquire(other.pool);
		static int in_data;
		int on_stack;

		assert_int_equal(acquire_all(s.pool, objects, CAPACITY), CAPACITY);
		assert_true(sort_disjoint(objects, CAPACITY, 24));
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
			/* As far away as 2^32 and 2^33 strides: a slot number cut to 32 bits would come round. */
			moved(objects[3], stride << 32),
			moved(objects[3], -(stride << 32)),
			moved(objects[3], stride << 33),
#endif
		};

		/* Free or active makes no difference. */
		for (int active = 1; active >= 0; active--) {
			for (size_t k = 0; k < COUNT(strangers); k++)
				expect_refused(&s, strangers[k], LFPOOL_E_FOREIGN);
			if (active)
				release_all(s.pool, objects, CAPACITY);
		}
		assert_int_equal(lfpool_release(other.pool, others), LFPOOL_OK);
		subject_close(&s, 24);
		subject_close(&other, 24);
		free(heap);
	}
}

/* Every offset, of an active object, of a free one, and of one that was never used; padding that alignment makes between objects
 * is interior too. */
TEST(interior_pointers)
{
	static const size_t sizes[] = {2, 3, 8, 12, 24, 40, 64, 65, 100, 127, 20}, alignments[] = {1, 64};

	for (size_t i = 0; i < COUNT(sizes) * COUNT(kinds) * COUNT(alignments); i++) {
		const size_t size = sizes[i % COUNT(sizes)];
		struct subject s = subject_of(&kinds[i / COUNT(sizes) % COUNT(kinds)], size, 1000,
					      alignments[i / COUNT(sizes) / COUNT(kinds)]);
		void *active = lfpool_cache_acquire_inline(s.cache), *freed = lfpool_cache_acquire_inline(s.cache);

		assert_true(active && freed);
		assert_int_equal(lfpool_release(s.pool, freed), LFPOOL_OK);
		const size_t stride = stride_of(s.pool, active);
		void *unused = moved(active, (ptrdiff_t)(owned_beyond(s.pool, active, (ptrdiff_t)stride) * stride));

		for (ptrdiff_t offset = 1; offset < (ptrdiff_t)stride; offset++) {
			expect_refused(&s, moved(active, offset), LFPOOL_E_INTERIOR);
			expect_refused(&s, moved(freed, offset), LFPOOL_E_INTERIOR);
			expect_refused(&s, moved(unused, offset), LFPOOL_E_INTERIOR);
		}
		assert_int_equal(lfpool_release(s.pool, active), LFPOOL_OK);
		subject_close(&s, size);
	}
}

/* Every free object: released before, or never acquired; and released in vain, it is there once. */
TEST(objects_that_are_not_in_use)
{
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct subject s = subject_of(&kinds[i], 24, 1000, 1);
		char *object = lfpool_acquire(s.pool), *other = lfpool_acquire(s.pool);

		assert_int_equal(lfpool_release(s.pool, other), LFPOOL_OK);
		const size_t stride = stride_of(s.pool, object), below = owned_beyond(s.pool, object, -(ptrdiff_t)stride);
		char *first = moved(object, -(ptrdiff_t)(below * stride));

		for (size_t k = 0; k < 1000; k++)
			if (first + k * stride != object)
				expect_refused(&s, first + k * stride, LFPOOL_E_NOT_IN_USE);
		for (enum way way = WAY_POOL; way < WAYS; way++)
			assert_int_equal(release_by(&s, way, NULL), LFPOOL_OK);
		assert_int_equal(lfpool_misuse_count(s.pool), 999 * WAYS);
		assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
		subject_close(&s, 24);
	}
}

/* The hook runs in the middle of the call with no lock held: it may use the pool that refuses, even wrongly. */
static void use_the_pool(void *context, const lfpool_misuse_t *misuse)
{
	size_t *depth = context;
	void *objects[9];

	REQUIRE(lfpool_misuse_count(misuse->pool) == misuse->count);
	if (++*depth < 5)
		REQUIRE(lfpool_release(misuse->pool, depth) == LFPOOL_E_FOREIGN);
	const size_t count = acquire_all(misuse->pool, objects, 9);

	REQUIRE(count + lfpool_available_count(misuse->pool) <= 9 && count > 0);
	release_all(misuse->pool, objects, count);
}

BACKEND_TEST(a_hook_may_call_the_pool, LFPOOL_BACKEND_MUTEX)
{
	size_t depth = 0;
	lfpool_t *pool = POOL_OF(16, 9, .backend = backend, .hooks.context = &depth, .hooks.misuse = use_the_pool);

	assert_int_equal(lfpool_release(pool, &depth), LFPOOL_E_FOREIGN);
	assert_int_equal(depth, 5);
	void *object = lfpool_acquire(pool);

	assert_int_equal(lfpool_release(pool, moved(object, 3)), LFPOOL_E_INTERIOR);
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	void *const twice[] = {object, lfpool_acquire(pool), object, object};

	assert_int_equal(lfpool_release_bulk(pool, twice, 4), 1);
	pool_close(pool, 16);
}

RUN_TESTS()
