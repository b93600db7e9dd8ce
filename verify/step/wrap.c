/* SPDX-License-Identifier: MIT */
/*
 * wrap.c - the necessary width of the tag: a stack_pop() is stopped at every instruction while the tag wraps once.
 *
 * Idea         Three magazines are on a stack, 1 on 2 on 3. A thread pops and is stopped before instruction n.
 *              Another then changes the head exactly `changes` times, so that 1 is on top again but nothing is below
 *              it: it keeps 2 and 3. Then the first continues.  If the tag has wrapped to the loaded value, its CAS
 *              succeeds and puts 2 on top, although 2 is not on the stack.  At the end each magazine must be in one
 *              place: with the first thread, with the second, or on the stack.
 * Widths       Compiled with LFPOOL_TAG_BITS. With a cut tag of T bits 2^T changes must be caught, and 2^T - 2 must
 *              be clean: so the test sees the failure, and the width prevents it.  With the shipped 40 bits 2^16
 *              changes must be clean.  The time for 2^40 is computed from the rate of changes measured here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/harness.h"
#include "core/depot.h"
#include "sleeper.h"

#define MAGAZINES 3
#define SLOTS 2
#define SHIPPED_BITS 40

static struct stack stack;
static struct magazines magazines = {.bytes = CACHE_LINE_PAIR, .slots = SLOTS, .chunks = MAGAZINES};
static tagged_word victim_hand, peer_hand;
static uint32_t victim_got;
static unsigned long reports;

static void prepare(void)
{
	static _Alignas(CACHE_LINE_PAIR) char memory[MAGAZINES * CACHE_LINE_PAIR];

	memset(memory, 0, sizeof(memory));
	memset(&stack, 0, sizeof(stack));
	magazines.chunk_base = memory;
	victim_got = 0;
	for (uint32_t number = MAGAZINES; number; number--) {
		struct lfpool_magazine *m = magazines_at(&magazines, number);

		magazine_make_empty(m, number);
		stack_push(&stack, &magazines, m);
	}
}

static void act(void)
{
	prepare();
	victim_got = STEP(stack_pop(&stack, &magazines, &victim_hand));
}

static struct sleeper sleeper = {.act = act, .name = "pop"};

static uint32_t pop(void)
{
	return stack_pop(&stack, &magazines, &peer_hand);
}

static void push(uint32_t number)
{
	stack_push(&stack, &magazines, magazines_at(&magazines, number));
}

/* Takes all, pushes the first back, and pops and pushes it until the head has changed `changes` times. */
static void change_head(unsigned long changes, unsigned owners[])
{
	uint32_t first = pop(), other;
	unsigned long done = 1;

	while (done < MAGAZINES && (other = pop())) {
		owners[other]++;
		done++;
	}
	push(first);
	for (done++; done + 2 <= changes; done += 2)
		push(pop());
}

/* Stops before instruction `at`; true if each magazine has one owner at the end. */
static bool visit(long at, unsigned long changes, bool expected)
{
	unsigned owners[MAGAZINES + 1] = {0};
	bool good = true;
	uint32_t number;
	char text[1024];

	if (!sleeper_run(&sleeper, at)) {
		printf("FAILED: instruction %ld is never reached\n", at);
		exit(1);
	}
	sleeper_describe(&sleeper, text, sizeof(text));
	change_head(changes, owners);
	sleeper_resume(&sleeper);
	if (victim_got)
		owners[victim_got]++;
	for (unsigned i = 0; i <= MAGAZINES && (number = pop()); i++)
		owners[number]++;
	for (number = 1; number <= MAGAZINES; number++) {
		if (owners[number] == 1)
			continue;
		if (reports++ < 5 || !expected)
			printf("%s: %lu changes, %s: magazine %u has %u owners\n", expected ? "caught" : "FAILED",
			       changes, text, number, owners[number]);
		good = false;
	}
	return good;
}

/* Stops at every instruction; returns how many corrupted the stack. */
static long sweep(unsigned long changes, bool expected)
{
	long corrupt = 0;

	for (long at = 0; at <= sleeper.stepper.length; at++)
		corrupt += !visit(at, changes, expected);
	printf("tag of %d bits, %6lu changes: %ld of %ld points corrupt\n", LFPOOL_TAG_BITS, changes, corrupt,
	       sleeper.stepper.length + 1);
	return corrupt;
}

/* The most changes per second that one thread can make to one head, of five measurements. */
static double change_rate(void)
{
	const unsigned long pairs = 1000000;
	double best = 0;

	prepare();
	for (int i = 0; i < 5; i++) {
		uint64_t start = now_ns();

		for (unsigned long k = 0; k < pairs; k++)
			push(pop());
		double rate = 2e9 * (double)pairs / (double)(now_ns() - start);

		best = rate > best ? rate : best;
	}
	return best;
}

int main(void)
{
	const unsigned long wrap = LFPOOL_TAG_BITS < SHIPPED_BITS ? 1ul << (LFPOOL_TAG_BITS % SHIPPED_BITS) : 0;
	unsigned passed = 0, failed = 0;

	stepper_open();
	sleeper_start(&sleeper);
	sleeper_rehearse(&sleeper, true);
	for (unsigned long changes = 1ul << 4; changes <= (wrap ? wrap : 1ul << 16); changes <<= 4) {
		bool good = changes == wrap ? sweep(wrap, true) > 0 && sweep(wrap - 2, false) == 0
					    : sweep(changes, false) == 0;

		passed += good;
		failed += !good;
	}
	sleeper_stop(&sleeper);
	if (LFPOOL_TAG_BITS == SHIPPED_BITS) {
		double rate = change_rate();

		printf("one thread makes %.0f million changes of one head per second: "
		       "2^40 take %.1f hours, 2^32 %.0f s\n",
		       rate / 1e6, (double)(1ull << 40) / rate / 3600, (double)(1ull << 32) / rate);
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
