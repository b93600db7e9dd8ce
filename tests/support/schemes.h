/* SPDX-License-Identifier: MIT */
/*
 * schemes.h - two schemes for tests of lfpool/retire.h, whose grace periods end on request.
 *
 * Idea         KEPT is a scheme without `ready`: it keeps each batch until the test reclaims it.  ASKED has `ready`,
 *              whose answer the test sets.  Both check the library's promises to every scheme: each place has one batch
 *              at a time; a batch has one poll at a time, and none before `begin` has returned or after a yes.
 */
#ifndef LFPOOL_TESTS_SCHEMES_H
#define LFPOOL_TESTS_SCHEMES_H

#include "support.h"

#include <stdatomic.h>

enum scheme_kind { KEPT, ASKED, SCHEME_KINDS };

enum place_phase { WITH_POOL, IN_BEGIN, WITH_SCHEME, IN_READY };

struct fake {
	enum scheme_kind kind;
	_Atomic(int) phase[LFPOOL_PLACES_MAX];
	_Atomic(lfpool_batch_t *) kept[LFPOOL_PLACES_MAX];
	atomic_int yes;         /* ASKED: the answer of ready */
	atomic_bool in_section; /* fake_wait() reports that the thread may not wait */
	atomic_size_t begun, ended, asks, waits;
};

/* The scheme of the test's one pool at a time. */
static struct fake fake;

static inline void fake_step(const lfpool_batch_t *batch, enum place_phase from, enum place_phase to)
{
	int phase = (int)from;

	REQUIRE(batch->place < LFPOOL_PLACES_MAX);
	REQUIRE(atomic_compare_exchange_strong(&fake.phase[batch->place], &phase, (int)to));
}

static inline void fake_begin(void *context, lfpool_batch_t *batch)
{
	(void)context;
	fake_step(batch, WITH_POOL, IN_BEGIN);
	REQUIRE(batch->count >= 1);
	atomic_fetch_add(&fake.begun, 1);
	fake_step(batch, IN_BEGIN, WITH_SCHEME);
	if (fake.kind == KEPT)
		atomic_store(&fake.kept[batch->place], batch);
}

static inline bool fake_ready(void *context, const lfpool_batch_t *batch)
{
	(void)context;
	fake_step(batch, WITH_SCHEME, IN_READY);
	atomic_fetch_add(&fake.asks, 1);
	const bool yes = atomic_load(&fake.yes);

	atomic_fetch_add(&fake.ended, yes);
	fake_step(batch, IN_READY, yes ? WITH_POOL : WITH_SCHEME);
	return yes;
}

/* KEPT: reclaims the batch of a place; false if there is no batch. */
static inline bool fake_reclaim_place(size_t place)
{
	lfpool_batch_t *batch = atomic_exchange(&fake.kept[place], NULL);

	if (!batch)
		return false;
	fake_step(batch, WITH_SCHEME, WITH_POOL);
	atomic_fetch_add(&fake.ended, 1);
	lfpool_batch_reclaim(batch);
	return true;
}

/* Ends a grace period: reclaims all current batches, but none that begins meanwhile.  Returns their number. */
static inline size_t fake_period(lfpool_t *pool)
{
	const size_t before = atomic_load(&fake.ended);

	if (fake.kind == KEPT) {
		for (size_t place = 0; place < LFPOOL_PLACES_MAX; place++)
			(void)fake_reclaim_place(place);
	} else {
		const bool said = atomic_exchange(&fake.yes, true);

		(void)lfpool_retire_poll(pool);
		atomic_store(&fake.yes, said);
	}
	return atomic_load(&fake.ended) - before;
}

/* Makes all retired objects free. */
static inline void fake_end_all(lfpool_t *pool)
{
	while (fake_period(pool))
		;
	REQUIRE(lfpool_quick_stats(pool).retired == 0);
}

static inline bool fake_wait(void *context)
{
	(void)context;
	atomic_fetch_add(&fake.waits, 1);
	if (atomic_load(&fake.in_section))
		return false;
	if (fake.kind == KEPT)
		(void)fake_period(NULL);
	return true;
}

/* KEPT's `wait` ends grace periods. */
static inline lfpool_scheme_t fake_scheme(enum scheme_kind kind)
{
	memset(&fake, 0, sizeof(fake));
	fake.kind = kind;

	lfpool_scheme_t scheme = {.context = &fake, .begin = fake_begin};

	if (kind == KEPT)
		scheme.wait = fake_wait;
	else
		scheme.ready = fake_ready;
	return scheme;
}

/* ---- Pools with such a scheme ---- */

static const lfpool_backend_t backends[] = {LFPOOL_BACKEND_LOCKFREE, LFPOOL_BACKEND_MUTEX, LFPOOL_BACKEND_MALLOC};

static inline lfpool_t *fake_pool(lfpool_config_t config, lfpool_backend_t backend, enum scheme_kind kind)
{
	config.backend = backend;
	config.scheme = fake_scheme(kind);
	return pool_with(&config);
}

/* On each backend with each scheme; then takes back the objects that the body left retired or active. */
static inline void fake_each(lfpool_config_t config, void (*body)(lfpool_t *pool))
{
	for (size_t b = 0; b < COUNT(backends); b++)
		for (enum scheme_kind kind = 0; kind < SCHEME_KINDS; kind++) {
			lfpool_t *pool = fake_pool(config, backends[b], kind);

			body(pool);
			fake_end_all(pool);
			(void)lfpool_release_all(pool);
			pool_close(pool, config.object_size);
		}
}

/* FAKE_TEST_OF(name, config) { ... }: a test whose body is run on each backend with each scheme, as `pool`. */
#define FAKE_TEST_OF(name, config)             \
	static void name##_on(lfpool_t *pool); \
	TEST(name)                             \
	{                                      \
		fake_each(config, name##_on);  \
	}                                      \
	static void name##_on(lfpool_t *pool)
#define FAKE_TEST(name) FAKE_TEST_OF(name, config_of(SIZE, CAPACITY))

#endif
