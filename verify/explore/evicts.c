/* SPDX-License-Identifier: MIT */
/* evicts.c - the letters of evicts.h, and the check of each call. */
#include "evicts.h"

#include "oracle.h"
#include "stage.h"

#include "evict/order.h"
#include "lfpool/evict.h"
#include "lfpool/handle.h"

#include <string.h>

#define LIVES_MAX 24
#define SPANS_MAX 64
#define VERDICTS_MAX 32
#define NEVER UINT64_MAX
#define FREE (-1)

/* One use of an object. */
struct life {
	lfpool_handle_t handle;
	void *object;
	unsigned key, pins;
	unsigned busy;     /* calls in progress that may change it */
	bool gone, missed; /* the object has ended; a call did not reach it */
	bool changed;      /* a thread's call has set its priority */
};

/* After operation `from` and up to `until`, an object was definitely evictable, with this priority; or a slot was
 * free. */
struct span {
	int life;           /* FREE: a free slot */
	bool from_start;    /* the set-up began it */
	struct moment from; /* the unpin that began it */
	uint64_t until, key;
};

/* Between these operations a call chose an object with priority `limit`, or refused all objects below it. */
struct verdict {
	struct moment began;
	uint64_t at, limit;
	bool takes_free; /* the call would have taken a free slot */
};

static struct {
	struct life life[LIVES_MAX];
	unsigned lives;
	struct span span[SPANS_MAX];
	unsigned spans;
	struct verdict verdict[VERDICTS_MAX];
	unsigned verdicts;
	struct {
		unsigned mine[OBJECTS_MAX], mines; /* new, still pinned lives */
		unsigned pinned;                   /* lives, one bit each */
		struct moment began;
		int evicted; /* the life that the call has just evicted; or FREE */
	} thread[THREADS_MAX + 1];
} evicts;

/* The set-up and the end act as one more thread. */
#define self_number (engine_running() ? engine_thread() : THREADS_MAX)
#define self (&evicts.thread[self_number])

static uint64_t now(void)
{
	return engine_running() ? engine_now() : 0;
}

static void begin(void)
{
	if (engine_running())
		engine_point(true);
	self->began = oracle_now();
	self->evicted = FREE;
}

static struct life *life_of(lfpool_handle_t handle)
{
	for (unsigned i = 0; i < evicts.lives; i++)
		if (evicts.life[i].handle == handle)
			return &evicts.life[i];
	engine_fail("got a handle that no acquire has returned");
	return &evicts.life[0];
}

/* From `at` on a call may change the life's priority. */
static void close_span(int life, uint64_t at)
{
	for (unsigned i = 0; i < evicts.spans; i++)
		if (evicts.span[i].life == life && evicts.span[i].until > at)
			evicts.span[i].until = at;
}

static void open_span(int life, uint64_t key)
{
	if (evicts.spans == SPANS_MAX)
		engine_fail("the explorer's fault: too many changes");
	evicts.span[evicts.spans++] = (struct span){life, !engine_running(), oracle_now(), NEVER, key};
}

/* Before a call that may change the life; settle() is called after it. */
static void change(struct life *l)
{
	begin();
	l->busy++;
	close_span((int)(l - evicts.life), self->began.operation);
}

static void settle(struct life *l)
{
	if (--l->busy || l->gone || l->pins)
		return;
	/* After overlapping calls the last one to write counts. */
	l->key = (unsigned)stage.pool->order->level[0].priority[scenario_object_number(l->object)];
	open_span((int)(l - evicts.life), l->key);
}

static void end_life(struct life *l, uint64_t at)
{
	if (l->gone)
		engine_fail("an object ended twice");
	l->gone = true;
	close_span((int)(l - evicts.life), at);
}

static void decide(uint64_t limit, bool takes_free)
{
	if (evicts.verdicts == VERDICTS_MAX)
		engine_fail("the explorer's fault: too many decisions");
	evicts.verdict[evicts.verdicts++] = (struct verdict){self->began, now(), limit, takes_free};
}

/* A later call may still shorten a span, so calls are judged after all threads have ended. */
static void judge(const struct verdict *v)
{
	for (unsigned i = 0; i < evicts.spans; i++) {
		const struct span *span = &evicts.span[i];

		if (!(span->from_start || moment_before(&span->from, &v->began)) || span->until <= v->at)
			continue;
		if (span->life == FREE ? v->takes_free : span->key < v->limit)
			engine_fail(span->life == FREE
					    ? "an eviction, or a refusal, though a slot was free all the time"
					    : "an eviction, or a refusal, though an object with a lower priority could "
					      "be evicted all the time");
	}
}

/* The part of the object that its releaser writes. */
static uint64_t *note_in(void *object)
{
	return (uint64_t *)object + 1;
}

static void on_evict(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	struct life *l = life_of(handle);

	(void)context;
	if (l->pins)
		engine_fail("an object is evicted while it is pinned");
	if (l->object != object || lfpool_resolve(stage.pool, handle))
		engine_fail("a victim has a wrong handle, or one that is not stale");
	explore_plain(object, true);
	if (!l->changed && priority != l->key)
		engine_fail("an object is evicted with a priority that no call gave it");
	close_span((int)(l - evicts.life), self->began.operation);
	decide(priority, false);
	end_life(l, now());
	self->evicted = (int)(l - evicts.life);
}

/* ---- Operations ---- */

static void acquire(unsigned key)
{
	lfpool_handle_t handle;

	begin();
	void *object = lfpool_acquire_evicting(stage.pool, key, &handle);

	if (!object || self->evicted != FREE)
		decide(self->evicted == FREE ? key : 0, true);
	if (!object)
		return;
	if (evicts.lives == LIVES_MAX)
		engine_fail("the explorer's fault: too many lives");
	if (self->evicted == FREE)
		close_span(FREE, self->began.operation);
	explore_plain(object, true);
	explore_plain(note_in(object), true);
	evicts.life[evicts.lives] = (struct life){.handle = handle, .object = object, .key = key, .pins = 1};
	self->mine[self->mines++] = evicts.lives++;
}

/* `first`: the first unpin of a new object. */
static void unpin(struct life *l, bool first)
{
	change(l);
	explore_plain(l->object, first);
	l->pins--;
	if (lfpool_unpin(stage.pool, l->handle) != LFPOOL_OK)
		engine_fail("an object cannot be unpinned");
	settle(l);
}

static void pin(struct life *l)
{
	const bool was_gone = l->gone;

	change(l);
	if (lfpool_pin(stage.pool, l->handle)) {
		if (was_gone && !engine_weak())
			engine_fail("an object is pinned but gone");
		l->pins++;
		l->busy--;
		self->pinned |= 1u << (l - evicts.life);
		explore_plain(l->object, false);
	} else {
		l->missed = true;
		l->busy--;
	}
}

static void release(struct life *l)
{
	change(l);
	const lfpool_status_t status = lfpool_release_handle(stage.pool, l->handle);

	if (status == LFPOOL_OK)
		end_life(l, self->began.operation);
	else
		l->missed = true;
	l->busy--;
}

static void set(struct life *l, unsigned key)
{
	change(l);
	l->changed |= engine_running();
	l->missed |= lfpool_set_priority(stage.pool, l->handle, key) != LFPOOL_OK;
	settle(l);
}

static void get(struct life *l)
{
	uint64_t key;
	const bool was_gone = l->gone;

	begin();
	const bool got = lfpool_get_priority(stage.pool, l->handle, &key);

	if (got && was_gone && !engine_weak())
		engine_fail("an object has a priority but is gone");
	if (got && !l->changed && key != l->key)
		engine_fail("an object has a priority that no call gave it");
	l->missed |= !got;
}

static void find_least(bool releases)
{
	uint64_t key = NEVER;

	begin();
	if (releases) {
		if (!lfpool_release_least(stage.pool, 1))
			decide(NEVER, false);
	} else {
		const lfpool_handle_t handle = lfpool_least(stage.pool, &key);

		if (handle && !life_of(handle)->changed && key != life_of(handle)->key)
			engine_fail("an object is the least with a priority that no call gave it");
		decide(key, false);
	}
}

void evicts_run(const char *at)
{
	while (*at) {
		const char operation = *at++;
		struct life *l = strchr("uriogw", operation) ? &evicts.life[scenario_digit(&at)] : NULL;

		switch (operation) {
		case 'a':
		case 'n':
			acquire(scenario_digit(&at));
			if (operation == 'n' || !self->mines)
				break;
			/* fall through */
		case 'p':
			if (self->mines)
				unpin(&evicts.life[self->mine[--self->mines]], true);
			break;
		case 'q':
			if (self->mines) {
				release(&evicts.life[self->mine[self->mines - 1]]);
				unpin(&evicts.life[self->mine[--self->mines]], true);
			}
			break;
		case 'u': set(l, scenario_digit(&at)); break;
		case 'r': release(l); break;
		case 'g': get(l); break;
		case 'w': explore_plain(note_in(l->object), true); break;
		case 'i': pin(l); break;
		case 'o':
			if (self->pinned & 1u << (l - evicts.life)) {
				self->pinned &= ~(1u << (l - evicts.life));
				unpin(l, false);
			}
			break;
		case 'm':
		case 'k': find_least(operation == 'm'); break;
		default: engine_fail("no operation %c", operation);
		}
	}
}

/* ---- Before and after ---- */

void evicts_configure(lfpool_config_t *config)
{
	config->evict = LFPOOL_EVICT_LESS;
	config->hooks.evict = on_evict;
}

void evicts_open(const char *setup)
{
	memset(&evicts, 0, sizeof(evicts));
	stage.loose = true;
	os_play_keep(&evicts, sizeof(evicts));
	evicts_run(setup);
	evicts.verdicts = 0;
}

void evicts_check(void)
{
	uint64_t last = 0, key = 0;
	lfpool_handle_t handle;
	unsigned expected = 0, released = 0;

	if (!stage.scenario->evicting)
		return;
	for (unsigned i = 0; i < evicts.verdicts; i++)
		judge(&evicts.verdict[i]);
	for (unsigned i = 0; i < evicts.lives; i++)
		if (evicts.life[i].missed && !evicts.life[i].gone)
			engine_fail("a handle did not reach its object");
	for (unsigned i = 0; i < evicts.lives; i++)
		for (; evicts.life[i].pins; evicts.life[i].pins--)
			if (lfpool_unpin(stage.pool, evicts.life[i].handle) != LFPOOL_OK)
				engine_fail("at the end an object cannot be unpinned");
	for (unsigned i = 0; i < evicts.lives; i++)
		expected += !evicts.life[i].gone;
	for (; (handle = lfpool_least(stage.pool, &key)); last = key, released++) {
		if (key < last || life_of(handle)->gone || life_of(handle)->key != key)
			engine_fail("at the end lfpool_least() is not the least");
		if (lfpool_release_handle(stage.pool, handle) != LFPOOL_OK)
			engine_fail("at the end the least cannot be released");
	}
	if (released != expected)
		engine_fail("at the end %u objects can be evicted, not %u", released, expected);
}
