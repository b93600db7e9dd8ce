/* SPDX-License-Identifier: MIT */
/*
 * unit_asserts.c - H1 to H8 of a magazine are asserted: a child violates each, and ends with SIGABRT and its label.
 */
#ifndef LFPOOL_ASSERTS
#define LFPOOL_ASSERTS
#endif

#include "../support/child.h"

#include "core/arena.h"
#include "core/magazine.h"

#include <signal.h>

#define SLOTS 8
#define BORN 101 /* the object of the first place by birth */

static struct lfpool_magazine *m;

static int setup(__attribute__((unused)) void **state)
{
	m = aligned_alloc(CACHE_LINE_PAIR, magazine_bytes(SLOTS));
	REQUIRE(m);
	memset((void *)m, 0, magazine_bytes(SLOTS));
	return 0;
}

static int teardown(__attribute__((unused)) void **state)
{
	free(m);
	return 0;
}

/* The child ends with SIGABRT; the first words on its stderr name the invariant. */
static void require_violated(const char *label, void (*violate)(void))
{
	char said[256] = "", expected[16];
	int ends[2], status = 0;

	REQUIRE(pipe(ends) == 0);
	const pid_t pid = child_start();

	if (pid == 0) {
		dup2(ends[1], STDERR_FILENO);
		signal(SIGABRT, SIG_DFL);
		violate();
		_exit(0);
	}
	close(ends[1]);
	REQUIRE(waitpid(pid, &status, 0) == pid);
	REQUIRE(read(ends[0], said, sizeof(said) - 1) >= 0);
	close(ends[0]);
	print_message("%s", said);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	snprintf(expected, sizeof(expected), ": %s is ", label);
	assert_non_null(strstr(said, expected));
}

static void make_full(void)
{
	magazine_make_full(m, 1, SLOTS, BORN, 1);
}

static void h1_more_than_there_is_room_for(void)
{
	make_full();
	store_relaxed(&m->bottom, bottom_raised(load_relaxed(&m->bottom), 2));
	magazine_pop(m, SLOTS, false);
}

static void h1_full_where_a_push_goes_round(void)
{
	make_full();
	magazine_push_round(m, SLOTS, BORN);
}

static void h2_another_owner_pops(void)
{
	make_full();

	const uint64_t bottom = bottom_lowered(load_relaxed(&m->bottom), 1);

	store_release(&m->bottom, bottom);
	store_release(&m->bottom, bottom_lowered(bottom, 1));
	(void)magazine_pop_end(m, SLOTS, bottom);
}

static void h2_another_owner_pushes(void)
{
	make_full();

	const uint64_t first = bottom_lowered(load_relaxed(&m->bottom), 1);

	magazine_push_placed(m, first, 1);
}

static void h3_the_last_object_went_without_a_race(void)
{
	magazine_make_empty(m, 1);
	store_relaxed(&m->top, load_relaxed(&m->top) + 1);
	magazine_push_placed(m, load_relaxed(&m->bottom), 1);
}

static void h4_a_push_that_forgets_the_others(void)
{
	magazine_make_empty(m, 1);
	REQUIRE(magazine_push(m, SLOTS, BORN));
	magazine_push_placed(m, LFPOOL_POSITION_(load_relaxed(&m->bottom)), 1);
}

static void h5_an_entry_that_is_no_object(void)
{
	struct arena arena = {.slots = SLOTS, .zero = 4096, .inverse = layout_inverse(64), .shift = 6};

	(void)arena_slot(&arena, 4096 + (SLOTS + 1) * 64);
}

static void h6_top_of_an_empty_magazine_moves(void)
{
	magazine_make_empty(m, 1);
	store_relaxed(&m->top, LFPOOL_HOME_ + 3);
	store_relaxed(&m->bottom, LFPOOL_HOME_ + 2);
	magazine_go_home(m);
}

static void h7_made_twice(void)
{
	make_full();
	make_full();
}

static void h7_an_owner_finds_no_entry(void)
{
	make_full();
	store_relaxed(&m->entry[SLOTS - 1], 0);
	magazine_pop(m, SLOTS, false);
}

static void h8_many_beyond_the_end(void)
{
	void *objects[2] = {NULL};

	make_full();
	magazine_pop(m, SLOTS, false);
	magazine_place_many(m, SLOTS, load_relaxed(&m->bottom), 2, objects);
}

TEST_WITH(each_violation_is_named, setup, teardown)
{
	require_violated("H1", h1_more_than_there_is_room_for);
	require_violated("H1", h1_full_where_a_push_goes_round);
	require_violated("H2", h2_another_owner_pops);
	require_violated("H2", h2_another_owner_pushes);
	require_violated("H3", h3_the_last_object_went_without_a_race);
	require_violated("H4", h4_a_push_that_forgets_the_others);
	require_violated("H5", h5_an_entry_that_is_no_object);
	require_violated("H6", h6_top_of_an_empty_magazine_moves);
	require_violated("H7", h7_made_twice);
	require_violated("H7", h7_an_owner_finds_no_entry);
	require_violated("H8", h8_many_beyond_the_end);
}

RUN_TESTS()
