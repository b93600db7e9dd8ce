/* SPDX-License-Identifier: MIT */
/*
 * test_stamps.c - are the stamps of different processors those of one clock, and what do they cost?
 *
 * Two threads on different processors pass a word to and fro.  Each stamps the end of what it did, then writes the
 * word; the other sees it, then stamps the begin of what it does.  A begin before the end that caused it would make the
 * checker accuse the innocent.
 */
#include "stress/history.h"

#include <inttypes.h>
#include <sched.h>

#define PASSES 50000
#define COST_RECORDS 200000

struct table_tennis {
	_Alignas(64) _Atomic(uint64_t) ball; /* whose turn: even and odd numbers */
	_Alignas(64) uint64_t stamp;         /* of the last end                   */
	uint64_t backwards, closest;
};

struct player {
	pthread_t thread;
	unsigned parity;
	struct table_tennis *table;
};

/* On a processor of its own, if there are two. */
static void settle(unsigned processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	(void)pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static void *play(void *argument)
{
	struct player *player = argument;
	struct table_tennis *table = player->table;

	settle(player->parity);
	for (uint64_t turn = player->parity; turn < PASSES; turn += 2) {
		uint64_t begin;

		/* acquire: the stamp that came with it.  Ends when the other has played. */
		for (unsigned spins = 0; atomic_load_explicit(&table->ball, memory_order_acquire) != turn; spins++)
			if (spins % 1024 == 1023)
				(void)sched_yield();
		begin = stamp_begin();
		if (begin < table->stamp)
			table->backwards++;
		else if (turn > 0 && begin - table->stamp < table->closest)
			table->closest = begin - table->stamp;
		table->stamp = stamp_end();
		/* release: hands it over. */
		atomic_store_explicit(&table->ball, turn + 1, memory_order_release);
	}
	return NULL;
}

static bool one_clock(const char *name)
{
	struct table_tennis table = {.closest = UINT64_MAX};
	struct player players[2] = {{.parity = 0, .table = &table}, {.parity = 1, .table = &table}};

	for (unsigned i = 0; i < 2; i++)
		thread_start(&players[i].thread, play, &players[i]);
	for (unsigned i = 0; i < 2; i++)
		(void)pthread_join(players[i].thread, NULL);
	printf("%s: %d hand-overs, %" PRIu64 " of them backwards in time; the quickest took %" PRIu64 " ticks\n", name, PASSES,
	       table.backwards, table.closest);
	return table.backwards == 0;
}

_Noreturn void history_overflow(const struct history_log *log)
{
	printf("log %" PRIu32 " is full\n", log->number);
	exit(3);
}

static void say_cost(const char *name)
{
	static struct history_record records[COST_RECORDS + HISTORY_RESERVE];
	static _Atomic(bool) full;
	struct history_log log = {.records = records, .limit = COST_RECORDS, .room = COST_RECORDS, .full = &full};
	uint64_t begin_ns, end_ns;

	/* Touches the memory. */
	for (size_t i = 0; i < COST_RECORDS; i++)
		records[i].begin = 1;
	begin_ns = now_ns();
	for (size_t i = 0; i < COST_RECORDS; i++) {
		uint64_t begin = history_begin(&log), end = history_end(&log);

		history_null(&log, begin, end);
	}
	end_ns = now_ns();
	printf("%s: %.0f ns for an operation that does nothing\n", name, (double)(end_ns - begin_ns) / COST_RECORDS);
}

int main(void)
{
	unsigned passed = 0, tests = 1;

	stamps_choose();
	if (stamps_by_counter) {
		tests++;
		passed += one_clock("time-stamp counter");
		say_cost("time-stamp counter");
		stamps_by_counter = false;
	}
	passed += one_clock("monotonic clock");
	say_cost("monotonic clock");
	printf("%u passed, %u failed\n", passed, tests - passed);
	return passed != tests;
}
