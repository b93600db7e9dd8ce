/* SPDX-License-Identifier: MIT */
/*
 * oracle.c - notes of all calls, and the judgement of each NULL; see oracle.h.
 */
#include "oracle.h"

#include "holds.h"
#include "verbs.h"

#include <string.h>

#define EVENTS_MAX 64
#define NOBODY 255

/* What is counted for the pool, not for an object: it grows, it shrinks. */
#define POOL OBJECTS_MAX
/* What a thread's call may have in its hands: any free object, but not for itself. */
#define HANDS (OBJECTS_MAX + 1)

/* An object becomes free (+1) when its release ends, and is gone (-1) from when the acquire that got it began. */
struct event {
	struct moment at;
	uint8_t object;
	int8_t change;
};

static struct {
	unsigned objects;
	bool exchanges;
	uint8_t holder[OBJECTS_MAX], holder_at_first[OBJECTS_MAX];
	int8_t free_at_first[OBJECTS_MAX + 1];
	struct event event[THREADS_MAX][EVENTS_MAX];
	unsigned events[THREADS_MAX];
	struct {
		struct moment start, end;
	} null[THREADS_MAX * EVENTS_MAX];
	unsigned nulls;
	unsigned most; /* held at one moment, since the last reset of the high-water mark */
} notes;

static unsigned held_count(void)
{
	unsigned held = 0;

	for (unsigned i = 0; i < notes.objects; i++)
		held += notes.holder[i] != NOBODY;
	return held;
}

void oracle_high_water_reset(void)
{
	notes.most = held_count();
}

unsigned oracle_most(void)
{
	return notes.most;
}

void oracle_open(unsigned objects, unsigned not_yet, bool exchanges)
{
	notes.objects = objects;
	notes.exchanges = exchanges;
	memset(notes.holder, NOBODY, sizeof(notes.holder));
	memset(notes.free_at_first, 0, sizeof(notes.free_at_first));
	notes.free_at_first[POOL] = (int8_t)-(int)not_yet;
}

void oracle_save(void)
{
	memcpy(notes.holder_at_first, notes.holder, sizeof(notes.holder));
	for (unsigned i = 0; i < notes.objects; i++)
		notes.free_at_first[i] = notes.holder[i] == NOBODY;
}

void oracle_begin(void)
{
	memcpy(notes.holder, notes.holder_at_first, sizeof(notes.holder));
	memset(notes.events, 0, sizeof(notes.events));
	notes.nulls = 0;
	oracle_high_water_reset();
}

void oracle_releases_any(unsigned object)
{
	notes.holder_at_first[object] = NOBODY;
	holds_releases(object);
}

bool oracle_held(unsigned object)
{
	return notes.holder[object] != NOBODY;
}

struct moment oracle_call(void)
{
	if (!engine_running())
		return (struct moment){0};
	/* Others may run before the call begins. */
	engine_point(true);
	return memory_moment();
}

/* Among its thread's events, in their order. */
static void note(struct moment at, unsigned object, int change)
{
	unsigned t = at.thread;

	if (!engine_running())
		return;
	if (notes.events[t] == EVENTS_MAX) {
		engine_fail("the explorer's fault: too many calls");
		return;
	}

	unsigned place = notes.events[t]++;

	for (; place && notes.event[t][place - 1].at.operation > at.operation; place--)
		notes.event[t][place] = notes.event[t][place - 1];
	notes.event[t][place] = (struct event){at, (uint8_t)object, (int8_t)change};
}

void oracle_acquired(struct moment call, unsigned object, void *address)
{
	if (object >= notes.objects) {
		engine_fail("acquire returned something that is no object");
		return;
	}
	if (notes.holder[object] != NOBODY)
		engine_fail("object %u was handed to thread %u while thread %u held it", object, engine_thread(),
			    notes.holder[object]);
	notes.holder[object] = (uint8_t)engine_thread();
	if (notes.most < held_count())
		notes.most = held_count();
	if (engine_running())
		note(call, object, -1);
	holds_acquired(call, object);
	os_play_use(address);
	explore_plain(address, true);
}

void oracle_passed(struct moment call, unsigned object)
{
	if (!engine_running())
		return;
	note(call, object, -1);
	note(memory_moment(), object, +1);
}

void oracle_capacity(struct moment at, int change)
{
	note(at, POOL, change);
}

void oracle_holds_some(struct moment call, unsigned objects)
{
	if (!engine_running())
		return;
	note(call, HANDS, -(int)objects);
	note(memory_moment(), HANDS, (int)objects);
}

void oracle_null(struct moment call)
{
	if (!engine_running())
		return;
	notes.null[notes.nulls].start = call;
	notes.null[notes.nulls++].end = memory_moment();
}

void oracle_releases(unsigned object, void *address)
{
	explore_plain(address, true);
	notes.holder[object] = NOBODY;
	holds_releases(object);
}

void oracle_released(unsigned object)
{
	holds_released(object);
	if (engine_running())
		note(memory_moment(), object, +1);
}

void oracle_known_free(unsigned object)
{
	for (unsigned t = 0; t < THREADS_MAX; t++)
		for (unsigned i = notes.events[t]; i-- > 0;) {
			const struct event *e = &notes.event[t][i];

			if (e->object != object || e->change < 0)
				continue;
			memmove(&notes.event[t][i], &notes.event[t][i + 1], (--notes.events[t] - i) * sizeof(*e));
			note(memory_moment(), object, +1);
			return;
		}
}

/* ---- NULL ---- */

/* The set that holds the first cut[t] events of each thread is closed under happens-before. */
static bool closed(const unsigned cut[THREADS_MAX])
{
	for (unsigned t = 0; t < THREADS_MAX; t++)
		for (unsigned u = 0; u < THREADS_MAX; u++)
			/* The last event of t that is in, against the first of u that is out. */
			if (cut[t] && cut[u] < notes.events[u] &&
			    moment_before(&notes.event[u][cut[u]].at, &notes.event[t][cut[t] - 1].at))
				return false;
	return true;
}

/* For this thread, at this moment. */
static bool nothing_free(const unsigned cut[THREADS_MAX], unsigned thread)
{
	int8_t is_free[OBJECTS_MAX + 2] = {0};

	memcpy(is_free, notes.free_at_first, sizeof(notes.free_at_first));
	for (unsigned t = 0; t < THREADS_MAX; t++)
		for (unsigned i = 0; i < cut[t]; i++) {
			const struct event *e = &notes.event[t][i];

			if (e->object != HANDS || t != thread)
				is_free[e->object] = (int8_t)(is_free[e->object] + e->change);
		}
	/* With exchanges an object may be acquired before its release ends: -1, and another is in the release's hands. */
	int total = is_free[POOL] + is_free[HANDS];

	for (unsigned i = 0; i < notes.objects; i++) {
		if (is_free[i] > 0 && !notes.exchanges)
			return false;
		total += is_free[i];
	}
	return total <= 0;
}

/* Tries all cuts of threads `t` and up. */
static bool some_cut(unsigned cut[THREADS_MAX], const unsigned least[THREADS_MAX], const unsigned most[THREADS_MAX], unsigned t,
		     unsigned thread)
{
	if (t == THREADS_MAX)
		return closed(cut) && nothing_free(cut, thread);
	for (cut[t] = least[t]; cut[t] <= most[t]; cut[t]++)
		if (some_cut(cut, least, most, t + 1, thread))
			return true;
	return false;
}

void oracle_check_nulls(void)
{
	for (unsigned n = 0; n < notes.nulls; n++) {
		unsigned least[THREADS_MAX], most[THREADS_MAX], cut[THREADS_MAX];

		for (unsigned t = 0; t < THREADS_MAX; t++) {
			least[t] = 0;
			while (least[t] < notes.events[t] && moment_before(&notes.event[t][least[t]].at, &notes.null[n].start))
				least[t]++;
			most[t] = least[t];
			while (most[t] < notes.events[t] && !moment_before(&notes.null[n].end, &notes.event[t][most[t]].at))
				most[t]++;
		}
		if (!some_cut(cut, least, most, 0, notes.null[n].start.thread)) {
			engine_fail("thread %u got NULL although at every moment of the call some object was free",
				    notes.null[n].start.thread);
			return;
		}
	}
}
