/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_retire_seam.c - two schemes of one's own behind config.scheme, own_hazard.h and own_qsbr.h: readers hold an
 * object all the way while writers take it out and retire it, and no other thread gets it meanwhile.
 *
 * Idea         Writers swap the nodes in a few cells.  Every word of a node is made of its number, and no number comes twice.  A
 *              reader that still finds the number that it found at first, at the end of a long look, held one node all the
 *              time.  The words are plain, so that ThreadSanitizer sees whether reading comes before reuse.
 * Control      The same readers with a scheme that protects no reader (their looks are atomic then: it is no race, but
 *              wrong): they find another number.
 */
#include "../support/own_hazard.h"
#include "../support/own_qsbr.h"
#include "../support/workers.h"

#include <sched.h>

enum { WORDS = 5, CAPACITY = 24, CELLS = 3, READERS = 2, WRITERS = 2 };

struct node {
	union {
		uint64_t plain;
		_Atomic(uint64_t) shared;
	} word[WORDS];
};

static struct hazards hazards;
static struct qsbr qsbr;

enum protection { HAZARD_POINTERS, QUIESCENT_STATES, NO_PROTECTION };

static struct scene {
	lfpool_t *pool;
	enum protection protection;
	_Atomic(void *) cell[CELLS];
	atomic_uint_fast64_t nodes;
	atomic_size_t looks, changed;
} scene;

/* ---- How readers are protected ---- */

static bool always_ready(void *context, const lfpool_batch_t *batch)
{
	(void)context, (void)batch;
	return true;
}

static lfpool_scheme_t scheme_of(enum protection protection)
{
	if (protection == HAZARD_POINTERS) {
		memset(&hazards, 0, sizeof(hazards));
		return hazards_scheme(&hazards);
	}
	if (protection == QUIESCENT_STATES) {
		qsbr_open(&qsbr);
		return qsbr_scheme(&qsbr);
	}
	return (lfpool_scheme_t){.ready = always_ready};
}

static void *look_at(unsigned me, _Atomic(void *) *place)
{
	return scene.protection == HAZARD_POINTERS ? hazard_protect(&hazards, me, place) : atomic_load(place);
}

static void look_is_over(unsigned me)
{
	if (scene.protection == HAZARD_POINTERS)
		hazard_clear(&hazards, me);
	else if (scene.protection == QUIESCENT_STATES)
		qsbr_quiescent(&qsbr, me);
}

static void go_away(unsigned me)
{
	look_is_over(me);
	if (scene.protection == QUIESCENT_STATES)
		qsbr_offline(&qsbr, me);
}

static bool is_protected(void)
{
	return scene.protection != NO_PROTECTION;
}

/* ---- Nodes ---- */

static void word_write(struct node *node, size_t i, uint64_t value)
{
	if (is_protected())
		node->word[i].plain = value;
	else
		atomic_store_explicit(&node->word[i].shared, value, memory_order_relaxed);
}

static uint64_t word_read(struct node *node, size_t i)
{
	return is_protected() ? node->word[i].plain : atomic_load_explicit(&node->word[i].shared, memory_order_relaxed);
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

static void scene_open(enum protection protection)
{
	memset(&scene, 0, sizeof(scene));
	scene.protection = protection;
	/* AddressSanitizer sees a look at what is free. */
	scene.pool = POOL_OF(sizeof(struct node), CAPACITY, .scheme = scheme_of(protection),
			     .debug = is_protected() ? NULL : "no-tools");
}

/* No thread looks at anything any more. */
static void scene_close(void)
{
	for (size_t i = 0; i < CELLS; i++)
		REQUIRE(lfpool_retire(scene.pool, atomic_load(&scene.cell[i])) == LFPOOL_OK);
	REQUIRE(lfpool_drain(scene.pool) == LFPOOL_OK);
	REQUIRE(lfpool_retired_count(scene.pool) == 0);
	pool_close(scene.pool, sizeof(struct node));
}

/* ---- Readers and writers ---- */

static void look_often(struct worker *me)
{
	for (size_t n = 0; !told_to_end(me); n++) {
		look_is_over(me->number);
		struct node *node = look_at(me->number, &scene.cell[n % CELLS]);

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
	go_away(me->number);
}

static void swap_often(struct worker *me)
{
	for (size_t n = 0; !told_to_end(me); n++) {
		struct node *node = node_new();

		if (node)
			REQUIRE(lfpool_retire(scene.pool, atomic_exchange(&scene.cell[n % CELLS], node)) == LFPOOL_OK);
		look_is_over(me->number);
		if (!node)
			sched_yield();
	}
	go_away(me->number);
}

static void look_or_swap(struct worker *me)
{
	(me->number < READERS ? look_often : swap_often)(me);
}

static void look_while_others_swap(enum protection protection)
{
	const uint64_t until = now_ns() + TIMES(100, 250) * UINT64_C(1000000), limit = until + UINT64_C(60000000000);

	scene_open(protection);
	struct workers workers;

	workers_start(&workers, READERS + WRITERS, look_or_swap, &scene, 0);

	/* The control goes on until it has found something. */
	while (now_ns() < until || atomic_load(&scene.looks) < 500 || atomic_load(&scene.nodes) < 10 * CAPACITY ||
	       (!is_protected() && !atomic_load(&scene.changed))) {
		REQUIRE(now_ns() < limit);
		usleep(1000);
	}
	(void)workers_end(&workers);
	print_message("    %zu looks, %zu nodes, %zu changed under the reader's eyes\n", atomic_load(&scene.looks),
		      (size_t)atomic_load(&scene.nodes), atomic_load(&scene.changed));
	if (is_protected())
		assert_int_equal(atomic_load(&scene.changed), 0);
	scene_close();
}

TEST(hazard_pointers_protect)
{
	look_while_others_swap(HAZARD_POINTERS);
}

TEST(quiescent_states_protect)
{
	look_while_others_swap(QUIESCENT_STATES);
}

TEST(without_protection_it_shows)
{
	look_while_others_swap(NO_PROTECTION);
}

RUN_TESTS()
