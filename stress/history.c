/* SPDX-License-Identifier: MIT */
/* history.c - the logs of a round: their memory, and their check at the end. */
#include "history.h"
#include "history_check.h"
#include "round.h"

#include "lfpool/report.h"

#include <inttypes.h>
#include <string.h>

/* Records of all threads of a round together, about; and the fewest of a thread. */
#define RECORDS_ROUND ((uint32_t)1 << 17)
#define RECORDS_LOG_MIN (2 * HISTORY_RESERVE)

/* The logs' memory is kept from round to round: touching new memory takes longer than many a round. */
static struct history_log logs[PULSES];

static struct {
	uint64_t operations, nulls, violations, check_ns;
} total;

_Noreturn void history_overflow(const struct history_log *log)
{
	say("lfpool-stress: log %" PRIu32 " has no room for more than %" PRIu32 " operations\n", log->number,
	    log->room);
	exit(EXIT_STUCK);
}

void history_open(void)
{
	for (size_t i = 0; i < PULSES; i++)
		logs[i].count = 0;
	current.origin = now_ns();
}

/* The number of records in a log. */
static size_t room_of(uint32_t index)
{
	/* A worker's two children share its room. */
	const uint32_t most = RECORDS_ROUND / current.threads / (index < current.threads ? 1 : 2);

	/* The keeper releases leftover objects, empties the pool and fills it again. */
	if (index == current.threads)
		return 4 * current.most + RECORDS_LOG_MIN;
	return most < RECORDS_LOG_MIN ? RECORDS_LOG_MIN : most;
}

struct history_log *history_log_of(uint32_t index)
{
	struct history_log *log = &logs[index];
	const size_t room = room_of(index);

	if (!options.history)
		return NULL;
	if (log->room < room) {
		free(log->records);
		/* Zeroes the memory, and so touches it. */
		log->records = round_memory(room, sizeof(*log->records));
		log->room = (uint32_t)room;
	}
	log->limit = log->room - HISTORY_RESERVE;
	log->number = index;
	log->full = &current.history_full;
	return log;
}

static void on_found(void *context, enum history_fault fault, const char *text)
{
	(void)context;
	(void)fault;
	violation_found(text);
}

void history_close(void)
{
	struct history_terms terms = {
		.capacity = current.most,
		.fixed = options.backend != LFPOOL_BACKEND_MALLOC,
		/* A round that stopped half-way may leave objects held. */
		.ended = !cell_failed(),
		.evicting = current.cell->scenario->evicting,
		.keeper = current.threads,
		.origin = current.origin,
	};
	uint64_t begin = now_ns();
	struct history_counts counts;

	if (!options.history)
		return;
	counts = history_check(logs, PULSES, &terms, on_found, NULL, HISTORY_MESSAGES);
	total.check_ns += now_ns() - begin;
	total.operations += counts.operations;
	total.nulls += counts.nulls;
	for (size_t i = 0; i < HISTORY_FAULTS; i++)
		total.violations += counts.faults[i];
}

void history_say(void)
{
	say("History: %" PRIu64 " operations, %" PRIu64 " of them NULL, checked in %.2f s; %" PRIu64 " violations\n",
	    total.operations, total.nulls, (double)total.check_ns / 1e9, total.violations);
}
