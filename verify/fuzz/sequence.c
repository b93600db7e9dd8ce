/* SPDX-License-Identifier: MIT */
/*
 * sequence.c - turns bytes into calls.
 *
 * Idea         Two pools, so that one's objects are the other's foreign pointers.  Each has up to 20 explicit caches,
 *              all used by one thread alternately.  So a few bytes reach states that usually take many threads: idle
 *              objects in other caches, robbed from `current` and from a stack; caches given up half full; collects
 *              of an exhausted pool.  Some operations run on a new thread, which then exits: its cache is handed back
 *              and claimed again.  Calls never overlap, so the model is exact.
 * Format       Seven bytes for each pool's configuration (life.c), then operations: one byte selects it, and the
 *              operation reads its choices.
 */
#include "sequence.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPERATIONS_MAX 400 /* so that a hang is really a hang */
#define THREADS_MAX 4
#define CHILDREN_MAX 3

struct sequence {
	struct input in;
	const struct sequence_kind *kind; /* NULL: the default */
	struct model model[2];
	struct model *m; /* the current pool's */
	unsigned operations, threads, children;
	bool on_thread;
};

static void step(struct sequence *s);

static void open_pool(struct sequence *s, struct model *m)
{
	if (s->kind)
		s->kind->open(m, &s->in, s->kind->context);
	else
		model_open(m, &s->in);
}

/* ---- Choices ----------------------------------------------------------------------------------------------- */

static struct door choose_door(struct sequence *s)
{
	uint32_t choice = input_byte(&s->in);
	size_t which = choice % (s->m->caches + 1);

	if (s->m->plan.explicit_caches && !which)
		which = s->m->caches;
	return (struct door){which ? s->m->cache[which - 1] : NULL, choice & 0x80};
}

/* The address of a held object, or of a free one (`held`); or NULL. */
static void *choose_object(struct sequence *s, bool held)
{
	const struct cell *cell = model_pick(s->m, input_below(&s->in, MODEL_CAPACITY_MAX), held);

	return cell ? (void *)cell->address : NULL;
}

/* A pointer that is certainly not in the current pool. */
static void *choose_foreign(struct sequence *s)
{
	struct model *other = &s->model[s->m == s->model];
	const struct cell *cell;
	static char somewhere[64];

	switch (input_below(&s->in, 4)) {
	case 0:
		cell = model_pick(other, input_byte(&s->in), true);
		return cell && other->exact ? (void *)cell->address : somewhere;
	case 1: return (void *)(uintptr_t)(input_byte(&s->in) + 1);
	case 2: return (void *)(UINTPTR_MAX - input_byte(&s->in));
	default: return &somewhere[input_below(&s->in, sizeof(somewhere))];
	}
}

/* A pointer near an object: inside it, between two, before the first, behind the last; perhaps another object. */
static void *choose_near(struct sequence *s)
{
	const struct cell *cell = model_pick(s->m, input_below(&s->in, MODEL_CAPACITY_MAX), input_byte(&s->in) & 1);
	uintptr_t distance = input_below(&s->in, 4096);
	bool below = input_byte(&s->in) & 1;

	if (!cell)
		return NULL;
	/* Mostly inside, the interesting case. */
	if (!below)
		distance = 1 + distance % (s->m->config.object_size > 1 ? s->m->config.object_size - 1 : 1);
	return (void *)(below ? cell->address - distance : cell->address + distance);
}

/* ---- Operations -------------------------------------------------------------------------------------------- */

static void acquire_some(struct sequence *s)
{
	struct door door = choose_door(s);

	for (uint32_t n = input_below(&s->in, 32) + 1; n; n--)
		(void)model_acquire(s->m, door);
}

static void acquire_until_null(struct sequence *s)
{
	struct door door = choose_door(s);

	while (model_acquire(s->m, door))
		;
	/* Once more, now that the cache remembers that there was nothing. */
	(void)model_acquire(s->m, door);
}

static void release_some(struct sequence *s)
{
	struct door door = choose_door(s);
	uint32_t from = input_below(&s->in, MODEL_CAPACITY_MAX);

	for (uint32_t n = input_below(&s->in, 64) + 1; n; n--) {
		const struct cell *cell = model_pick(s->m, from, true);

		if (cell)
			model_release(s->m, door, (void *)cell->address, false);
	}
}

static void release_everything(struct sequence *s)
{
	struct door door = choose_door(s);
	const struct cell *cell;

	while ((cell = model_pick(s->m, 0, true)))
		model_release(s->m, door, (void *)cell->address, false);
}

/* Acquires here, releases there: fills one cache from another.  Or back and forth, which crosses a magazine's
 * boundary repeatedly. */
static void carry(struct sequence *s, bool back)
{
	struct door from = choose_door(s), to = back ? from : choose_door(s);

	for (uint32_t n = input_below(&s->in, 64) + 1; n; n--) {
		void *object = model_acquire(s->m, from);

		if (object)
			model_release(s->m, to, object, false);
	}
}

static void release_wrongly(struct sequence *s)
{
	struct door door = choose_door(s);

	switch (input_below(&s->in, 4)) {
	case 0: model_release(s->m, door, choose_object(s, false), false); break;
	case 1: model_release(s->m, door, choose_near(s), false); break;
	case 2: model_release(s->m, door, choose_foreign(s), true); break;
	default: model_release(s->m, door, NULL, false); break;
	}
}

static void release_bulk(struct sequence *s)
{
	void *objects[MODEL_BULK_MAX];
	uint32_t count = input_below(&s->in, MODEL_BULK_MAX + 1);

	/* A held object may be drawn twice: the second is then a double release. */
	for (uint32_t i = 0; i < count; i++) {
		switch (input_below(&s->in, 8)) {
		case 0: objects[i] = NULL; break;
		case 1: objects[i] = choose_object(s, false); break;
		case 2: objects[i] = choose_near(s); break;
		case 3: objects[i] = choose_foreign(s); break;
		default: objects[i] = choose_object(s, true); break;
		}
	}
	model_release_bulk(s->m, objects, count);
}

static void ask(struct sequence *s)
{
	model_ask(s->m, choose_object(s, input_byte(&s->in) & 1), false);
	model_ask(s->m, choose_near(s), false);
	model_ask(s->m, choose_foreign(s), true);
	model_ask(s->m, NULL, false);
	model_check_contents(s->m);
}

/* Resizes the pool, or waits for objects: `what` = 0 .. 15. */
static void resize_or_wait(struct sequence *s, uint32_t what)
{
	struct model *m = s->m;

	switch (what) {
	case 0:
	case 1: model_grow(m, input_below(&s->in, 64), false); break;
	case 2: model_grow(m, input_below(&s->in, 1024), true); break;
	case 3:
	case 4: model_shrink(m, input_below(&s->in, 64)); break;
	case 5: model_shrink(m, input_below(&s->in, 1024)); break;
	case 6: model_shrink_cancel(m); break;
	case 7: model_set_maximum(m, input_below(&s->in, 1024)); break;
	case 8: model_trim(m, input_byte(&s->in), SIZE_MAX); break;
	case 9: model_trim(m, input_byte(&s->in), input_below(&s->in, 65536)); break;
	case 10: {
		struct door door = choose_door(s);

		model_acquire_wait(m, door, input_byte(&s->in) & 1);
		break;
	}
	case 11:
	case 12:
		for (uint32_t n = input_below(&s->in, 4) + 1; n; n--)
			model_acquire_async(m, (struct waiting){.releases = what == 12});
		break;
	case 13: model_cancel(m, input_byte(&s->in)); break;
	case 14: model_cancel_nobody(m, input_byte(&s->in)); break;
	default:
		while (m->waiters < MODEL_WAITING_MAX && (m->waiters || m->owed || m->held < MODEL_CAPACITY_MAX / 2) &&
		       !m->plan.refuses && !(m->plan.in_buffer && m->waiters == 16))
			model_acquire_async(m, (struct waiting){0});
		break;
	}
}

static void *run_on_thread(void *sequence)
{
	struct sequence *s = sequence;

	if (s->kind)
		s->kind->thread(true, s->kind->context);
	for (uint32_t n = input_below(&s->in, 8) + 1; n && !input_is_over(&s->in); n--)
		step(s);
	if (s->kind)
		s->kind->thread(false, s->kind->context);
	return NULL;
}

/* The next few operations run on a new thread, while this one waits. */
static void on_thread(struct sequence *s)
{
	pthread_t thread;

	if (s->on_thread || s->threads == THREADS_MAX)
		return;
	s->threads++;
	s->on_thread = true;
	REQUIRE(pthread_create(&thread, NULL, run_on_thread, s) == 0);
	REQUIRE(pthread_join(thread, NULL) == 0);
	s->on_thread = false;
}

/* The next few operations also happen in a child, which then ends both pools. */
static void in_child(struct sequence *s)
{
	int status = 0;

	if (s->children++ >= CHILDREN_MAX)
		return;

	const pid_t child = fork();

	REQUIRE(child >= 0);
	if (child) {
		REQUIRE(waitpid(child, &status, 0) == child && status == 0);
		return;
	}
	s->children = CHILDREN_MAX;
	alarm(60);
	for (uint32_t n = 8; n && !input_is_over(&s->in); n--)
		step(s);
	model_close(&s->model[0]);
	model_close(&s->model[1]);
	_exit(0);
}

static void retire_some(struct sequence *s)
{
	for (uint32_t n = input_below(&s->in, 16) + 1; n; n--)
		model_retire(s->m, choose_object(s, true), false);
	model_retire(s->m, choose_object(s, false), false);
	model_retire(s->m, choose_foreign(s), true);
}

/* Some by their handles, some by their addresses alone. */
static void release_otherwise(struct sequence *s)
{
	for (uint32_t n = input_below(&s->in, 16) + 1; n; n--)
		model_release_otherwise(s->m, choose_object(s, true), n % 2);
}

/* Pins, and in evicting pools priorities: `what` = 0 .. 15. There are few priorities, so many are equal. */
static void evict(struct sequence *s, uint32_t what)
{
	struct model *m = s->m;
	struct cell *cell = model_pick(m, input_below(&s->in, MODEL_CAPACITY_MAX), true);

	if (what < 4 || !m->config.evict)
		model_release_pinned(m, cell, 1 + what % 3);
	else if (what < 8)
		model_set_priority(m, cell, input_below(&s->in, 40));
	else if (what == 8)
		model_release_least(m, input_below(&s->in, 8));
	else
		for (uint32_t n = input_below(&s->in, 64) + 1; n; n--)
			model_acquire_evicting(m, input_below(&s->in, 40));
}

/* Operations of the other kinds of sequences only: `what` = 0 .. 15. */
static void more(struct sequence *s, uint32_t what)
{
	struct model *m = s->m;

	switch (what) {
	case 0:
	case 1:
	case 2: retire_some(s); break;
	case 3:
	case 4: model_drain(m, true); break;
	case 5: model_drain(m, false); break;
	case 6:
	case 7: model_destroy_refused(m); break;
	case 8:
	case 9: in_child(s); break;
	case 10: release_otherwise(s); break;
	case 11: acquire_until_null(s); break;
	default:
		for (uint32_t n = input_below(&s->in, 16) + 1; n; n--)
			model_acquire_async(
				m, (struct waiting){.releases = true, .resizes = what > 13, .again = what % 2 ? 5 : 0});
		break;
	}
}

static void step(struct sequence *s)
{
	struct model *m = s->m;
	const uint32_t what = input_byte(&s->in);

	if (s->kind && what / 64 == 1) {
		if (what / 16 == 7)
			evict(s, what % 16);
		else
			more(s, what % 16);
		model_check_counts(m);
		return;
	}
	if (what >= 128) {
		resize_or_wait(s, what % 16);
		model_check_counts(m);
		return;
	}
	switch (what % 16) {
	case 0: acquire_some(s); break;
	case 1: acquire_until_null(s); break;
	case 2:
	case 3: release_some(s); break;
	case 4: release_everything(s); break;
	case 5:
	case 6: carry(s, what % 16 == 5); break;
	case 7:
	case 8: release_wrongly(s); break;
	case 9: model_acquire_bulk(m, input_below(&s->in, MODEL_BULK_MAX + 1)); break;
	case 10: release_bulk(s); break;
	case 11:
		for (uint32_t n = input_below(&s->in, 8) + 1; n; n--)
			model_cache_create(m);
		break;
	case 12:
		if (m->caches)
			model_cache_destroy(m, input_below(&s->in, (uint32_t)m->caches));
		break;
	case 13: ask(s); break;
	case 14: on_thread(s); break;
	default:
		if (input_below(&s->in, 4)) {
			s->m = &s->model[m == s->model];
		} else {
			model_close(m);
			open_pool(s, m);
		}
		break;
	}
	model_check_counts(s->m);
}

void sequence_run_kind(const struct sequence_kind *kind, const uint8_t *bytes, size_t count)
{
	static struct sequence s;

	s = (struct sequence){.in = {bytes, bytes + count}, .m = s.model, .kind = kind};
	open_pool(&s, &s.model[0]);
	open_pool(&s, &s.model[1]);
	if (kind && kind->begin)
		kind->begin(&s.model[0], kind->context);
	while (!input_is_over(&s.in) && s.operations++ < OPERATIONS_MAX)
		step(&s);
	model_close(&s.model[0]);
	model_close(&s.model[1]);
}

void sequence_run(const uint8_t *bytes, size_t count)
{
	sequence_run_kind(NULL, bytes, count);
}
