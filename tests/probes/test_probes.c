/* SPDX-License-Identifier: MIT */
/*
 * test_probes.c - the probes of docs/observability.md fire when they should, with the arguments that they should have, and as
 * often as lfpool_stats() counts.
 *
 * Idea         Calls are drawn at random, on one thread with two caches, so that the counters and the hits must agree to the
 *              last one; and each call says itself what its probes have to say.
 */
#include "../support/priority_support.h"
#include "traps.h"

#define NAME "the pool with the probes"

enum { FIRST = 600, STEP = 50, MOST = 3000, CALLS = 2000, CACHES = 2 };

struct misuse_told {
	const void *object;
	lfpool_status_t status;
};

struct stage {
	lfpool_t *pool;
	lfpool_cache_t *caches[CACHES];
	void *held[MOST];
	size_t count;
	struct misuse_told told;
};

/* ---- What was hit ------------------------------------------------------------------------------------------ */

/* How often; argument `which`, if there are so many, is `value`, or anything if which is -1.  All are of this pool. */
static size_t hits_with(const lfpool_t *pool, const char *probe, int which, int64_t value)
{
	size_t found = 0;

	for (size_t i = 0; i < hit_count; i++) {
		assert_true(hits[i].arguments >= 2);
		assert_int_equal(hits[i].argument[0], (intptr_t)pool);
		assert_string_equal((const char *)(intptr_t)hits[i].argument[1], NAME);
		if (strcmp(hits[i].probe, probe) != 0)
			continue;
		assert_true(which < (int)hits[i].arguments);
		found += which < 0 || hits[i].argument[which] == value;
	}
	return found;
}

static size_t hits_of(const lfpool_t *pool, const char *probe)
{
	return hits_with(pool, probe, -1, 0);
}

static uint64_t sum_of(const char *probe, int which)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < hit_count; i++)
		sum += strcmp(hits[i].probe, probe) == 0 ? (uint64_t)hits[i].argument[which] : 0;
	return sum;
}

/* The last one of all. */
static const struct hit *last_hit(void)
{
	assert_true(hit_count > 0);
	return &hits[hit_count - 1];
}

/* ---- Calls ------------------------------------------------------------------------------------------------- */

static void hear(void *context, const lfpool_misuse_t *misuse)
{
	*(struct misuse_told *)context = (struct misuse_told){misuse->object, misuse->status};
}

static void open_stage(struct stage *s, lfpool_backend_t backend)
{
	memset(s, 0, sizeof(*s));
	hit_count = 0;
	s->pool = POOL_OF(4096, FIRST, .name = NAME, .max_capacity = MOST, .cache_capacity = 64, .backend = backend,
			  .hooks.misuse = hear, .hooks.context = &s->told);
	assert_int_equal(hit_count, 1);
	assert_int_equal(hits_with(s->pool, "create", 2, 4096), 1);
	assert_int_equal(hits_with(s->pool, "create", 3, FIRST), 1);
	for (int i = 0; i < CACHES; i++)
		assert_non_null(s->caches[i] = lfpool_cache_create(s->pool));
}

static void close_stage(struct stage *s)
{
	lfpool_t *pool = s->pool;

	for (int i = 0; i < CACHES; i++)
		lfpool_cache_destroy(s->caches[i]);
	hit_count = 0;
	assert_int_equal(lfpool_destroy(pool), s->count);
	assert_int_equal(hit_count, 1);
	assert_string_equal(last_hit()->probe, "destroy");
	assert_int_equal(last_hit()->argument[0], (intptr_t)pool);
}

static void acquire_some(struct stage *s, lfpool_cache_t *cache, size_t count)
{
	for (; count && s->count < MOST; count--) {
		void *object = lfpool_cache_acquire(cache);

		if (!object)
			return;
		s->held[s->count++] = object;
	}
}

static void release_some(struct stage *s, lfpool_cache_t *cache, size_t count)
{
	for (; count && s->count; count--)
		assert_int_equal(lfpool_cache_release(cache, s->held[--s->count]), LFPOOL_OK);
}

/* What a call did is what its probe says. */
static void resize(struct stage *s, struct random *random)
{
	const size_t before = hit_count, count = random_below(random, STEP) + 1;

	if (random_below(random, 2)) {
		const size_t forgiven = lfpool_shrink_owed(s->pool);
		const size_t added = lfpool_grow(s->pool, count) - (forgiven < count ? forgiven : count);

		assert_int_equal(hit_count - before, added > 0);
		if (!added)
			return;
		assert_string_equal(last_hit()->probe, "grow");
		assert_int_equal(last_hit()->argument[2], added);
	} else {
		const size_t gone = lfpool_shrink(s->pool, count);
		const struct hit *hit = last_hit();

		assert_string_equal(hit->probe, "shrink");
		assert_int_equal(hit->argument[2], count);
		assert_int_equal(hit->argument[3], gone);
	}
}

static void misuse(struct stage *s)
{
	int foreign;
	void *wrong = s->count ? moved(s->held[0], 1) : &foreign;

	assert_int_not_equal(lfpool_release(s->pool, wrong), LFPOOL_OK);
	assert_string_equal(last_hit()->probe, "misuse");
	assert_ptr_equal(s->told.object, wrong);
	assert_int_equal(last_hit()->argument[2], (intptr_t)wrong);
	assert_int_equal(last_hit()->argument[3], s->told.status);
}

/* Of a wait there are a beginning and an end, but not if there is an object at once. */
static void await(struct stage *s, lfpool_cache_t *cache)
{
	const size_t before = hits_of(s->pool, "wait_begin");
	const size_t exhausted = hits_of(s->pool, "exhausted");
	void *object = s->count < MOST ? lfpool_cache_acquire_wait(cache, 1000) : NULL;

	/* Where a shrink is owed something a call waits without looking first. */
	assert_true(hits_of(s->pool, "wait_begin") - before >= hits_of(s->pool, "exhausted") - exhausted);
	assert_int_equal(hits_of(s->pool, "wait_end"), hits_of(s->pool, "wait_begin"));
	if (object)
		s->held[s->count++] = object;
	else if (s->count < MOST)
		assert_int_equal(hits_with(s->pool, "wait_end", 2, 0), hits_of(s->pool, "wait_end"));
}

static void call(struct stage *s, struct random *random)
{
	lfpool_cache_t *cache = s->caches[random_below(random, CACHES)];

	switch (random_below(random, 20)) {
	case 0: resize(s, random); break;
	case 1: misuse(s); break;
	case 2: (void)lfpool_trim(s->pool, random_below(random, FIRST), 1 << 20); break;
	case 3:
		acquire_some(s, cache, MOST);
		await(s, cache);
		break;
	case 4: release_some(s, cache, s->count); break;
	default:
		if (random_below(random, 2))
			acquire_some(s, cache, random_below(random, 200));
		else
			release_some(s, cache, random_below(random, 200));
	}
}

/* ---- The tests --------------------------------------------------------------------------------------------- */

static void require_counted(uint64_t counted, uint64_t hit)
{
	assert_int_equal(hit, counted);
	assert_true(counted > 0);
}

static void play(lfpool_backend_t backend)
{
	static struct stage s;
	struct random random = random_for(test_seed("probes"), (unsigned)backend);
	lfpool_stats_t stats = LFPOOL_STATS_INIT;

	open_stage(&s, backend);
	hit_count = 0;
	for (int i = 0; i < CALLS; i++)
		call(&s, &random);
	assert_int_equal(lfpool_stats(s.pool, &stats), LFPOOL_OK);
	require_counted(stats.exhausted, hits_of(s.pool, "exhausted"));
	require_counted(stats.misuses, hits_of(s.pool, "misuse"));
	require_counted(stats.given_back, sum_of("trim", 2));
	assert_true(hits_of(s.pool, "wait_begin") > 0);
	assert_int_equal(hits_of(s.pool, "create") + hits_of(s.pool, "destroy"), 0);
	if (backend == LFPOOL_BACKEND_LOCKFREE) {
		require_counted(stats.refills, hits_with(s.pool, "miss", 2, 0));
		require_counted(stats.drains, hits_with(s.pool, "miss", 2, 1));
		require_counted(stats.steals, hits_of(s.pool, "steal"));
		require_counted(stats.depot_trips, hits_of(s.pool, "trip"));
		/* An object, or a whole magazine. */
		assert_true(hits_with(s.pool, "steal", 2, 0) > 0 && hits_with(s.pool, "steal", 2, 1) > 0);
		assert_int_equal(hits_with(s.pool, "steal", 2, 0) + hits_with(s.pool, "steal", 2, 1), stats.steals);
	}
	close_stage(&s);
}

TEST(a_lock_free_pool)
{
	play(LFPOOL_BACKEND_LOCKFREE);
}

TEST(a_mutex_pool)
{
	play(LFPOOL_BACKEND_MUTEX);
}

/* ---- An evicting pool -------------------------------------------------------------------------------------- */

static size_t evictions;

/* The probe comes first, and says what the hook is told. */
static void on_evict(void *context, const lfpool_evicted_t *evicted)
{
	const struct hit *hit = last_hit();

	(void)context;
	assert_string_equal(hit->probe, "evict");
	assert_int_equal(hit->arguments, 4);
	assert_int_equal(hit->argument[2], (intptr_t)evicted->object);
	assert_int_equal(hit->argument[3], (intptr_t)evicted->owner);
	evictions++;
}

TEST(an_evicting_pool)
{
	struct random random = random_for(test_seed("evictions"), 0);
	static int owners[CALLS];
	lfpool_handle_t handle;
	size_t refused = 0;

	evictions = 0;

	lfpool_priority_t *pool = PRIORITY_WITH(.object_size = 64, .capacity = 20, .name = NAME, .on_evict = on_evict);

	hit_count = 0;
	for (int i = 0; i < CALLS; i++) {
		const uint64_t priority = random_below(&random, CALLS);

		if (random_below(&random, 10) == 0)
			(void)lfpool_priority_release_min(pool, random_below(&random, 3));
		if (lfpool_priority_acquire(pool, priority, &owners[i], &handle)) {
			assert_int_equal(lfpool_priority_publish(pool, handle), LFPOOL_OK);
			continue;
		}
		assert_string_equal(last_hit()->probe, "refuse");
		assert_int_equal(last_hit()->argument[2], priority);
		refused++;
	}

	const lfpool_priority_stats_t stats = priority_stats_of(pool);
	size_t told[2] = {0};

	for (size_t i = 0; i < hit_count; i++) {
		const bool evict = strcmp(hits[i].probe, "evict") == 0;

		/* The pool of its records has others, and another name. */
		if (!evict && strcmp(hits[i].probe, "refuse") != 0)
			continue;
		assert_int_equal(hits[i].argument[0], (intptr_t)pool);
		assert_string_equal((const char *)(intptr_t)hits[i].argument[1], NAME);
		told[evict]++;
	}
	assert_true(evictions > 0 && refused > 0);
	assert_int_equal(told[true], evictions);
	assert_int_equal(stats.evicted, evictions);
	assert_int_equal(told[false], refused);
	assert_int_equal(stats.refused, refused);
	(void)lfpool_priority_destroy(pool);
}

/* A pool that grows by itself says so, once for each step. */
TEST(growing_by_itself)
{
	void *held[100];

	hit_count = 0;

	lfpool_t *pool = POOL_OF(64, 10, .name = NAME, .max_capacity = 100, .growth_step = 30);

	assert_int_equal(acquire_all(pool, held, 100), 100);
	assert_int_equal(hits_with(pool, "grow", 2, 30), 3);
	assert_int_equal(hits_of(pool, "grow"), 3);
	release_all(pool, held, 100);
	assert_int_equal(lfpool_destroy(pool), 0);
}

int main(void)
{
	if (traps_set() == 0) {
		fprintf(stderr, "no probes\n");
		return 1;
	}
	return tests_run(NULL, NULL);
}
