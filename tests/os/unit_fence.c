/* SPDX-License-Identifier: MIT */
/*
 * unit_fence.c - os_heavy_fence() against an owner's fence: two threads each store a word and then read the other's,
 * and at least one must see the other's store.  Also: a dump names the kind of fence.
 *
 * With a heavy fence that does nothing this fails within milliseconds on two processors, which no run of the stress
 * harness did: verify/cross, control_fence.
 */
#include "../support/support.h"

#include "base/atomics.h"
#include "core/magazine.h"
#include "os/os.h"

enum { DELAYS = 200 };
static const uint64_t long_enough_ns = 200000000, at_an_end = UINT64_MAX;

static struct {
	_Alignas(64) _Atomic(uint64_t) word;
} go, owners, thiefs, seen_by_owner, done;

/* The round that begins, or ends, after `n`. acquire: the stores before the word. */
static uint64_t await_other_than(_Atomic(uint64_t) *word, uint64_t n)
{
	uint64_t now;

	for (unsigned looks = 1; (now = load_acquire(word)) == n; looks++)
		if (looks % 1000 == 0)
			os_yield();
	return now;
}

static void *owner(void *unused)
{
	const bool asymmetric = os_asymmetric();

	for (uint64_t n = 0; (n = await_other_than(&go.word, n)) != at_an_end;) {
		/* relaxed: the fence is under test. */
		store_relaxed(&owners.word, n);
		owner_fence(asymmetric);
		store_relaxed(&seen_by_owner.word, load_relaxed(&thiefs.word));
		/* release: the value read. */
		store_release(&done.word, n);
	}
	return unused;
}

TEST(heavy_fence_orders_a_store_and_a_load_of_two_threads)
{
	const uint64_t deadline = os_now_ns() + long_enough_ns;
	bool one_saw = true;
	pthread_t other;

	thread_start(&other, owner, NULL);
	for (uint64_t n = 1; one_saw && (n % 1000 || os_now_ns() < deadline); n++) {
		/* release: the results of the last round. */
		store_release(&go.word, n);
		for (volatile uint64_t delay = n % DELAYS; delay; delay--)
			;
		/* relaxed: as above. */
		store_relaxed(&thiefs.word, n);
		os_heavy_fence();

		const bool seen = load_relaxed(&owners.word) == n;

		await_other_than(&done.word, n - 1);
		one_saw = seen || load_relaxed(&seen_by_owner.word) == n;
	}
	/* release: it may end. */
	store_release(&go.word, at_an_end);
	pthread_join(other, NULL);
	assert_true(one_saw);
}

/* As the system answers; a pool with LFPOOL_FENCED does not ask. */
TEST(dump_reports_the_kind_of_fence)
{
	for (uint32_t flags = 0; flags <= LFPOOL_FENCED; flags += LFPOOL_FENCED) {
		char text[4000];
		lfpool_t *pool = POOL_OF(64, 10, .flags = flags);
		const bool asymmetric = os_asymmetric() && !flags;

		REQUIRE(lfpool_dump(pool, LFPOOL_TEXT, text, sizeof(text)) < sizeof(text));
		assert_non_null(strstr(text, asymmetric ? "\nbackend     lockfree, membarrier"
							: "\nbackend     lockfree, full fences"));
		REQUIRE(lfpool_dump(pool, LFPOOL_JSON, text, sizeof(text)) < sizeof(text));
		assert_non_null(strstr(text, asymmetric ? "\"membarrier\":true" : "\"membarrier\":false"));
		(void)lfpool_destroy(pool);
	}
}

RUN_TESTS()
