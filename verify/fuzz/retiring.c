/* SPDX-License-Identifier: MIT */
/*
 * retiring.c - retired objects, under a scheme that consents when the model does; and a refused destroy.
 *
 * Idea         The scheme consents only inside model_drain() and model_close(). So retired objects are in use exactly
 *              between them, and all become free at once.
 */
#include "model.h"

#include "lfpool/report.h"
#include "lfpool/retire.h"

/* ---- The scheme -------------------------------------------------------------------------------------------- */

static bool is_ready(void *context, const lfpool_batch_t *batch)
{
	const struct model *m = context;

	REQUIRE(batch->count >= 1 && batch->count <= MODEL_CAPACITY_MAX);
	return m->ready;
}

static bool may_wait(void *context)
{
	const struct model *m = context;

	return m->ready;
}

/* For a scheme that is notified: its batches, by place, until it is waited for. */
static void be_told(void *context, lfpool_batch_t *batch)
{
	struct model *m = context;

	REQUIRE(!atomic_exchange(&m->batch[batch->place], batch));
}

static bool reclaim(void *context)
{
	struct model *m = context;

	for (size_t i = 0; i < LFPOOL_PLACES_MAX && m->ready; i++) {
		lfpool_batch_t *batch = atomic_exchange(&m->batch[i], NULL);

		if (batch)
			lfpool_batch_reclaim(batch);
	}
	return m->ready;
}

lfpool_scheme_t model_scheme(bool asked)
{
	if (asked)
		return (lfpool_scheme_t){.ready = is_ready, .wait = may_wait};
	return (lfpool_scheme_t){.begin = be_told, .wait = reclaim};
}

static bool has_scheme(const struct model *m)
{
	return m->config.scheme.begin || m->config.scheme.ready;
}

/* ---- Calls ------------------------------------------------------------------------------------------------- */

void model_retire(struct model *m, void *object, bool foreign)
{
	lfpool_status_t expected = model_status_of(m, object, foreign);
	struct cell *cell = model_cell(m, object);

	if (!model_is_defined(m, expected))
		return;
	if (object && !has_scheme(m))
		expected = LFPOOL_E_NO_SCHEME;
	if (expected != LFPOOL_OK) {
		(void)model_foresee(m, object, expected);
	} else if (object) {
		cell->held = false;
		cell->handle = 0;
		cell->retired = true;
		m->held--;
		m->retired++;
	}
	m->called = m->awaited = 0;
	model_require_status(lfpool_retire(m->pool, object), expected);
	model_settle(m);
	REQUIRE(lfpool_quick_stats(m->pool).retired == m->retired);
}

void model_reclaimed(struct model *m)
{
	const size_t back = m->retired;

	for (size_t i = m->cells; i-- && m->retired;) {
		struct cell *cell = &m->cell[i];

		if (!cell->retired)
			continue;
		/* Handled like a release now. */
		cell->retired = false;
		m->retired--;
		m->held++;
		model_released(m, cell);
	}
	/* They are released, and serve waiters, one after the other. */
	model_foresee_serving(m, back, true);
}

void model_drain(struct model *m, bool consent)
{
	const bool refused = !consent && m->retired;

	if (!refused) {
		m->ready = true;
		model_reclaimed(m);
	}
	REQUIRE(lfpool_drain(m->pool) == (refused ? LFPOOL_E_IN_SECTION : LFPOOL_OK));
	if (!refused)
		model_settle_serving(m);
	m->ready = false;
}

void model_destroy_refused(struct model *m)
{
	if (!m->retired)
		return;
	m->expected[m->expected_count++] = (struct refusal){NULL, LFPOOL_E_IN_SECTION};
	REQUIRE((m->plan.way ? m->plan.way->destroy(m) : lfpool_destroy(m->pool)) == SIZE_MAX);
	REQUIRE(!m->plan.way || m->plan.way->there(m));
	m->called = m->awaited = 0;
	model_settle(m);
}
