/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_retire_seam.c - two schemes of one's own behind config.scheme, own_hazard.h and own_qsbr.h: readers hold an
 * object all the way while writers take it out and retire it, and nobody else gets it meanwhile.
 *
 * Idea         Every word of a node is made of its number, and no number comes twice.  A reader that still finds the
 *              number that it found at first, at the end of a long look, held one node all the time.  The words are
 *              plain, so that ThreadSanitizer sees whether reading comes before reuse.
 * Control      The same readers with a scheme that protects nobody (their looks are atomic then: it is no race, but
 *              wrong): they find another number.
 */
#include "../support/own_hazard.h"
#include "../support/own_qsbr.h"
#include "../support/support.h"

#include <sched.h>

enum { WORDS = 5, CAPACITY = 24, CELLS = 3, READERS = 2, WRITERS = 2, STACKERS = 3 };

struct node {
	_Atomic(void *) next; /* of the stack */
	union {
		uint64_t plain;
		_Atomic(uint64_t) shared;
	} word[WORDS];
};

/* Of the threads. */
static unsigned numbers[] = {0, 1, 2, 3};

static struct hazards hazards;
static struct qsbr qsbr;

static struct scene {
	lfpool_t *pool;
	const struct protection *protection;
	_Atomic(void *) cell[CELLS];
	_Atomic(void *) top;
	atomic_uint_fast64_t nodes;
	atomic_size_t looks, changed;
	atomic_bool over;
} scene;

/* ---- How readers are protected ---- */

struct protection {
	const char *name;
	bool none;
	lfpool_scheme_t (*scheme)(void);
	void *(*look_at)(unsigned me, _Atomic(void *) *place);
	void (*done)(unsigned me);
	void (*away)(unsigned me);
};

static lfpool_scheme_t by_hazard(void)
{
	memset(&hazards, 0, sizeof(hazards));
	return hazards_scheme(&hazards);
}

static void *look_by_hazard(unsigned me, _Atomic(void *) *place)
{
	return hazard_protect(&hazards, me, place);
}

static void done_by_hazard(unsigned me)
{
	hazard_clear(&hazards, me);
}

static lfpool_scheme_t by_qsbr(void)
{
	qsbr_open(&qsbr);
	return qsbr_scheme(&qsbr);
}

static void *look_plainly(unsigned me, _Atomic(void *) *place)
{
	(void)me;
	return atomic_load(place);
}

static void done_by_qsbr(unsigned me)
{
	qsbr_quiescent(&qsbr, me);
}

static void away_by_qsbr(unsigned me)
{
	qsbr_offline(&qsbr, me);
}

static bool always_ready(void *context, const lfpool_batch_t *batch)
{
	(void)context;
	(void)batch;
	return true;
}

static lfpool_scheme_t by_nothing(void)
{
	return (lfpool_scheme_t){.ready = always_ready};
}

static void nothing(unsigned me)
{
	(void)me;
}

static const struct protection hazard_pointers = {"hazard pointers", false,          by_hazard,
						  look_by_hazard,    done_by_hazard, done_by_hazard};
static const struct protection quiescent_states = {"quiescent states", false, by_qsbr, look_plainly, done_by_qsbr, away_by_qsbr};
static const struct protection no_protection = {"none", true, by_nothing, look_plainly, nothing, nothing};

/* ---- Nodes ---- */

static void word_write(struct node *node, size_t i, uint64_t value)
{
	if (scene.protection->none)
		atomic_store_explicit(&node->word[i].shared, value, memory_order_relaxed);
	else
		node->word[i].plain = value;
}

static uint64_t word_read(struct node *node, size_t i)
{
	return scene.protection->none ? atomic_load_explicit(&node->word[i].shared, memory_order_relaxed) : node->word[i].plain;
}

static struct node *node_new(void)
{
	struct node *node = lfpool_acquire(scene.pool);
	const uint64_t number = node ? atomic_fetch_add(&scene.nodes, 1) + 1 : 0;

	for (size_t i = 0; node && i < WORDS; i++)
		word_write(node, i, number + i);
	return node;
}

static bool node_is(struct node *node, uint64_t number)
{
	for (size_t i = 0; i < WORDS; i++)
		if (word_read(node, i) != number + i)
			return false;
	return true;
}

static void scene_open(const struct protection *protection, lfpool_backend_t backend)
{
	memset(&scene, 0, sizeof(scene));
	scene.protection = protection;
	/* AddressSanitizer sees a look at what is free. */
	scene.pool = POOL_OF(sizeof(struct node), CAPACITY, .backend = backend, .scheme = protection->scheme(),
			     .debug = protection->none ? "no-tools" : NULL);
}

/* Nobody looks at anything any more. */
static void scene_close(void)
{
	for (size_t i = 0; i < CELLS; i++)
		REQUIRE(lfpool_retire(scene.pool, atomic_load(&scene.cell[i])) == LFPOOL_OK);
	REQUIRE(lfpool_drain(scene.pool) == LFPOOL_OK);
	REQUIRE(lfpool_retired_count(scene.pool) == 0);
	pool_close(scene.pool, sizeof(struct node));
}

/* ---- Cells that writers swap ---- */

static void *look_often(void *argument)
{
	const unsigned me = *(const unsigned *)argument;
	const struct protection *p = scene.protection;

	for (size_t n = 0; !atomic_load(&scene.over); n++) {
		p->done(me);
		struct node *node = p->look_at(me, &scene.cell[n % CELLS]);

		if (!node)
			continue;
		const uint64_t number = word_read(node, 0);
		bool held = node_is(node, number);

		for (int again = 0; again < 20 && held; again++) {
			if (again == 10 && n % 8 == 0)
				sched_yield();
			held = node_is(node, number);
		}
		atomic_fetch_add(&scene.looks, 1);
		atomic_fetch_add(&scene.changed, !held);
	}
	p->away(me);
	return NULL;
}

static void *swap_often(void *argument)
{
	const unsigned me = *(const unsigned *)argument;
	const struct protection *p = scene.protection;

	for (size_t n = 0; !atomic_load(&scene.over); n++) {
		struct node *node = node_new();

		if (node)
			REQUIRE(lfpool_retire(scene.pool, atomic_exchange(&scene.cell[n % CELLS], node)) == LFPOOL_OK);
		p->done(me);
		if (!node)
			sched_yield();
	}
	p->away(me);
	return NULL;
}

static void *look_or_swap(void *me)
{
	return (*(const unsigned *)me < READERS ? look_often : swap_often)(me);
}

static void look_while_others_swap(const struct protection *protection, lfpool_backend_t backend)
{
	const uint64_t until = now_ns() + TIMES(100, 250) * UINT64_C(1000000), limit = until + UINT64_C(60000000000);

	scene_open(protection, backend);
	const struct threads threads = threads_start(READERS + WRITERS, look_or_swap, numbers, sizeof(numbers[0]));

	/* The control goes on until it has found something. */
	while (now_ns() < until || !atomic_load(&scene.looks) || atomic_load(&scene.nodes) < 10 * CAPACITY ||
	       (protection->none && !atomic_load(&scene.changed))) {
		REQUIRE(now_ns() < limit);
		usleep(1000);
	}
	atomic_store(&scene.over, true);
	threads_join(&threads);
	print_message("    %s: %zu looks, %zu nodes, %zu changed under the reader's eyes\n", protection->name,
		      atomic_load(&scene.looks), (size_t)atomic_load(&scene.nodes), atomic_load(&scene.changed));
	if (!protection->none)
		assert_int_equal(atomic_load(&scene.changed), 0);
	scene_close();
}

TEST(hazard_pointers_protect)
{
	look_while_others_swap(&hazard_pointers, LFPOOL_BACKEND_LOCKFREE);
	look_while_others_swap(&hazard_pointers, LFPOOL_BACKEND_MUTEX);
}

TEST(quiescent_states_protect)
{
	look_while_others_swap(&quiescent_states, LFPOOL_BACKEND_LOCKFREE);
	look_while_others_swap(&quiescent_states, LFPOOL_BACKEND_MUTEX);
}

TEST(without_protection_it_shows)
{
	look_while_others_swap(&no_protection, LFPOOL_BACKEND_LOCKFREE);
}

/* ---- A stack: what is looked at is also not pushed again meanwhile, so there is no ABA ---- */

static void push(struct node *node)
{
	void *top = atomic_load(&scene.top);

	do
		atomic_store_explicit(&node->next, top, memory_order_relaxed);
	while (!atomic_compare_exchange_weak(&scene.top, &top, node));
}

static struct node *pop(unsigned me)
{
	struct node *node;

	while ((node = hazard_protect(&hazards, me, &scene.top))) {
		void *top = node, *next = atomic_load_explicit(&node->next, memory_order_relaxed);

		if (atomic_compare_exchange_strong(&scene.top, &top, next))
			break;
	}
	hazard_clear(&hazards, me);
	return node;
}

enum { NUMBERS = 1 << 20 };
static atomic_uint popped[NUMBERS];

static void *stack_often(void *argument)
{
	const unsigned me = *(const unsigned *)argument;
	struct random random = random_for(7, me);

	for (size_t n = 0; n < TIMES(40000, 4000); n++) {
		struct node *node = random_below(&random, 2) ? node_new() : NULL;

		if (node) {
			push(node);
		} else if ((node = pop(me))) {
			const uint64_t number = word_read(node, 0);

			REQUIRE(number < NUMBERS && node_is(node, number));
			REQUIRE(!atomic_exchange(&popped[number], 1));
			REQUIRE(lfpool_retire(scene.pool, node) == LFPOOL_OK);
		}
	}
	return NULL;
}

TEST(a_stack_of_pooled_nodes)
{
	size_t seen = 0;

	scene_open(&hazard_pointers, LFPOOL_BACKEND_LOCKFREE);
	threads_run(STACKERS, stack_often, numbers, sizeof(numbers[0]));
	for (struct node *node; (node = pop(0));) {
		REQUIRE(!atomic_exchange(&popped[word_read(node, 0)], 1));
		assert_int_equal(lfpool_retire(scene.pool, node), LFPOOL_OK);
	}
	/* Each that was pushed, once. */
	for (size_t i = 0; i < NUMBERS; i++)
		seen += atomic_load(&popped[i]);
	assert_int_equal(seen, atomic_load(&scene.nodes));
	assert_true(seen > 10 * CAPACITY);
	scene_close();
}

RUN_TESTS()
