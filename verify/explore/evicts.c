/* SPDX-License-Identifier: MIT */
/*
 * evicts.c - see evicts.h.  What was decided when is noted while the threads run, and judged afterwards (moments.c
 * would be the place for a happens-before of its own; here the order of operations serves, in the weak search too:
 * states and nodes are seq_cst, and the model reads their last store).
 */
#include "evicts.h"

#include "oracle.h"
#include "priority.h"
#include "verbs.h"

#include <string.h>

#define SLOTS_MAX 8
#define LIVES_MAX 24
#define SPANS_MAX 8
#define VERDICTS_MAX 24
#define SPARES_MAX 16
#define NEVER UINT64_MAX

/* The life of one acquired object. */
struct life {
	lfpool_handle_t handle;
	void *owner;
	uint32_t slot;
	/* When it could be evicted for certain, with which priority: after operation `from`, up to `until`. */
	struct span {
		uint64_t from, until, key;
	} span[SPANS_MAX];
	unsigned spans, pins, key;
	unsigned keys; /* that it ever had, one bit each */
	uint64_t ended; /* the operation by which it was evicted, or after which its release had begun */
	bool gone;
};

struct verdict {
	uint64_t after, upto;   /* the operations of the call, up to the one that decided */
	int victim;             /* of lives; -1: nobody                                   */
	uint64_t key, newcomer; /* the victim's; NEVER: of no newcomer                    */
};

/* When a slot was free for certain. */
struct freed {
	uint32_t slot;
	uint64_t from, until;
};

static struct evicts {
	lfpool_priority_t pool;
	struct place slots[SLOTS_MAX], nodes[SLOTS_MAX];
	_Atomic(uint64_t) links[SLOTS_MAX];
	void *owners[SLOTS_MAX];
	char objects[SLOTS_MAX][16];
	struct record spares[SPARES_MAX];
	bool spare_used[SPARES_MAX];
	bool filled[SLOTS_MAX]; /* by fill_own() */
	struct life life[LIVES_MAX];
	unsigned lives;
	struct verdict verdict[VERDICTS_MAX];
	unsigned verdicts;
	struct freed freed[LIVES_MAX];
	unsigned frees;
	struct thread {
		unsigned mine[SLOTS_MAX], mines; /* lives that are new */
		unsigned pinned;                 /* objects of the set-up, one bit each */
		uint64_t began;
		int evicted;                     /* the life that the call has just taken, or -1 */
		struct verdict *verdict;         /* on it                                        */
	} thread[THREADS_MAX + 1];
} now, saved;

static unsigned capacity;

/* The set-up is a thread of its own. */
static struct thread *self(void)
{
	return &now.thread[engine_running() ? engine_thread() : THREADS_MAX];
}

/* ---- The pool of records, played ---- */

uint32_t spare_take(const struct spares *s)
{
	(void)s;
	for (uint32_t i = 0; i < SPARES_MAX; i++) {
		if (now.spare_used[i])
			continue;
		now.spare_used[i] = true;
		return i + 1 + OWN_RECORDS;
	}
	engine_fail("the explorer's fault: too few records");
	return 0;
}

void spare_give(const struct spares *s, uint32_t number)
{
	(void)s;
	now.spare_used[number - 1 - OWN_RECORDS] = false;
}

/* ---- Notes ---- */

static void begin(void)
{
	engine_point(true);
	self()->began = engine_now();
	self()->evicted = -1;
}

static int life_of(lfpool_handle_t handle)
{
	for (unsigned i = 0; i < now.lives; i++)
		if (now.life[i].handle == handle)
			return (int)i;
	engine_fail("a handle that nobody was given");
	return -1;
}

static void close_span(struct life *l, uint64_t at)
{
	if (l->spans && l->span[l->spans - 1].until == NEVER)
		l->span[l->spans - 1].until = at;
}

static void open_span(struct life *l)
{
	l->span[l->spans++] = (struct span){engine_now(), NEVER, l->key};
	if (l->spans == SPANS_MAX)
		engine_fail("the explorer's fault: too many changes");
}

static void decide(int victim, uint64_t key, uint64_t newcomer, uint64_t upto)
{
	self()->verdict = &now.verdict[now.verdicts++];
	*self()->verdict = (struct verdict){self()->began, upto, victim, key, newcomer};
	if (now.verdicts == VERDICTS_MAX)
		engine_fail("the explorer's fault: too many decisions");
}

static void write_object(const struct life *l)
{
	explore_plain(now.objects[l->slot - 1], true);
}

static void end_life(struct life *l, uint64_t at)
{
	if (l->gone)
		engine_fail("object %u has gone twice", l->slot);
	l->gone = true;
	l->ended = at;
	close_span(l, at);
}

static void on_evict(void *context, const lfpool_evicted_t *evicted)
{
	const int victim = life_of(evicted->handle);
	struct life *l = &now.life[victim];

	(void)context;
	if (l->pins)
		engine_fail("object %u is evicted, and pinned", l->slot);
	if (evicted->owner != l->owner)
		engine_fail("object %u had another owner", l->slot);
	write_object(l);
	end_life(l, engine_now());
	self()->evicted = victim;
	decide(victim, evicted->priority, NEVER, engine_now());
}

/* ---- Operations ---- */

static struct life *acquire(unsigned key)
{
	lfpool_handle_t handle;
	struct thread *t = self();
	void *owner = (void *)(uintptr_t)(key + 1);
	const void *object;

	begin();
	object = lfpool_priority_acquire(&now.pool, key, owner, &handle);
	if (t->evicted >= 0)
		t->verdict->newcomer = key;
	if (!object) {
		decide(-1, 0, key, engine_now());
		return NULL;
	}

	struct life *l = &now.life[now.lives];

	*l = (struct life){.handle = handle, .slot = (uint32_t)(((const char *)object - now.objects[0]) / 16) + 1,
			   .key = key, .keys = 1u << key};
	l->owner = owner;
	for (unsigned i = 0; i < now.frees && t->evicted < 0; i++)
		if (now.freed[i].slot == l->slot && now.freed[i].until == NEVER)
			now.freed[i].until = t->began;
	write_object(l);
	t->mine[t->mines++] = now.lives++;
	if (now.lives == LIVES_MAX)
		engine_fail("the explorer's fault: too many lives");
	return l;
}

static void publish(void)
{
	struct thread *t = self();

	if (!t->mines)
		return;

	struct life *l = &now.life[t->mine[--t->mines]];

	begin();
	if (lfpool_priority_publish(&now.pool, l->handle) != LFPOOL_OK)
		engine_fail("object %u cannot be published", l->slot);
	else if (!l->gone && !l->pins)
		open_span(l);
}

static void note_free(uint32_t slot)
{
	now.freed[now.frees++] = (struct freed){slot, engine_now(), NEVER};
	if (now.frees == LIVES_MAX)
		engine_fail("the explorer's fault: too many releases");
}

static void release(struct life *l)
{
	const bool was_gone = l->gone;
	const unsigned pins = l->pins;

	begin();
	close_span(l, self()->began);
	if (lfpool_priority_release(&now.pool, l->handle) == LFPOOL_OK) {
		end_life(l, self()->began);
		if (!pins && !l->pins)
			note_free(l->slot);
	} else if (!l->gone) {
		engine_fail("object %u cannot be released", l->slot);
	}
	if (was_gone && l->ended > self()->began)
		engine_fail("object %u has gone twice", l->slot);
}

static void update(struct life *l, unsigned key)
{
	begin();
	close_span(l, self()->began);
	l->keys |= 1u << key;
	if (lfpool_priority_update(&now.pool, l->handle, key) == LFPOOL_OK) {
		l->key = key;
		if (!l->gone && !l->pins)
			open_span(l);
	} else if (!l->gone) {
		engine_fail("object %u cannot be updated", l->slot);
	}
}

static void get(const struct life *l)
{
	uint64_t key = 0;

	begin();
	if (lfpool_priority_get(&now.pool, l->handle, &key)) {
		/* Unless told by an edge of its own, a thread need not know yet. */
		if (l->gone && l->ended <= self()->began && !engine_weak())
			engine_fail("object %u has a priority, and is gone", l->slot);
		if (key > 9 || !(l->keys & 1u << key))
			engine_fail("object %u has priority %llu, which it never had", l->slot, (unsigned long long)key);
	} else if (!l->gone) {
		engine_fail("object %u has no priority", l->slot);
	}
}

static void pin(unsigned number)
{
	struct life *l = &now.life[number];

	begin();
	close_span(l, self()->began);
	if (lfpool_priority_pin(&now.pool, l->handle)) {
		if (l->gone && l->ended <= self()->began)
			engine_fail("object %u is pinned, and gone", l->slot);
		l->pins++;
		self()->pinned |= 1u << number;
	} else if (!l->gone) {
		engine_fail("object %u cannot be pinned", l->slot);
	}
}

static void unpin(unsigned number)
{
	struct life *l = &now.life[number];

	if (!(self()->pinned & 1u << number))
		return;
	self()->pinned &= ~(1u << number);
	begin();
	l->pins--;
	if (lfpool_priority_unpin(&now.pool, l->handle) != LFPOOL_OK)
		engine_fail("object %u cannot be unpinned", l->slot);
	else if (!l->gone && !l->pins)
		open_span(l);
}

static void name_least(bool releases)
{
	uint64_t key;
	lfpool_handle_t handle;

	begin();
	if (releases) {
		if (!lfpool_priority_release_min(&now.pool, 1))
			decide(-1, 0, NEVER, engine_now());
		else
			note_free(now.life[self()->evicted].slot);
		return;
	}
	handle = lfpool_priority_peek_min(&now.pool, &key);
	decide(handle ? life_of(handle) : -1, key, NEVER, engine_now());
}

static bool visit(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	(void)context, (void)object, (void)priority;

	const struct life *l = &now.life[life_of(handle)];

	if (l->gone && l->ended <= self()->began)
		engine_fail("object %u is visited, and gone", l->slot);
	explore_plain(now.objects[l->slot - 1], false);
	return true;
}

/* Others may pass over what is visited: its changes are under way. */
static void walk(void)
{
	begin();
	for (unsigned i = 0; i < now.lives; i++)
		close_span(&now.life[i], self()->began);
	(void)lfpool_priority_for_each(&now.pool, visit, NULL);
	for (unsigned i = 0; i < now.lives; i++)
		if (!now.life[i].gone && now.life[i].spans)
			open_span(&now.life[i]);
}

/* Both own records of the slot are being filled, by threads that are stopped. */
static void fill_own(uint32_t slot)
{
	now.filled[slot - 1] = true;
	for (unsigned i = 0; i < OWN_RECORDS; i++)
		now.slots[slot - 1].used[i] = 1;
}

static unsigned digit(const char **at)
{
	return (unsigned)(*(*at)++ - '0');
}

void evicts_run(unsigned thread, const char *at)
{
	(void)thread;
	while (*at) {
		const char operation = *at++;
		struct thread *t = self();
		struct life *l = strchr("uriogx", operation) ? &now.life[digit(&at)] : NULL;

		switch (operation) {
		case 'a':
			if (acquire(digit(&at)))
				publish();
			break;
		case 'n': (void)acquire(digit(&at)); break;
		case 'p': publish(); break;
		case 'q':
			if (t->mines)
				release(&now.life[t->mine[--t->mines]]);
			break;
		case 'u': update(l, digit(&at)); break;
		case 'r': release(l); break;
		case 'g': get(l); break;
		case 'i': pin((unsigned)(l - now.life)); break;
		case 'o': unpin((unsigned)(l - now.life)); break;
		case 'm':
		case 'k': name_least(operation == 'm'); break;
		case 'w': walk(); break;
		case 'x': fill_own(l->slot); break;
		default: engine_fail("no operation %c", operation);
		}
	}
}

/* ---- The judgement ---- */

static bool goes_first(unsigned life, uint64_t key, int other, uint64_t other_key)
{
	return key != other_key ? key < other_key : now.life[life].handle < now.life[other].handle && (int)life != other;
}

/* Could somebody have been taken, or some slot, at operation `at`, so that the decision was wrong then? */
static bool wrong_at(const struct verdict *d, uint64_t at)
{
	for (unsigned i = 0; i < now.lives; i++) {
		const struct life *l = &now.life[i];

		for (unsigned s = 0; s < l->spans; s++) {
			const struct span *span = &l->span[s];

			if (at <= span->from || at > span->until)
				continue;
			if (d->victim < 0 ? span->key < d->newcomer : goes_first(i, span->key, d->victim, d->key))
				return true;
		}
	}
	for (unsigned i = 0; d->newcomer != NEVER && !engine_weak() && i < now.frees; i++)
		if (at > now.freed[i].from && at <= now.freed[i].until)
			return true;
	return false;
}

static void judge(const struct verdict *d)
{
	for (uint64_t at = d->after + 1; at <= d->upto; at++)
		if (!wrong_at(d, at))
			return;
	if (d->victim < 0)
		engine_fail("nobody was found by a call with priority %llu, though always somebody could be taken",
			    (unsigned long long)d->newcomer);
	else
		engine_fail("object %u, of priority %llu, was never the least during the call",
			    now.life[d->victim].slot, (unsigned long long)d->key);
}

/* Each record that is used is named, and each that is named is used: what fill_own() filled, apart. */
static void check_records(const struct place *places, unsigned count, uint32_t (*named)(uint64_t word),
			  unsigned *spares)
{
	for (unsigned i = 0; i < count; i++) {
		const struct place *p = &places[i];
		const uint32_t name = named(load_relaxed(&p->word));
		const bool filled = p >= now.slots && p < now.slots + SLOTS_MAX && now.filled[i];

		*spares += name > OWN_RECORDS;
		for (uint32_t k = 1; k <= OWN_RECORDS; k++)
			if (!filled && (load_relaxed(&p->used[k - 1]) != 0) != (name == k))
				engine_fail("afterwards own record %u of place %u is %s", k, i,
					    name == k ? "named, and not in use" : "in use, and not named");
	}
}

static void check_all_records(void)
{
	unsigned named = 0, used = 0;

	check_records(now.slots, capacity, state_record, &named);
	check_records(now.nodes, SLOTS_MAX, tagged_number, &named);
	for (unsigned i = 0; i < SPARES_MAX; i++)
		used += now.spare_used[i];
	if (used != named)
		engine_fail("afterwards %u records of the pool are in use, %u are named", used, named);
}

/* What is left comes out in order, and then every slot is free. */
static void check_rest(void)
{
	uint64_t last = 0;
	unsigned released = 0, expected = 0;

	for (unsigned i = 0; i < now.lives; i++)
		expected += !now.life[i].gone && now.life[i].spans && !now.life[i].pins;
	for (lfpool_handle_t handle; released <= capacity; released++) {
		uint64_t key = 0, now_has = 0;

		handle = lfpool_priority_peek_min(&now.pool, &key);
		if (!handle)
			break;
		if (key < last)
			engine_fail("afterwards priority %llu comes after %llu", (unsigned long long)key, (unsigned long long)last);
		if (!lfpool_priority_get(&now.pool, handle, &now_has) || now_has != key)
			engine_fail("afterwards the least has another priority");
		last = key;
		if (now.life[life_of(handle)].gone || lfpool_priority_release(&now.pool, handle) != LFPOOL_OK)
			engine_fail("afterwards somebody is the least who is gone");
	}
	if (released != expected)
		engine_fail("afterwards %u objects can be evicted, %u should", released, expected);
}

void evicts_check(void)
{
	uint64_t empty;
	bool free[SLOTS_MAX] = {false};
	unsigned held = 0, found = 0;

	if (!capacity)
		return;
	for (unsigned i = 0; i < now.verdicts; i++)
		judge(&now.verdict[i]);
	check_all_records();
	check_rest();
	for (unsigned t = 0; t < THREADS_MAX + 1; t++)
		held += now.thread[t].mines;
	for (unsigned i = 0; i < now.lives; i++)
		held += now.life[i].pins != 0;
	if (lfpool_priority_count(&now.pool) != held)
		engine_fail("afterwards %zu objects are counted, %u are held", lfpool_priority_count(&now.pool), held);
	for (uint32_t slot; (slot = free_slots_pop(&now.pool.free, &empty)); found++) {
		if (free[slot - 1])
			engine_fail("afterwards slot %u is free twice", slot);
		free[slot - 1] = true;
	}
	if (found + held != capacity)
		engine_fail("afterwards %u slots are free, %u held", found, held);
}

/* ---- The set-up ---- */

void evicts_open(const struct scenario *scenario)
{
	capacity = scenario->evicting;
	memset(&now, 0, sizeof(now));
	if (!capacity)
		return;
	(void)tournament_measure(&now.pool.tournament, capacity);
	now.pool.tournament.slots = now.slots;
	now.pool.tournament.nodes = now.nodes;
	now.pool.tournament.spares.zero = (uintptr_t)now.spares - sizeof(now.spares[0]);
	now.pool.tournament.spares.stride = sizeof(now.spares[0]);
	now.pool.objects = now.objects[0];
	now.pool.stride = sizeof(now.objects[0]);
	now.pool.owners = now.owners;
	now.pool.on_evict = on_evict;
	free_slots_open(&now.pool.free, now.links, capacity);
	evicts_run(THREADS_MAX, scenario->setup);
	/* What was done by then was done before the first operation. */
	for (unsigned i = 0; i < now.lives; i++) {
		struct life *l = &now.life[i];

		l->ended = 0;
		for (unsigned s = 0; s < l->spans; s++)
			l->span[s] = (struct span){0, l->span[s].until == NEVER ? NEVER : 0, l->span[s].key};
	}
	for (unsigned i = 0; i < now.frees; i++) {
		now.freed[i].from = 0;
		now.freed[i].until = now.freed[i].until == NEVER ? NEVER : 0;
	}
	now.verdicts = 0;
	saved = now;
}

void evicts_begin(void)
{
	now = saved;
}
