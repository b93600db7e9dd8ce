/* SPDX-License-Identifier: MIT */
/*
 * waiters.c - calls that change the number of objects, and calls that wait for an object.
 *
 * Idea         The effect of such a call on others is arithmetic.  Free objects first complete a pending shrink, then
 *              go to waiters, oldest first.  While calls wait and no shrink is pending, the pool grows by whole
 *              steps.  The model computes this before the call; the continuations count themselves.
 */
#include "model.h"

#include "lfpool/resize.h"
#include "lfpool/wait.h"

#include <string.h>

#define BUFFER_WAITING_MAX 16

static void be_continued(void *context, lfpool_t *pool, void *object);

/* ---- The expected outcome ---------------------------------------------------------------------------------- */

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

void model_foresee_serving(struct model *m, size_t back, bool one_by_one)
{
	/* m->held is already lower by `back`. */
	size_t unheld = model_unheld(m), first = 0, count = m->waiters, later = one_by_one ? back : 0;
	struct waiting queue[MODEL_WAITING_MAX];

	REQUIRE(unheld >= back);
	m->called = m->awaited = 0;
	memcpy(queue, m->waiting, sizeof(queue));
	/* `later` objects are released after the next one; the pool may grow before they are. */
	for (unheld -= later;; unheld++, later--) {
		const size_t paid = least(m->owed, unheld);

		m->owed -= paid;
		m->capacity -= paid;
		unheld -= paid;
		while (count) {
			struct waiting w = queue[first];
			const size_t before = m->capacity;

			if (!unheld && ((later && later == back) || !model_grow_by_itself(m)))
				break;
			unheld += m->capacity - before;
			first = (first + 1) % MODEL_WAITING_MAX;
			count--;
			m->awaited++;
			unheld -= !w.releases;
			if (w.again) {
				w.again--;
				queue[(first + count++) % MODEL_WAITING_MAX] = w;
			}
		}
		if (!later)
			return;
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

/* At the end of the queue; it stays there for now. */
static void queue_up(struct model *m, struct waiting what)
{
	struct waiting *const last = &m->waiting[m->waiters++];

	*last = what;
	last->ticket = 0;
	REQUIRE(lfpool_acquire_async(m->pool, be_continued, m, &last->ticket) == LFPOOL_OK && last->ticket);
	for (size_t i = 0; i + 1 < m->waiters; i++)
		REQUIRE(m->waiting[i].ticket != last->ticket);
	m->last_ticket = last->ticket;
}

/* When a waiter gets an object no shrink is pending, so these calls only serve. */
static void serve_inside(struct model *m)
{
	REQUIRE(lfpool_shrink_cancel(m->pool) == 0);
	REQUIRE(lfpool_limit(m->pool, m->maximum) == LFPOOL_OK);
	REQUIRE(lfpool_grow(m->pool, 0) == 0 && lfpool_shrink(m->pool, 0) == 0);
}

/* The context is the model; the order of the queue tells which continuation it is. */
static void be_continued(void *context, lfpool_t *pool, void *object)
{
	struct model *m = context;

	REQUIRE(pool == m->pool && m->waiters > 0);
	REQUIRE(++m->depth == 1);

	struct waiting first = m->waiting[0];

	leave_queue(m, 0);
	REQUIRE(object ? ++m->called <= m->awaited : m->closing && m->called == m->awaited);
	if (object) {
		REQUIRE(!lfpool_cancel(pool, first.ticket));
		model_acquired(m, object);
		if (first.releases)
			model_release_inside(m, object);
		if (first.resizes)
			serve_inside(m);
		if (first.again) {
			first.again--;
			queue_up(m, first);
		}
	}
	m->depth--;
}

void model_acquire_async(struct model *m, struct waiting what)
{
	const bool full = m->plan.in_buffer && m->waiters == BUFFER_WAITING_MAX;
	lfpool_ticket_t ticket = 1;

	/* A continuation whose object a hook refuses is called with nothing, which the model cannot compute. */
	if (m->waiters == MODEL_WAITING_MAX || m->plan.refuses)
		return;
	REQUIRE(lfpool_acquire_async(m->pool, NULL, m, &ticket) == LFPOOL_E_ARGUMENT && !ticket);

	const bool now = !m->owed && !m->waiters && (model_unheld(m) || model_grow_by_itself(m));

	if (full) {
		REQUIRE(lfpool_acquire_async(m->pool, be_continued, m, &ticket) == LFPOOL_E_NO_MEMORY && !ticket);
	} else if (now) {
		m->waiting[m->waiters++] = what;
		model_foresee_serving(m, 0, false);
		REQUIRE(lfpool_acquire_async(m->pool, be_continued, m, &ticket) == LFPOOL_OK && !ticket);
		model_settle_serving(m);
	} else {
		queue_up(m, what);
	}
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

/* With or without a timeout: no other thread could release in the meantime. */
void model_acquire_wait(struct model *m, struct door door, int64_t timeout_ns)
{
	m->refused = 0;
	model_require_got(m, door.cache ? lfpool_cache_acquire_wait(door.cache, timeout_ns)
					: lfpool_acquire_wait(m->pool, timeout_ns));
}

/* ---- The number of objects --------------------------------------------------------------------------------- */

void model_grow(struct model *m, size_t count, bool reserve)
{
	const size_t to_stay = m->capacity - m->owed;
	const size_t wanted = !reserve ? count : count > to_stay ? count - to_stay : 0;
	const size_t forgiven = least(wanted, m->owed), added = least(wanted - forgiven, room(m));

	m->owed -= forgiven;
	m->capacity += added;
	model_foresee_serving(m, 0, false);
	REQUIRE((reserve ? lfpool_reserve(m->pool, count) : lfpool_grow(m->pool, count)) == forgiven + added);
	model_settle_serving(m);
}

/* Pages of free objects may have been given back. */
static void may_be_zero(struct model *m)
{
	for (size_t i = 0; i < m->cells; i++)
		if (!m->cell[i].held)
			m->cell[i].trimmed = true;
}

void model_shrink(struct model *m, size_t count)
{
	const size_t gone = least(count, model_unheld(m));

	m->capacity -= gone;
	m->owed = least(m->owed + (count - gone), m->capacity);
	model_foresee_serving(m, 0, false);
	REQUIRE(lfpool_shrink(m->pool, count) == gone);
	may_be_zero(m);
	model_settle_serving(m);
}

void model_shrink_cancel(struct model *m)
{
	const size_t owed = m->owed;

	m->owed = 0;
	model_foresee_serving(m, 0, false);
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
	model_foresee_serving(m, 0, false);
	REQUIRE(lfpool_limit(m->pool, maximum) == LFPOOL_OK);
	model_settle_serving(m);
}

void model_trim(struct model *m, size_t keep, size_t budget)
{
	const bool more = lfpool_trim(m->pool, keep, budget);

	REQUIRE(!more || budget != SIZE_MAX);
	may_be_zero(m);
}
