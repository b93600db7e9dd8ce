/* SPDX-License-Identifier: MIT */
/*
 * waiters.c - the calls that change how many objects there are, and those that wait for one.
 *
 * Idea         What such a call must do for others is arithmetic: free objects pay what is owed, then go to those who
 *              wait, oldest first; and while somebody waits and nothing is owed, the pool grows by whole steps.  This
 *              is worked out before the call; the continuations that the call makes count themselves.
 */
#include "model.h"

/* ---- What must happen -------------------------------------------------------------------------------------- */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t room(const struct model *m)
{
	return m->maximum > m->capacity ? m->maximum - m->capacity : 0;
}

bool model_grow_by_itself(struct model *m)
{
	const size_t more = m->owed ? 0 : least(m->config.growth_step, room(m));

	m->capacity += more;
	return more > 0;
}

void model_foresee_serving(struct model *m, size_t back)
{
	/* m->held has been lowered by `back` already. */
	size_t unheld = m->capacity - m->held;
	const size_t paid = least(m->owed, unheld);

	REQUIRE(unheld >= back);
	m->owed -= paid;
	m->capacity -= paid;
	unheld -= paid;
	m->called = m->awaited = 0;
	while (m->awaited < m->waiters) {
		if (unheld) {
			unheld -= !m->waiting[m->awaited++].releases;
			continue;
		}

		const size_t before = m->capacity;

		if (!model_grow_by_itself(m))
			break;
		unheld += m->capacity - before;
	}
}

void model_settle_serving(struct model *m)
{
	REQUIRE(m->called == m->awaited);
	m->called = m->awaited = 0;
}

/* ---- Continuations ----------------------------------------------------------------------------------------- */

static void leave_queue(struct model *m, size_t which)
{
	m->waiters--;
	for (size_t i = which; i < m->waiters; i++)
		m->waiting[i] = m->waiting[i + 1];
}

/* Its context is the model; which continuation it is, the queue's order says. */
static void be_continued(void *context, lfpool_t *pool, void *object)
{
	struct model *m = context;

	REQUIRE(pool == m->pool && m->waiters > 0);

	const struct waiting first = m->waiting[0];

	leave_queue(m, 0);
	REQUIRE((object == NULL) == m->closing);
	if (m->closing)
		return;
	REQUIRE(++m->called <= m->awaited);
	REQUIRE(!lfpool_cancel(pool, first.ticket));
	model_acquired(m, object);
	if (first.releases)
		model_release_inside(m, object);
}

void model_acquire_async(struct model *m, bool releases)
{
	lfpool_ticket_t ticket = 1;

	if (m->waiters == MODEL_WAITING_MAX)
		return;

	const bool now = !m->owed && !m->waiters && (m->held < m->capacity || model_grow_by_itself(m));

	m->waiting[m->waiters++].releases = releases;
	m->waiting[m->waiters - 1].ticket = 0;
	m->awaited = now;
	REQUIRE(lfpool_acquire_async(m->pool, NULL, m, &ticket) == LFPOOL_E_ARGUMENT && !ticket);
	REQUIRE(lfpool_acquire_async(m->pool, be_continued, m, &ticket) == LFPOOL_OK);
	REQUIRE((ticket == 0) == now);
	if (!now) {
		for (size_t i = 0; i < m->waiters; i++)
			REQUIRE(m->waiting[i].ticket != ticket);
		m->waiting[m->waiters - 1].ticket = m->last_ticket = ticket;
	}
	model_settle_serving(m);
}

void model_cancel(struct model *m, size_t which)
{
	if (!m->waiters)
		return;
	which %= m->waiters;

	const lfpool_ticket_t ticket = m->waiting[which].ticket;

	REQUIRE(lfpool_cancel(m->pool, ticket));
	REQUIRE(!lfpool_cancel(m->pool, ticket));
	leave_queue(m, which);
}

void model_cancel_nobody(struct model *m, uint32_t choice)
{
	lfpool_ticket_t ticket = m->last_ticket + choice;

	for (size_t i = 0; i < m->waiters; i++)
		if (m->waiting[i].ticket == ticket)
			return;
	REQUIRE(!lfpool_cancel(m->pool, ticket));
	REQUIRE(!lfpool_cancel(m->pool, choice));
}

/* With a timeout as without: nobody else is there who could release meanwhile. */
void model_acquire_wait(struct model *m, struct door door, int64_t timeout_ns)
{
	void *object = door.cache ? lfpool_cache_acquire_wait(door.cache, timeout_ns)
				  : lfpool_acquire_wait(m->pool, timeout_ns);

	REQUIRE((object == NULL) == (m->held == m->capacity && !model_grow_by_itself(m)));
	if (object)
		model_acquired(m, object);
}

/* ---- How many objects there are ---------------------------------------------------------------------------- */

void model_grow(struct model *m, size_t count, bool reserve)
{
	const size_t to_stay = m->capacity - m->owed;
	const size_t wanted = !reserve ? count : count > to_stay ? count - to_stay : 0;
	const size_t forgiven = least(wanted, m->owed), added = least(wanted - forgiven, room(m));

	m->owed -= forgiven;
	m->capacity += added;
	model_foresee_serving(m, 0);
	REQUIRE((reserve ? lfpool_reserve(m->pool, count) : lfpool_grow(m->pool, count)) == forgiven + added);
	model_settle_serving(m);
}

void model_shrink(struct model *m, size_t count)
{
	const size_t gone = least(count, m->capacity - m->held);

	m->capacity -= gone;
	m->owed = least(m->owed + (count - gone), m->capacity);
	model_foresee_serving(m, 0);
	REQUIRE(lfpool_shrink(m->pool, count) == gone);
	model_settle_serving(m);
}

void model_shrink_cancel(struct model *m)
{
	const size_t owed = m->owed;

	m->owed = 0;
	model_foresee_serving(m, 0);
	REQUIRE(lfpool_shrink_cancel(m->pool) == owed);
	model_settle_serving(m);
}

void model_set_maximum(struct model *m, size_t maximum)
{
	if (maximum > m->reserved) {
		REQUIRE(lfpool_limit(m->pool, maximum) == LFPOOL_E_CONFIG_MAX_CAPACITY);
		return;
	}
	m->maximum = maximum;
	model_foresee_serving(m, 0);
	REQUIRE(lfpool_limit(m->pool, maximum) == LFPOOL_OK);
	model_settle_serving(m);
}

void model_trim(struct model *m, size_t keep, size_t budget)
{
	const bool more = lfpool_trim(m->pool, keep, budget);

	REQUIRE(!more || budget != SIZE_MAX);
	for (size_t i = 0; i < m->cells; i++)
		if (!m->cell[i].held)
			m->cell[i].trimmed = true;
}
