/* SPDX-License-Identifier: MIT */
/*
 * schemes.h - two schemes for tests of lfpool/retire.h, whose grace periods end when the test says so.
 *
 * Idea         KEPT is a scheme without `ready`: it keeps each batch until the test reclaims it.  ASKED has `ready`,
 *              which says what the test has set.  What is promised to every scheme they require as they go: one batch
 *              of a place at a time, one question at a time about a batch, none before `begin` has returned nor after
 *              a yes.
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
	atomic_int yes;        /* ASKED: what ready says                      */
	atomic_bool in_section; /* wait says that nobody must wait here       */
	atomic_size_t begun, ended, asks, waits;
};

static inline struct fake *fake_of(void *context)
{
	return context;
}

static inline void fake_step(struct fake *f, const lfpool_batch_t *batch, enum place_phase from, enum place_phase to)
{
	int phase = (int)from;

	REQUIRE(lfpool_batch_place(batch) < LFPOOL_PLACES_MAX);
	REQUIRE(atomic_compare_exchange_strong(&f->phase[lfpool_batch_place(batch)], &phase, (int)to));
}

static inline void fake_begin(void *context, lfpool_batch_t *batch)
{
	struct fake *f = fake_of(context);

	fake_step(f, batch, WITH_POOL, IN_BEGIN);
	REQUIRE(lfpool_batch_count(batch) >= 1);
	atomic_fetch_add(&f->begun, 1);
	fake_step(f, batch, IN_BEGIN, WITH_SCHEME);
	if (f->kind == KEPT)
		atomic_store(&f->kept[lfpool_batch_place(batch)], batch);
}

static inline bool fake_ready(void *context, const lfpool_batch_t *batch)
{
	struct fake *f = fake_of(context);

	fake_step(f, batch, WITH_SCHEME, IN_READY);
	atomic_fetch_add(&f->asks, 1);
	const bool yes = atomic_load(&f->yes);

	atomic_fetch_add(&f->ended, yes);
	fake_step(f, batch, IN_READY, yes ? WITH_POOL : WITH_SCHEME);
	return yes;
}

/* KEPT: reclaims the batch of a place; false if there is none. */
static inline bool fake_reclaim_place(struct fake *f, size_t place)
{
	lfpool_batch_t *batch = atomic_exchange(&f->kept[place], NULL);

	if (!batch)
		return false;
	fake_step(f, batch, WITH_SCHEME, WITH_POOL);
	atomic_fetch_add(&f->ended, 1);
	lfpool_batch_reclaim(batch);
	return true;
}

/* A grace period is over: whatever is with the scheme is reclaimed, but not what then begins.  How many batches that
 * were. */
static inline size_t fake_period(struct fake *f, lfpool_t *pool)
{
	const size_t before = atomic_load(&f->ended);

	if (f->kind == KEPT) {
		for (size_t place = 0; place < LFPOOL_PLACES_MAX; place++)
			(void)fake_reclaim_place(f, place);
	} else {
		const bool said = atomic_exchange(&f->yes, true);

		(void)lfpool_retire_poll(pool);
		atomic_store(&f->yes, said);
	}
	return atomic_load(&f->ended) - before;
}

/* Everything that is retired becomes free. */
static inline void fake_end_all(struct fake *f, lfpool_t *pool)
{
	while (fake_period(f, pool))
		;
	REQUIRE(lfpool_retired_count(pool) == 0);
}

static inline bool fake_wait(void *context)
{
	struct fake *f = fake_of(context);

	atomic_fetch_add(&f->waits, 1);
	if (atomic_load(&f->in_section))
		return false;
	if (f->kind == KEPT)
		(void)fake_period(f, NULL);
	return true;
}

/* Its `wait` ends grace periods; ASKED has none of these. */
static inline lfpool_scheme_t fake_scheme(struct fake *f, enum scheme_kind kind)
{
	memset(f, 0, sizeof(*f));
	f->kind = kind;

	lfpool_scheme_t scheme = {.context = f, .begin = fake_begin};

	if (kind == KEPT)
		scheme.wait = fake_wait;
	else
		scheme.ready = fake_ready;
	return scheme;
}

#endif
