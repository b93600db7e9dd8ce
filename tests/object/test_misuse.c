/* SPDX-License-Identifier: MIT */
/* test: misuse */
/*
 * test_misuse.c - foreign, interior and double releases are refused with the right status, reported with the right
 * facts, and change nothing, whichever call they come through.
 */
#define LFPOOL_INLINE_KEEP_NAMES
#include "../support/support.h"

#include "lfpool/inline.h"

#include <pthread.h>

/* What the hook saw last. */
struct report {
	size_t calls;
	lfpool_misuse_t last;
	char pool_name[64];
	pthread_t thread;
};

static void take_report(void *context, const lfpool_misuse_t *misuse)
{
	struct report *report = context;

	report->calls++;
	report->last = *misuse;
	report->thread = pthread_self();
	snprintf(report->pool_name, sizeof(report->pool_name), "%s", misuse->pool_name);
}

/* One pool with all that a release can come through. */
struct subject {
	lfpool_t *pool;
	lfpool_cache_t *cache;
	struct report report;
};

enum way { WAY_POOL, WAY_CACHE, WAY_INLINE, WAY_BULK, WAYS };

static void subject_open(struct subject *s, size_t object_size, size_t capacity, uint32_t flags)
{
	lfpool_config_t config = config_of(object_size, capacity);

	memset(s, 0, sizeof(*s));
	config.name = "the subject";
	config.object_alignment = 1;
	config.flags = flags;
	config.hooks.context = &s->report;
	config.hooks.misuse = take_report;
	s->pool = pool_with(&config);
	assert_non_null(s->cache = lfpool_cache_create(s->pool));
}

static lfpool_status_t release_by(struct subject *s, enum way way, void *object)
{
	size_t before = s->report.calls;

	switch (way) {
	case WAY_POOL: return lfpool_release(s->pool, object);
	case WAY_CACHE: return lfpool_cache_release(s->cache, object);
	case WAY_INLINE: return lfpool_cache_release_inline(s->cache, object);
	default:
		if (lfpool_release_bulk(s->pool, &object, 1) == 1)
			return LFPOOL_OK;
		return s->report.calls > before ? s->report.last.status : LFPOOL_OK;
	}
}

static void *acquire_by(struct subject *s, enum way way)
{
	return way == WAY_CACHE    ? lfpool_cache_acquire(s->cache)
	       : way == WAY_INLINE ? lfpool_cache_acquire_inline(s->cache)
				   : lfpool_acquire(s->pool);
}

/* Refused by every way: status, report, counts. */
static void expect_refused(struct subject *s, void *object, lfpool_status_t status)
{
	size_t active = lfpool_active_count(s->pool);

	for (enum way way = WAY_POOL; way < WAYS; way++) {
		size_t calls = s->report.calls, count = lfpool_misuse_count(s->pool);

		memset(&s->report.last, 0, sizeof(s->report.last));
		assert_int_equal(release_by(s, way, object), status);
		assert_int_equal(s->report.calls, calls + 1);
		assert_int_equal(lfpool_misuse_count(s->pool), count + 1);
		assert_ptr_equal(s->report.last.pool, s->pool);
		assert_ptr_equal(s->report.last.object, object);
		assert_int_equal(s->report.last.status, status);
		assert_int_equal(s->report.last.count, count + 1);
		assert_string_equal(s->report.pool_name, "the subject");
		assert_non_null(s->report.last.detail);
		assert_true(s->report.last.handle == 0);
		if (status == LFPOOL_E_NOT_IN_USE)
			assert_int_equal(s->report.last.index, lfpool_index_of(s->pool, object));
		else
			assert_true(s->report.last.index == SIZE_MAX);
		assert_true(pthread_equal(s->report.thread, pthread_self()));
		assert_int_equal(lfpool_active_count(s->pool), active);
		assert_int_equal(lfpool_available_count(s->pool), lfpool_capacity(s->pool) - active);
	}
}

static void subject_close(struct subject *s, size_t object_size)
{
	lfpool_cache_destroy(s->cache);
	require_whole(s->pool, object_size);
	assert_int_equal(lfpool_destroy(s->pool), 0);
}

static const uint32_t kinds[] = {0, LFPOOL_CHECK_RACES, LFPOOL_ZERO};

TEST(foreign_pointers)
{
	for (size_t i = 0; i < COUNT(kinds); i++) {
		enum { CAPACITY = 50 };
		struct subject s, other;
		void *objects[CAPACITY], *heap = malloc(100);
		static int in_data;
		int on_stack;

		subject_open(&s, 24, CAPACITY, kinds[i]);
		subject_open(&other, 24, CAPACITY, kinds[i]);
		void *others = lfpool_acquire(other.pool);
		assert_int_equal(acquire_all(s.pool, objects, CAPACITY), CAPACITY);
		assert_true(sort_disjoint(objects, CAPACITY, 24));
		size_t stride = stride_of(s.pool, objects[0]);
		void *const strangers[] = {
			&on_stack,
			&in_data,
			heap,
			others,
			s.pool,
			s.cache,
			(void *)1,
			(void *)UINTPTR_MAX,
			moved(objects[0], -1),
			moved(objects[0], -(ptrdiff_t)stride),
			moved(objects[0], -1000 * (ptrdiff_t)stride),
			moved(objects[CAPACITY - 1], (ptrdiff_t)stride),
			moved(objects[CAPACITY - 1], (ptrdiff_t)stride + 1),
			moved(objects[CAPACITY - 1], 1000 * (ptrdiff_t)stride),
#if UINTPTR_MAX > UINT32_MAX
			/* As far away as 2^32 and 2^33 strides: a slot number cut to 32 bits would come round. */
			moved(objects[3], (ptrdiff_t)stride << 32),
			moved(objects[3], -((ptrdiff_t)stride << 32)),
			moved(objects[3], (ptrdiff_t)stride << 33),
#endif
		};
		for (size_t k = 0; k < COUNT(strangers); k++)
			expect_refused(&s, strangers[k], LFPOOL_E_FOREIGN);
		assert_int_equal(lfpool_release(other.pool, others), LFPOOL_OK);
		release_all(s.pool, objects, CAPACITY);
		/* Free or active makes no difference. */
		for (size_t k = 0; k < COUNT(strangers); k++)
			expect_refused(&s, strangers[k], LFPOOL_E_FOREIGN);
		subject_close(&s, 24);
		subject_close(&other, 24);
		free(heap);
	}
}

TEST(null_is_no_misuse)
{
	struct subject s;

	subject_open(&s, 24, 5, 0);
	for (enum way way = WAY_POOL; way < WAYS; way++)
		assert_int_equal(release_by(&s, way, NULL), LFPOOL_OK);
	assert_int_equal(s.report.calls, 0);
	assert_int_equal(lfpool_misuse_count(s.pool), 0);
	subject_close(&s, 24);
}

/* Every offset, of an active object, of a free one, and of one that was never used. */
TEST(interior_pointers)
{
	static const size_t sizes[] = {2, 3, 8, 12, 24, 40, 64, 65, 100, 127};

	for (size_t i = 0; i < COUNT(sizes) * COUNT(kinds); i++) {
		struct subject s;
		size_t size = sizes[i % COUNT(sizes)];

		subject_open(&s, size, 1000, kinds[i / COUNT(sizes)]);
		void *active = acquire_by(&s, WAY_INLINE), *freed = acquire_by(&s, WAY_INLINE);
		assert_true(active && freed);
		assert_int_equal(lfpool_release(s.pool, freed), LFPOOL_OK);
		size_t stride = stride_of(s.pool, active);
		size_t above = owned_beyond(s.pool, active, (ptrdiff_t)stride);
		void *unused = moved(active, (ptrdiff_t)(above * stride));
		for (ptrdiff_t offset = 1; offset < (ptrdiff_t)stride; offset++) {
			expect_refused(&s, moved(active, offset), LFPOOL_E_INTERIOR);
			expect_refused(&s, moved(freed, offset), LFPOOL_E_INTERIOR);
			expect_refused(&s, moved(unused, offset), LFPOOL_E_INTERIOR);
		}
		assert_int_equal(lfpool_release(s.pool, active), LFPOOL_OK);
		subject_close(&s, size);
	}
}

/* Alignment makes room between objects: that room is interior too. */
TEST(padding_between_objects)
{
	lfpool_config_t config = config_of(20, 30);
	struct report report = {0};

	config.object_alignment = 64;
	config.hooks.context = &report;
	config.hooks.misuse = take_report;
	lfpool_t *pool = pool_with(&config);
	void *object = lfpool_acquire(pool);
	assert_non_null(object);
	size_t stride = stride_of(pool, object);
	assert_int_equal(stride % 64, 0);
	for (ptrdiff_t offset = 20; offset < (ptrdiff_t)stride; offset++) {
		assert_int_equal(lfpool_release(pool, moved(object, offset)), LFPOOL_E_INTERIOR);
		assert_ptr_equal(report.last.object, moved(object, offset));
	}
	assert_int_equal(report.calls, stride - 20);
	assert_int_equal(lfpool_destroy(pool), 1);
}

TEST(double_release)
{
	for (size_t i = 0; i < COUNT(kinds); i++) {
		for (enum way way = WAY_POOL; way < WAYS; way++) {
			struct subject s;

			subject_open(&s, 24, 100, kinds[i]);
			for (int round = 0; round < 30; round++) {
				void *object = acquire_by(&s, way), *next = acquire_by(&s, way);

				assert_int_equal(release_by(&s, way, object), LFPOOL_OK);
				expect_refused(&s, object, LFPOOL_E_NOT_IN_USE);
				/* Also when others came and went between the two. */
				assert_int_equal(release_by(&s, way, next), LFPOOL_OK);
				expect_refused(&s, object, LFPOOL_E_NOT_IN_USE);
				expect_refused(&s, next, LFPOOL_E_NOT_IN_USE);
			}
			assert_int_equal(s.report.calls, 30 * 3 * WAYS);
			subject_close(&s, 24);
		}
	}
}

TEST(release_of_what_was_never_acquired)
{
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct subject s;

		subject_open(&s, 24, 1000, kinds[i]);
		char *object = lfpool_acquire(s.pool);
		assert_non_null(object);
		size_t stride = stride_of(s.pool, object), below = owned_beyond(s.pool, object, -(ptrdiff_t)stride);
		char *first = moved(object, -(ptrdiff_t)(below * stride));
		for (size_t k = 0; k < 1000; k++)
			if (first + k * stride != object)
				expect_refused(&s, first + k * stride, LFPOOL_E_NOT_IN_USE);
		assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
		subject_close(&s, 24);
	}
}

/* An extra release of everything: no counter goes below zero or above the capacity, no object is there twice. */
TEST(extra_releases_change_nothing)
{
	struct subject s;
	void *objects[64];

	subject_open(&s, 8, 64, 0);
	for (int round = 0; round < 10; round++) {
		assert_int_equal(acquire_all(s.pool, objects, 64), 64);
		release_all(s.pool, objects, 64);
		assert_int_equal(lfpool_release_bulk(s.pool, objects, 64), 0);
		assert_int_equal(lfpool_active_count(s.pool), 0);
		assert_int_equal(lfpool_available_count(s.pool), 64);
	}
	assert_int_equal(lfpool_misuse_count(s.pool), 640);
	subject_close(&s, 8);
}

RUN_TESTS()
