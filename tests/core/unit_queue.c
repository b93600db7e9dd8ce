/* SPDX-License-Identifier: MIT */
/* unit_queue.c - which of very many waiters is next; the queue and pending shrinks with numbers that take too long to
 * reach: 2^28 tickets and more, 2^31 pending objects; a trim that finds a slot of its pages taken. */
#include "../support/support.h"

#include "pool/pool.h"
#include "../../src/waiting/waiters.h"

/* ThreadSanitizer holds a lock around a faulting store. */
#if SANITIZED || defined(_WIN32)
#define WITH_FAULTS 0
#else
#define WITH_FAULTS 1
#include <signal.h>
#include <sys/mman.h>
#endif

/* ---- Tickets ---- */

static size_t calls;
static lfpool_ticket_t tickets[3];

/* Notes which call this was: first, second, third. */
static void note(void *context, lfpool_t *pool, void *object)
{
	*(size_t *)context = ++calls;
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
}

/* At least this many tickets are given out between the first and the second. */
static const uint64_t jumps[] = {UINT64_C(1) << 13, UINT64_C(1) << 28, UINT64_C(1) << 29,
				 UINT64_C(3) << 28, UINT64_C(1) << 32, UINT64_C(1) << 60};

static void three_wait(lfpool_t *pool, size_t order[3], uint64_t jump)
{
	calls = 0;
	/* relaxed: this thread alone uses the pool. */
	for (size_t i = 0; i < 3; i++) {
		REQUIRE(lfpool_acquire_async(pool, note, &order[i], &tickets[i]) == LFPOOL_OK && tickets[i]);
		store_relaxed(&pool->waiters.tickets, load_relaxed(&pool->waiters.tickets) + (i == 0 ? jump : 0));
	}
}

/* Waiters are served in order, and each ticket cancels only its own waiter, even when the ticket counter wraps. */
TEST(fifo_and_cancel_survive_ticket_wrap)
{
	for (size_t i = 0; i < 2 * COUNT(jumps); i++) {
		lfpool_t *pool = pool_of(64, 1);
		void *object = lfpool_acquire(pool);
		const bool cancel = i % 2;
		size_t order[3] = {0};

		three_wait(pool, order, jumps[i / 2]);
		if (cancel) {
			assert_true(lfpool_cancel(pool, tickets[1]));
			assert_false(lfpool_cancel(pool, tickets[1]));
		}
		REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
		assert_int_equal(order[0] * 100 + order[1] * 10 + order[2], cancel ? 102 : 123);
		REQUIRE(lfpool_destroy(pool) == 0);
	}
}

/* A sleeping call compares the lower half, which differs between a waiting and a served word for every slot. */
TEST(sleepers_word_changes_when_it_is_served)
{
	static const uint32_t slots[] = {1, 2, 3, UINT32_C(1) << 28, UINT32_C(1) << 29, UINT32_C(1) << 31};

	for (size_t i = 0; i < COUNT(jumps); i++)
		for (size_t k = 0; k < COUNT(slots); k++) {
			const uint64_t waiting = cell_waiting(jumps[i] + slots[k]),
				       given = cell_given(waiting, slots[k]);

			assert_true((uint32_t)waiting != (uint32_t)given);
			assert_int_equal(cell_slot(given), slots[k]);
			assert_true(cell_phase(waiting) == WAITING && cell_phase(given) == GIVEN);
			assert_true(cell_phase(given - GIVEN + WOKEN) == WOKEN &&
				    cell_slot(given - GIVEN + WOKEN) == slots[k]);
		}
}

/* ---- Very many ---- */

enum { ASKED = TIMES(40000, 4000), WAIT_AT_MOST = TIMES(3000, 1000) };

static struct asked {
	lfpool_ticket_t ticket; /* 0: no longer waiting */
	void *object;
} asked[ASKED];

static void receive(void *context, lfpool_t *pool, void *object)
{
	(void)pool;
	((struct asked *)context)->object = object;
}

/* First come, first served: continuations come, are cancelled and are called at random, in waves. */
TEST(oldest_of_many_waiters_is_served_next)
{
	struct random random = random_for(test_seed("unit_queue"), 0);
	lfpool_t *pool = pool_of(64, 1);
	void *object = lfpool_acquire(pool);
	uint32_t oldest = 0, next = 0, waiting = 0, wave = WAIT_AT_MOST;

	while (next < ASKED) {
		if (waiting < wave && random_below(&random, 3) > 0) {
			REQUIRE(lfpool_acquire_async(pool, receive, &asked[next], &asked[next].ticket) == LFPOOL_OK);
			next++;
			waiting++;
			continue;
		}
		wave = waiting < wave ? wave : random_below(&random, WAIT_AT_MOST);
		while (oldest < next && !asked[oldest].ticket)
			oldest++;
		if (oldest == next)
			continue;

		struct asked *const any = &asked[oldest + random_below(&random, next - oldest)];

		if (any->ticket && random_below(&random, 2)) {
			REQUIRE(lfpool_cancel(pool, any->ticket));
			any->ticket = 0;
		} else {
			REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
			object = asked[oldest].object;
			assert_non_null(object);
			asked[oldest].ticket = 0;
		}
		waiting--;
	}
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
	while (waiting > 0) {
		while (!asked[oldest].ticket)
			oldest++;
		object = asked[oldest++].object;
		assert_non_null(object);
		waiting--;
		REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
	}
	REQUIRE(lfpool_destroy(pool) == 0);
}

/* W12: a server stopped after it served a waiter behind the first lot, and an older waiter is still waiting. */
TEST(search_for_the_oldest_wakes_served_waiters)
{
	lfpool_t *pool = pool_of(64, 1);
	struct waiters *d = &pool->waiters;
	void *object = lfpool_acquire(pool);
	struct asked first[CELL_LOT] = {0};
	uint64_t word;

	for (size_t i = 0; i < CELL_LOT; i++)
		REQUIRE(lfpool_acquire_async(pool, receive, &first[i], NULL) == LFPOOL_OK);

	struct cell *const cell = cell_claim(d);
	const uint64_t ticket = cells_tickets(d, 1);

	cell_enlist(d, cell, ticket, NULL, this_thread());
	cell_giving(d, cell, 1);
	/* relaxed, all: this thread alone uses the pool. */
	store_relaxed(&cell->word, cell_given(cell_waiting(ticket), 1));
	assert_ptr_equal(cells_oldest(d, &word), cell_at(d, 0));
	assert_int_equal(cell_phase(load_relaxed(&cell->word)), WOKEN);
	cell_giving(d, cell, -UINT32_C(1));
	/* The search no longer looks for the waiter served last time. */
	store_relaxed(&cell->word, cell_given(cell_waiting(ticket), 1));
	assert_ptr_equal(cells_oldest(d, &word), cell_at(d, 0));
	assert_int_equal(cell_phase(load_relaxed(&cell->word)), GIVEN);
	cell_vacate(d, cell);
	for (size_t i = 0; i < CELL_LOT; i++) {
		REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
		object = first[i].object;
		assert_non_null(object);
	}
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
	REQUIRE(lfpool_destroy(pool) == 0);
}

/* ---- Pending shrinks ---- */

TEST(pending_shrink_is_limited_by_the_capacity)
{
	const size_t most = ((size_t)1 << 31) - 1;
	lfpool_t *pool = pool_of(64, 1);
	struct cold *cold = &pool->core.cold;
	void *object = lfpool_acquire(pool);
	/* relaxed, all: this thread alone uses the pool. */
	const uint64_t counts = load_relaxed(&cold->counts);

	store_relaxed(&cold->counts, (uint64_t)most << 32);
	for (int i = 0; i < 3; i++) {
		assert_true(cold_owe(cold, most) == 0);
		assert_true(lfpool_quick_stats(pool).owed == most);
		/* A release must notice. */
		assert_int_equal(load_relaxed(pool->waiters.wanted), 1);
	}
	assert_true(cold_owe(cold, SIZE_MAX) == 0);
	assert_true(lfpool_quick_stats(pool).owed == most);
	assert_true(cold_grow(cold, most - 1, COLD_ANY) == most - 1);
	assert_int_equal(lfpool_quick_stats(pool).owed, 1);
	assert_int_equal(load_relaxed(pool->waiters.wanted), 1);
	assert_true(cold_forgive(cold) == 1);
	assert_int_equal(load_relaxed(pool->waiters.wanted), 0);
	store_relaxed(&cold->counts, counts);
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
	REQUIRE(lfpool_destroy(pool) == 0);
}

#if WITH_FAULTS
/* A thread begins a shrink, and writes to `wanted`, which is on a read-only page.  The fault handler is another thread,
 * which releases the object. */
static struct {
	lfpool_t *pool;
	void *object;
	_Atomic(uint32_t) *wanted;
	size_t page, missed; /* waiters that `wanted` does not count */
} meddling;

static void release_meanwhile(int signal_number)
{
	(void)signal_number;
	REQUIRE(mprotect(meddling.wanted, meddling.page, PROT_READ | PROT_WRITE) == 0);
	REQUIRE(lfpool_release(meddling.pool, meddling.object) == LFPOOL_OK);

	const size_t waiting = waiters_waiting(&meddling.pool->waiters), wanted = load_relaxed(meddling.wanted);

	meddling.missed = waiting > wanted ? waiting - wanted : 0;
}

static void keep(void *context, lfpool_t *pool, void *object)
{
	(void)pool;
	*(void **)context = object;
}

TEST(a_shrink_that_begins_hides_no_waiter_from_a_release)
{
	lfpool_t *pool = pool_of(64, 1);
	_Atomic(uint32_t) *const before = pool->core.arena.wanted;
	struct sigaction action = {.sa_handler = release_meanwhile}, old;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *kept = NULL;

	assert_true(at != MAP_FAILED);
	meddling.pool = pool;
	meddling.object = lfpool_acquire(pool);
	meddling.wanted = at;
	meddling.page = page;
	assert_int_equal(lfpool_acquire_async(pool, keep, &kept, NULL), LFPOOL_OK);
	/* relaxed, all: this thread alone uses the pool.  The word before stays 1, so that hits look at the demand. */
	store_relaxed(meddling.wanted, load_relaxed(before));
	pool->core.arena.wanted = pool->waiters.wanted = at;
	assert_int_equal(sigaction(SIGSEGV, &action, &old), 0);
	assert_int_equal(mprotect(at, page, PROT_READ), 0);
	assert_int_equal(lfpool_shrink(pool, 1), 0);
	assert_int_equal(sigaction(SIGSEGV, &old, NULL), 0);
	assert_int_equal(meddling.missed, 0);
	/* The waiter has got the object, and now the pool is owed it. */
	assert_ptr_equal(kept, meddling.object);
	assert_int_equal(lfpool_quick_stats(pool).owed, 1);
	assert_int_equal(lfpool_release(pool, kept), LFPOOL_OK);
	assert_int_equal(lfpool_quick_stats(pool).owed, 0);
	assert_int_equal(load_relaxed(meddling.wanted), 0);
	pool->core.arena.wanted = pool->waiters.wanted = before;
	store_relaxed(before, UINT32_C(0));
	assert_int_equal(lfpool_destroy(pool), 0);
	munmap(at, page);
}
#endif

/* {capacity, allowed, owed} after each change. */
TEST(one_word_counts_capacity_allowed_and_owed)
{
	lfpool_t *pool = pool_of(64, 1);
	struct cold cold = {.arena = &pool->core.arena, .reserved = 100};

	/* relaxed, all: this thread alone uses it. */
	store_relaxed(&cold.counts, UINT64_C(10) << 32 | 4);
	store_relaxed(&cold.opened, 100);
	store_relaxed(&cold.maximum, 50);
#define COUNTS(capacity_, allowed_, owed_)                                              \
	do {                                                                            \
		const uint64_t now_ = load_relaxed(&cold.counts);                       \
		assert_int_equal(cold_capacity_in(now_), capacity_);                    \
		assert_int_equal(cold_allowed_in(now_), allowed_);                      \
		assert_int_equal(cold_owed_in(now_), owed_);                            \
		assert_int_equal(load_relaxed(pool->waiters.wanted), cold_owes(&cold)); \
	} while (0)
	COUNTS(10, 4, 0);
	assert_int_equal(cold_forbid(&cold, 1), 1);
	COUNTS(9, 3, 0);
	/* Three are allowed and go, two are owed. */
	assert_int_equal(cold_owe(&cold, 5), 3);
	COUNTS(6, 0, 2);
	assert_int_equal(cold_grow(&cold, 7, 6), 0);
	assert_int_equal(cold_grow(&cold, 7, 5), COLD_CHANGED);
	cold_allowed_add(&cold, 1);
	COUNTS(5, 0, 1);
	/* One pays, two stay. */
	cold_allowed_add(&cold, 3);
	COUNTS(4, 2, 0);
	assert_int_equal(cold_allowed_take(&cold, 5), 2);
	COUNTS(4, 0, 0);
	assert_int_equal(cold_borrow(&cold, 200), 96);
	assert_int_equal(cold_borrow(&cold, 1), 0);
	COUNTS(100, 0, 0);
	assert_int_equal(cold_owe(&cold, 99), 0);
	cold_give_back(&cold, 96);
	COUNTS(4, 0, 4);
	/* Four were owed, four are new. */
	assert_int_equal(cold_grow(&cold, 8, COLD_ANY), 8);
	COUNTS(8, 4, 0);
	assert_int_equal(cold_grow(&cold, 100, COLD_ANY), 42);
	COUNTS(50, 46, 0);
	cold_close(&cold);
	COUNTS(4, 0, 4);
	cold_close(&cold);
	assert_int_equal(cold_grow(&cold, 1, COLD_ANY), 0);
	assert_int_equal(cold_owe(&cold, 1), 0);
	assert_int_equal(cold_forgive(&cold), 0);
	cold_allowed_add(&cold, 1);
	COUNTS(3, 0, 3);
	cold_give_back(&cold, 3);
	COUNTS(0, 0, 0);
#undef COUNTS
	store_relaxed(pool->waiters.wanted, 0);
	REQUIRE(lfpool_destroy(pool) == 0);
}

/* Memory is opened for the objects that a growth adds (and for the rest of a step), not for those that a limit
 * refuses. */
TEST(growth_up_to_a_limit_opens_no_memory_beyond_it)
{
	enum { BYTES = 65536, FIRST = 10, MOST = 300, STEP = 16 };
	lfpool_t *pool = POOL_OF(BYTES, FIRST, .max_capacity = MOST);

	assert_int_equal(cold_opened(&pool->core.cold), FIRST);
	assert_int_equal(lfpool_limit(pool, FIRST + 1), LFPOOL_OK);
	assert_int_equal(lfpool_grow(pool, MOST), 1);
	assert_in_range(cold_opened(&pool->core.cold), FIRST + 1, FIRST + 1 + 2 * STEP);
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* ---- All slots on a run of pages, or none ---- */

enum { INITIAL = 100, ALL = 200 };

struct cold_seen {
	uint64_t counts, bits[(ALL + 63) / 64];
};

static struct cold_seen cold_seen(const struct cold *cold)
{
	/* relaxed: this thread alone uses the pool. */
	struct cold_seen seen = {.counts = load_relaxed(&cold->counts)};

	for (uint64_t word = 0; word < COUNT(seen.bits); word++)
		seen.bits[word] = cold_look(cold, word);
	return seen;
}

static void require_hold_fails(struct cold *cold, uint32_t first, uint32_t last)
{
	const struct page_run run = {.first_slot = first, .last_slot = last, .pages = 1};
	const struct cold_seen before = cold_seen(cold);
	struct page_hold hold;

	assert_false(pages_hold(cold, &run, &hold));
	const struct cold_seen after = cold_seen(cold);

	assert_memory_equal(&after, &before, sizeof(after));
}

/* A pool whose slots are all cold: free objects of the pool, or of none. */
static lfpool_t *pool_all_cold(bool allowed)
{
	lfpool_t *pool = POOL_OF(64, INITIAL, .max_capacity = ALL, .debug = "no-tools");
	void *objects[ALL];

	assert_int_equal(lfpool_grow(pool, ALL), ALL - INITIAL);
	assert_int_equal(acquire_all(pool, objects, ALL), ALL);
	release_all(pool, objects, ALL);
	if (allowed)
		assert_false(lfpool_trim(pool, 0, SIZE_MAX));
	else
		assert_int_equal(lfpool_shrink(pool, ALL), ALL);
	return pool;
}

/* Between a trim's search and its hold, another call can take any slot on the pages. */
TEST(failed_hold_changes_nothing)
{
	for (int allowed = 0; allowed < 2; allowed++) {
		lfpool_t *pool = pool_all_cold(allowed);
		struct cold *cold = &pool->core.cold;

		for (uint32_t slot = 1; slot <= ALL; slot++) {
			const uint64_t bit = UINT64_C(1) << (slot - 1) % 64;
			const uint32_t first = slot > 70 ? slot - 70 : 1, last = slot < ALL - 70 ? slot + 70 : ALL;

			assert_int_equal(allowed ? 1 : cold_grow(cold, 1, COLD_ANY), 1);
			assert_int_equal(cold_allowed_take(cold, 1), 1);
			assert_true(cold_take_bits(cold, (slot - 1) / 64, bit));
			/* Enough counts, and one bit is missing; and a count is missing too. */
			require_hold_fails(cold, first, last);
			require_hold_fails(cold, slot, last);
			require_hold_fails(cold, first, slot);
			require_hold_fails(cold, 1, ALL);
			cold_give_bits(cold, (slot - 1) / 64, bit);
			if (allowed)
				cold_allowed_add(cold, 1);
			else
				cold_give_back(cold, 1);
		}
		if (!allowed)
			assert_int_equal(lfpool_grow(pool, ALL), ALL);
		/* All counts are other calls', which have not taken their bits yet. */
		assert_int_equal(cold_allowed_take(cold, ALL), ALL);
		require_hold_fails(cold, 1, 10);
		cold_allowed_add(cold, ALL);
		pool_close(pool, 64);
	}
}

RUN_TESTS()
