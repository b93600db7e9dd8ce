/* SPDX-License-Identifier: MIT */
/*
 * test_check.c - the checker against hand-made histories.
 *
 * Each error is by one tick where possible; the message must name it.  (Every clean run of the stress harness shows
 * that the checker accepts a correct pool's answers.)
 */
#include "common/require.h"
#include "stress/history_check.h"
#include "stress/text.h"

#include <inttypes.h>
#include <string.h>

#define LOGS 8
#define ROOM 64 /* records of a log */

static struct {
	struct history_log logs[LOGS];
	struct history_record records[LOGS][ROOM];
	_Atomic(bool) full;
	char text[TEXT_BYTES]; /* of the first fault */
} written;

/* Objects are numbers from 1. */
static const void *object_at(uintptr_t number)
{
	return (const void *)number;
}

static void clear(void)
{
	for (uint32_t i = 0; i < LOGS; i++)
		written.logs[i] = (struct history_log){
			.records = written.records[i], .limit = ROOM, .room = ROOM, .number = i, .full = &written.full};
	written.text[0] = '\0';
}

_Noreturn void history_overflow(const struct history_log *log)
{
	fprintf(stderr, "log %u is full\n", log->number);
	exit(3);
}

static void on_fault(void *nothing, enum history_fault fault, const char *text)
{
	(void)nothing;
	(void)fault;
	memcpy(written.text, text, strlen(text) + 1);
}

static struct history_counts check(size_t capacity, bool fixed, bool evicting)
{
	struct history_terms terms = {
		.capacity = capacity, .fixed = fixed, .ended = true, .evicting = evicting, .keeper = LOGS - 1};

	return history_check(written.logs, LOGS, &terms, on_fault, NULL, 1);
}

/*
 * "A0 10-20 1": thread 0 acquired object 1 between the ticks 10 and 20. "R0 30-40 1" released it, which ends the last
 * acquisition of that object; with "of 0", that of call 0. "N1 22-28": thread 1 got NULL.
 *
 * For evicting pools, with a rank R: "S0 10-20 1 of R": from 20 on object 1 can be evicted.  "C0 30-30 1": its holder
 * may change it.  "V1 40-50 1 of R": thread 1 evicts it.  "N1 40-50 0 of R": there was no object below R.
 */

#define CALLS 24

struct example {
	const char *name;
	size_t capacity;
	const char *calls;
	size_t faults[HISTORY_FAULTS];
	const char *text; /* part of the message */
	bool counted;     /* objects are only counted, without addresses */
	bool evicting;
};

#define OVERLAPS(n) .faults[HISTORY_FAULT_OVERLAP] = (n)
#define RELEASES(n) .faults[HISTORY_FAULT_RELEASE] = (n)
#define NULLS(n) .faults[HISTORY_FAULT_NULL] = (n)
#define OBJECTS(n) .faults[HISTORY_FAULT_OBJECTS] = (n)
#define HELD(n) .faults[HISTORY_FAULT_HELD] = (n)
#define VICTIMS(n) .evicting = true, .faults[HISTORY_FAULT_VICTIM] = (n)

/* clang-format off */
static const struct example examples[] = {
	/* ---- Ownership ---- */
	{"an acquire that ends one tick before the release begins", 1,
	 .calls = "A0 10-20 1, R0 30-40 1, A1 22-29 1, R1 70-80 1", OVERLAPS(1), .text = "two holders"},
	{"two holds inside another, not of each other", 1,
	 .calls = "A0 10-20 1, R0 90-95 1, A1 30-40 1, R1 50-60 1, A2 61-62 1, R2 63-64 1", OVERLAPS(2)},

	/* ---- Conservation ---- */
	{"a release inside its acquire", 1,
	 .calls = "A0 10-20 1, R1 19-40 1", RELEASES(1), .text = "before its acquire had ended"},
	{"two releases of one acquisition", 1,
	 .calls = "A0 10-20 1, R0 30-40 1, R1 30-40 1", RELEASES(1), .text = "two releases"},
	{"a release of an object that was not acquired", 2,
	 .calls = "A0 10-20 1, R0 30-40 2 of 0", RELEASES(1), HELD(1)},
	{"a release after NULL", 1,
	 .calls = "A0 1-2 1, N1 3-4, R1 5-6 1 of 1, R0 7-8 1", RELEASES(1)},
	{"one object too many", 1,
	 .calls = "A0 10-20 1, R0 30-40 1, A0 50-60 2, R0 70-80 2", OBJECTS(1), .text = "2 different objects of 1"},
	{"never released", 1,
	 .calls = "A0 10-20 1", HELD(1), .text = "was not released"},

	/* ---- NULL ---- */
	{"NULL from an unused pool", 1,
	 .calls = "N0 10-20", NULLS(1), .text = "1 of the 1 objects were never acquired"},
	{"NULL that begins one tick after the release has ended", 1,
	 .calls = "A0 10-20 1, R0 30-40 1, N1 41-50",
	 NULLS(1), .text = "[30, 40] thread 0 releases 0x1: free from here"},
	{"NULL that ends one tick before the acquire begins", 1,
	 .calls = "N1 1-9, A0 10-20 1, R0 30-40 1",
	 NULLS(1), .text = "[10, 20] thread 0 acquires 0x1 for the first time"},
	{"NULL between two holds", 1,
	 .calls = "A0 10-20 1, R0 30-40 1, N1 41-49, A0 50-60 1, R0 70-80 1", NULLS(1), .text = "until here"},
	{"NULL over many gaps, one object always free", 2,
	 .calls = "A0 1-2 1, A0 3-4 2, R0 5-6 1, N1 7-27, A0 15-16 1, R0 8-14 2, R0 18-19 1, A0 21-22 2, R0 31-32 2",
	 NULLS(1), .text = "[15, 16] thread 0 acquires 0x1"},
	{"one NULL right, one wrong", 2,
	 .calls = "A0 1-2 1, A0 10-11 2, N1 11-12, N2 14-15, R0 12-13 2, R0 91-92 1",
	 NULLS(1), .text = "[14, 15] thread 2 acquires: NULL"},
	{"an object that the keeper does not get back", 2,
	 .calls = "A0 1-2 1, A1 3-4 2, R0 5-6 1, R1 7-8 2, A7 10-11 1, N7 12-13, R7 14-15 1",
	 NULLS(1), .text = "keeper acquires: NULL"},

	/* ---- Objects that are counted ---- */
	{"counted: more addresses than objects", 1,
	 .calls = "A0 1-2 1, R0 3-4 1, A0 5-6 2, N1 7-8, R0 9-10 2", .counted = true},
	{"counted: one address with two holders, one of them releasing", 2,
	 .calls = "A0 1-2 1, R0 3-8 1, A1 4-5 1, N2 6-7, R1 9-10 1", .counted = true},
	{"counted: NULL though one is left", 2,
	 .calls = "A0 1-2 1, R0 3-4 1, A1 5-6 1, N2 6-7, R1 9-10 1",
	 NULLS(1), .text = "at no moment were all 2 objects in use", .counted = true},

	/* ---- Victims: object 1 has rank 5 from 20 to 40, object 2 has rank 7 from 12 on ---- */
#define TWO "A0 1-2 1, A1 3-4 2, S0 10-20 1 of 5, S1 11-12 2 of 7, C0 40-40 1, "
	{"a victim while a lower one could be evicted", 2,
	 .calls = TWO "V2 21-39 2 of 7", VICTIMS(1),
	 .text = "[10, 20] thread 0 leaves an evictable object of rank 0x5: from here"},
	{"the lower one was not there at the first tick", 2, .calls = TWO "V2 20-39 2 of 7", VICTIMS(0)},
	{"the lower one was changed at the last tick", 2, .calls = TWO "V2 21-40 2 of 7", VICTIMS(0)},
	{"a victim of the same rank", 2, .calls = TWO "V2 21-39 2 of 5", VICTIMS(0)},
	{"the lower one itself", 2, .calls = TWO "V2 21-39 1 of 5, V3 21-50 2 of 7", VICTIMS(0)},
	{"the lower one is evicted later", 2,
	 .calls = TWO "V3 31-33 1 of 5, V2 21-30 2 of 7", VICTIMS(1),
	 .text = "thread 3 evicts an object of rank 0x5: until here"},
	{"a lower rank that was set later", 2,
	 .calls = TWO "S0 41-50 1 of 3, C0 70-70 1, V2 21-60 2 of 7, V2 51-60 2 of 4", VICTIMS(1),
	 .text = "[51, 60] thread 2 evicts"},
	{"NULL for a newcomer although one gives way", 2,
	 .calls = TWO "N2 41-50 0 of 7, N2 41-50 0 of 8", VICTIMS(1), .text = "NULL though an object that gives way"},
	{"an object that was never changed again", 1, .calls = "A0 1-2 1, S0 3-4 1 of 5, V1 5-99 1 of 6", VICTIMS(0)},
};
/* clang-format on */

static void write_down(const char *calls)
{
	struct {
		struct hold hold;
		unsigned object;
	} acquired[CALLS] = {{.object = 0}};
	char what;
	unsigned thread, object, of;
	uint64_t begin, end;

	for (int i = 0; *calls; i++) {
		const size_t bytes = strcspn(calls, ",");
		const int read = sscanf(calls, " %c%u %" SCNu64 "-%" SCNu64 " %u of %u", &what, &thread, &begin, &end,
					&object, &of);
		struct history_log *log = &written.logs[thread];

		REQUIRE(i < CALLS && read >= (what == 'N' ? 4 : 5));
		if (what == 'S' || what == 'C' || what == 'V' || (what == 'N' && read == 6)) {
			const enum history_kind kind = what == 'S'   ? HISTORY_STEADY
						       : what == 'C' ? HISTORY_CHANGE
						       : what == 'V' ? HISTORY_VICTIM
								     : HISTORY_NULL;
			unsigned last = (unsigned)i;

			while (last && acquired[last].object != object)
				last--;
			(void)history_append(log, kind, begin, end, read == 6 ? of : 0, acquired[last].hold);
		} else if (what == 'N') {
			acquired[i].hold = (struct hold){thread, log->count};
			history_null(log, begin, end);
		} else if (what == 'A') {
			acquired[i].object = object;
			acquired[i].hold = history_acquired(log, begin, end, object_at(object));
		} else {
			unsigned last = (unsigned)i;

			while (read == 5 && last-- && acquired[last].object != object)
				;
			history_released(log, begin, end, object_at(object), acquired[read == 5 ? last : of].hold);
		}
		calls += bytes + (calls[bytes] == ',');
	}
}

static bool is_judged(const struct example *example)
{
	clear();
	write_down(example->calls);

	const struct history_counts counts = check(example->capacity, !example->counted, example->evicting);

	if (memcmp(counts.faults, example->faults, sizeof(counts.faults)) == 0 &&
	    (!example->text || strstr(written.text, example->text)))
		return true;
	printf("%s: faults", example->name);
	for (size_t fault = 0; fault < HISTORY_FAULTS; fault++)
		printf(" %zu", counts.faults[fault]);
	printf("\n%s\n", written.text);
	return false;
}

int main(void)
{
	size_t failed = 0;

	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++)
		failed += !is_judged(&examples[i]);
	printf("%zu passed, %zu failed\n", sizeof(examples) / sizeof(*examples) - failed, failed);
	return failed > 0;
}
