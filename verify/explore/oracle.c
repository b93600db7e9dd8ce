/* SPDX-License-Identifier: MIT */
/* oracle.c - the record of all calls, and the check of each NULL; see oracle.h. */
#include "oracle.h"

#include "follow.h"
#include "verbs.h"

#include <string.h>

#define EVENTS_MAX 64
#define NULLS_MAX 64

/* In place of an object's number: the pool grows or shrinks. */
#define POOL OBJECTS_MAX
/* In place of an object's number: any free object, which a call may hold, but not for its caller. */
#define HANDS (OBJECTS_MAX + 1)

/* An object becomes free (+1) when its release ends, and stops being free (-1) when the acquire that got it began. */
struct event {
	struct moment at;
	unsigned object;
	int change;
};

/* The state that an execution adds to, and that the next one starts from. */
static struct record {
	unsigned objects;
	bool exchanges;
	int free_at_first[OBJECTS_MAX + 1];
	struct hold hold[HOLDS_MAX];
	unsigned holds;
	unsigned nulls, others;
	unsigned most; /* the most held at once since the last reset of the high-water mark */
} record;

static struct {
	struct moment start, end;
} null[NULLS_MAX];
static struct event other[EVENTS_MAX]; /* events without a hold */
/* All events, each thread's in order; computed when a NULL is checked. */
static struct event event[THREADS_MAX][2 * EVENTS_MAX];
static unsigned events[THREADS_MAX];

/* ---- The record ---- */

const struct hold *oracle_hold(unsigned index)
{
	return &record.hold[index];
}

unsigned oracle_holds(void)
{
	return record.holds;
}

/* The newest hold of the object. */
static struct hold *hold_of(unsigned object)
{
	for (unsigned i = record.holds; i-- > 0;)
		if (record.hold[i].object == object)
			return &record.hold[i];
	return NULL;
}

bool oracle_held(unsigned object)
{
	const struct hold *hold = hold_of(object);

	return hold && !hold->releasing;
}

void oracle_high_water_reset(void)
{
	record.most = 0;
	for (unsigned i = 0; i < record.objects; i++)
		record.most += oracle_held(i);
}

unsigned oracle_most(void)
{
	return record.most;
}

void oracle_open(unsigned objects, bool exchanges)
{
	record = (struct record){.objects = objects, .exchanges = exchanges};
	os_play_keep(&record, sizeof(record));
}

void oracle_save(unsigned not_yet)
{
	record.free_at_first[POOL] = -(int)not_yet;
	for (unsigned i = 0; i < record.objects; i++)
		record.free_at_first[i] = !oracle_held(i);
	oracle_high_water_reset();
}

struct moment oracle_now(void)
{
	return engine_running() ? memory_moment() : (struct moment){0};
}

struct moment oracle_call(void)
{
	follow_call();
	/* Other threads may run before the call begins. */
	engine_point(true);
	return oracle_now();
}

void oracle_acquired(struct moment call, unsigned object, void *address)
{
	if (object >= record.objects || record.holds == HOLDS_MAX) {
		engine_fail(object >= record.objects ? "acquire returned an address that is no object"
						     : "the explorer's fault: too many holds");
		return;
	}
	if (oracle_held(object))
		engine_fail("object %u was handed to thread %u while thread %u held it", object, engine_thread(),
			    hold_of(object)->call.thread);
	record.hold[record.holds++] = (struct hold){
		.object = object, .from_start = !engine_running(), .call = call, .acquired = oracle_now()};
	follow_got(object);

	unsigned held = 0;

	for (unsigned i = 0; i < record.objects; i++)
		held += oracle_held(i);
	record.most = record.most < held ? held : record.most;
	os_play_use(address);
	explore_plain(address, true);
}

void oracle_releases_any(unsigned object)
{
	struct hold *hold = hold_of(object);

	if (!hold)
		return;
	hold->releasing = true;
	hold->releasing_from_start = !engine_running();
	hold->releases = oracle_now();
}

void oracle_releases(unsigned object, void *address)
{
	explore_plain(address, true);
	oracle_releases_any(object);
}

void oracle_released(unsigned object)
{
	struct hold *hold = hold_of(object);

	if (!hold)
		return;
	hold->released = true;
	hold->end = oracle_now();
	/* In the set-up: as if the object had never been held. */
	if (!engine_running())
		hold->object = OBJECTS_MAX;
}

void oracle_known_free(unsigned object)
{
	struct hold *hold = hold_of(object);

	if (hold && hold->released)
		hold->end = memory_moment();
}

static void note(struct moment at, unsigned object, int change)
{
	if (!engine_running())
		return;
	if (record.others == EVENTS_MAX)
		engine_fail("the explorer's fault: too many calls");
	other[record.others++] = (struct event){at, object, change};
}

void oracle_passed(struct moment call, unsigned object)
{
	note(call, object, -1);
	note(oracle_now(), object, +1);
}

void oracle_capacity(struct moment at, int change)
{
	note(at, POOL, change);
}

void oracle_holds_some(struct moment call, unsigned objects)
{
	note(call, HANDS, -(int)objects);
	note(oracle_now(), HANDS, (int)objects);
}

void oracle_null(struct moment call)
{
	follow_null();
	oracle_null_of_closed(call);
}

void oracle_null_of_closed(struct moment call)
{
	if (!engine_running())
		return;
	if (record.nulls == NULLS_MAX)
		engine_fail("the explorer's fault: too many NULLs");
	null[record.nulls].start = call;
	null[record.nulls++].end = memory_moment();
}

/* ---- NULL ---- */

static void add(struct moment at, unsigned object, int change)
{
	struct event *list = event[at.thread];
	unsigned place = events[at.thread]++;

	if (place == 2 * EVENTS_MAX - 1)
		engine_fail("the explorer's fault: too many calls");
	while (place && (list[place - 1].at.operation > at.operation ||
			 (list[place - 1].at.operation == at.operation &&
			  list[place - 1].at.clock[at.thread] > at.clock[at.thread]))) {
		list[place] = list[place - 1];
		place--;
	}
	list[place] = (struct event){at, object, change};
}

static void gather_events(void)
{
	memset(events, 0, sizeof(events));
	for (unsigned i = 0; i < record.holds; i++) {
		const struct hold *hold = &record.hold[i];

		if (hold->object == OBJECTS_MAX)
			continue;
		if (!hold->from_start)
			add(hold->call, hold->object, -1);
		if (hold->released)
			add(hold->end, hold->object, +1);
	}
	for (unsigned i = 0; i < record.others; i++)
		add(other[i].at, other[i].object, other[i].change);
}

/* The set that holds the first cut[t] events of each thread is closed under happens-before. */
static bool closed(const unsigned cut[THREADS_MAX])
{
	for (unsigned t = 0; t < THREADS_MAX; t++)
		for (unsigned u = 0; u < THREADS_MAX; u++)
			/* The last included event of t, against the first excluded one of u. */
			if (cut[t] && cut[u] < events[u] &&
			    moment_before(&event[u][cut[u]].at, &event[t][cut[t] - 1].at))
				return false;
	return true;
}

/* Is no object free for this thread, at the moment `cut`? */
static bool nothing_free(const unsigned cut[THREADS_MAX], unsigned thread)
{
	int is_free[OBJECTS_MAX + 2] = {0};

	memcpy(is_free, record.free_at_first, sizeof(record.free_at_first));
	for (unsigned t = 0; t < THREADS_MAX; t++)
		for (unsigned i = 0; i < cut[t]; i++) {
			const struct event *e = &event[t][i];

			if (e->object != HANDS || t != thread)
				is_free[e->object] += e->change;
		}
	/* With exchanges an object may be acquired before its release ends: -1, while the release holds another one. */
	int total = is_free[POOL] + is_free[HANDS];

	for (unsigned i = 0; i < record.objects; i++) {
		if (is_free[i] > 0 && !record.exchanges)
			return false;
		total += is_free[i];
	}
	return total <= 0;
}

/* Tries all cuts of threads `t` and up. */
static bool some_cut(unsigned cut[THREADS_MAX], const unsigned least[THREADS_MAX], const unsigned most[THREADS_MAX],
		     unsigned t, unsigned thread)
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
	if (record.nulls)
		gather_events();
	for (unsigned n = 0; n < record.nulls; n++) {
		unsigned least[THREADS_MAX], most[THREADS_MAX], cut[THREADS_MAX];

		for (unsigned t = 0; t < THREADS_MAX; t++) {
			least[t] = 0;
			while (least[t] < events[t] && moment_before(&event[t][least[t]].at, &null[n].start))
				least[t]++;
			most[t] = least[t];
			while (most[t] < events[t] && !moment_before(&null[n].end, &event[t][most[t]].at))
				most[t]++;
		}
		if (!some_cut(cut, least, most, 0, null[n].start.thread)) {
			engine_fail("thread %u got NULL although at every moment of the call some object was free",
				    null[n].start.thread);
			return;
		}
	}
}
