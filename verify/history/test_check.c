/* SPDX-License-Identifier: MIT */
/*
 * test_check.c - the checker against histories written by hand: legal ones, and ones that are wrong by one tick.
 *
 * "A0 10-20 1": thread 0 acquired object 1 between the ticks 10 and 20.  "R0 30-40 1" released it, which ends the last
 * acquisition of that object; "of 0", that of call 0.  "N1 22-28": thread 1 was given NULL.
 */
#include "by_hand.h"

#include "common/require.h"

#include <inttypes.h>

enum { CALLS = 24 };

struct example {
	const char *name;
	size_t capacity;
	const char *calls;
	size_t faults[HISTORY_FAULTS];
	const char *text; /* occurs in the message; NULL: no message */
	bool counted;     /* objects are counted, not known by address */
	bool going_on;    /* the round is not over */
};

#define OVERLAPS(n) .faults[HISTORY_FAULT_OVERLAP] = (n)
#define RELEASES(n) .faults[HISTORY_FAULT_RELEASE] = (n)
#define NULLS(n) .faults[HISTORY_FAULT_NULL] = (n)
#define OBJECTS(n) .faults[HISTORY_FAULT_OBJECTS] = (n)
#define HELD(n) .faults[HISTORY_FAULT_HELD] = (n)

/* clang-format off */
static const struct example examples[] = {
	{.name = "nothing", .capacity = 1, .calls = ""},

	/* ---- Ownership ---- */
	{"one after the other", 1,
	 .calls = "A0 10-20 1, R0 30-40 1, A1 50-60 1, R1 70-80 1"},
	{"acquire under way while the release begins", 1,
	 .calls = "A0 10-20 1, R0 30-40 1, A1 5-31 1, R1 70-80 1"},
	{"acquire ends at the tick at which the release begins", 1,
	 .calls = "A0 10-20 1, R0 30-40 1, A1 22-30 1, R1 70-80 1"},
	{"acquire ends one tick before the release begins", 1,
	 .calls = "A0 10-20 1, R0 30-40 1, A1 22-29 1, R1 70-80 1", OVERLAPS(1), .text = "two holders"},
	{"a hold inside another", 1,
	 .calls = "A0 10-20 1, R0 90-95 1, A1 30-40 1, R1 50-60 1", OVERLAPS(1)},
	{"two holds inside another, not of each other", 1,
	 .calls = "A0 10-20 1, R0 90-95 1, A1 30-40 1, R1 50-60 1, A2 61-62 1, R2 63-64 1", OVERLAPS(2)},
	{"the same times, different objects", 2,
	 .calls = "A0 10-20 1, R0 90-95 1, A1 10-20 2, R1 90-95 2"},
	{"a hold of no length between two others, all at one tick", 1,
	 .calls = "A0 5-9 1, R0 9-9 1, A1 9-9 1, R1 9-9 1, A2 9-9 1, R2 12-13 1"},
	{"two acquires, no release", 1,
	 .calls = "A0 10-20 1, A1 50-60 1", OVERLAPS(1), .going_on = true},
	{"released by another thread", 1,
	 .calls = "A3 10-20 1, R0 30-40 1, A0 41-42 1, R5 43-44 1"},

	/* ---- Conservation ---- */
	{"a release inside its acquire", 1,
	 .calls = "A0 10-20 1, R1 19-40 1", RELEASES(1), .text = "before its acquire had ended"},
	{"a release at the end of its acquire", 1,
	 .calls = "A0 10-20 1, R1 20-40 1"},
	{"two releases of one acquisition", 1,
	 .calls = "A0 10-20 1, R0 30-40 1, R1 30-40 1", RELEASES(1), .text = "two releases"},
	{"a release of another object than was acquired", 2,
	 .calls = "A0 10-20 1, R0 30-40 2 of 0", RELEASES(1), HELD(1)},
	{"a release of a NULL", 1,
	 .calls = "A0 1-2 1, N1 3-4, R1 5-6 1 of 1, R0 7-8 1", RELEASES(1)},
	{"one object too many", 1,
	 .calls = "A0 10-20 1, R0 30-40 1, A0 50-60 2, R0 70-80 2", OBJECTS(1), .text = "2 different objects of 1"},
	{"never released", 1,
	 .calls = "A0 10-20 1", HELD(1), .text = "was not released"},
	{"not released yet", 1,
	 .calls = "A0 10-20 1", .going_on = true},

	/* ---- NULL ---- */
	{"NULL while the only object is held", 1,
	 .calls = "A0 10-20 1, N1 22-28, R0 30-40 1"},
	{"NULL from a pool that nobody has used", 1,
	 .calls = "N0 10-20", NULLS(1), .text = "1 of the 1 objects were never acquired"},
	{"NULL that begins at the tick at which the release ends", 1,
	 .calls = "A0 10-20 1, R0 30-40 1, N1 40-50"},
	{"NULL that begins one tick later", 1,
	 .calls = "A0 10-20 1, R0 30-40 1, N1 41-50",
	 NULLS(1), .text = "[30, 40] thread 0 releases 0x1: free from here"},
	{"NULL that ends at the tick at which the acquire begins", 1,
	 .calls = "N1 1-10, A0 10-20 1, R0 30-40 1"},
	{"NULL that ends one tick earlier", 1,
	 .calls = "N1 1-9, A0 10-20 1, R0 30-40 1",
	 NULLS(1), .text = "[10, 20] thread 0 acquires 0x1 for the first time"},
	{"NULL between two holds", 1,
	 .calls = "A0 10-20 1, R0 30-40 1, N1 41-49, A0 50-60 1, R0 70-80 1", NULLS(1), .text = "until here"},
	{"NULL between two holds that follow each other without a tick in between", 1,
	 .calls = "A0 10-20 1, R0 30-40 1, N1 40-41, A0 41-60 1, R0 70-80 1"},
	{"NULL while the object is on its way from one holder to the next", 1,
	 .calls = "A0 10-20 1, R0 30-60 1, N1 45-55, A2 40-80 1, R2 90-95 1"},
	{"NULL while a long acquire of the next hold is under way", 1,
	 .calls = "A0 10-20 1, R0 30-40 1, N1 45-48, A2 5-80 1, R2 90-95 1"},
	{"NULL over many gaps, one object always free", 2,
	 .calls = "A0 1-2 1, A0 3-4 2, R0 5-6 1, N1 7-27, A0 15-16 1, R0 8-14 2, R0 18-19 1, A0 21-22 2, R0 31-32 2",
	 NULLS(1), .text = "[15, 16] thread 0 acquires 0x1"},
	{"the same, except for one tick without a free object", 2,
	 .calls = "A0 1-2 1, A0 3-4 2, R0 5-6 1, N1 7-27, A0 15-16 1, R0 8-15 2, R0 18-19 1, A0 21-22 2, R0 31-32 2"},
	{"NULL over a moment at which all are held", 2,
	 .calls = "A0 1-2 1, N1 1-90, A0 10-11 2, R0 12-13 2, R0 91-92 1"},
	{"one NULL right, one wrong", 2,
	 .calls = "A0 1-2 1, A0 10-11 2, N1 11-12, N2 14-15, R0 12-13 2, R0 91-92 1",
	 NULLS(1), .text = "[14, 15] thread 2 acquires: NULL"},
	{"part of a bulk call was NULL: its own objects are in its hands", 2,
	 .calls = "A0 10-20 1, A0 10-20 2, N0 10-20, R0 30-31 1, R0 30-31 2"},
	{"an object that the keeper does not get back", 2,
	 .calls = "A0 1-2 1, A1 3-4 2, R0 5-6 1, R1 7-8 2, A7 10-11 1, N7 12-13, R7 14-15 1",
	 NULLS(1), .text = "keeper acquires: NULL"},

	/* ---- Objects that are counted ---- */
	{"counted: more addresses than objects", 1,
	 .calls = "A0 1-2 1, R0 3-4 1, A0 5-6 2, N1 7-8, R0 9-10 2", .counted = true},
	{"counted: one address in two hands, one of which is letting go", 2,
	 .calls = "A0 1-2 1, R0 3-8 1, A1 4-5 1, N2 6-7, R1 9-10 1", .counted = true},
	{"counted: NULL though there is one left", 2,
	 .calls = "A0 1-2 1, R0 3-4 1, A1 5-6 1, N2 6-7, R1 9-10 1",
	 NULLS(1), .text = "never were all 2 objects in use", .counted = true},
};
/* clang-format on */

static void play(struct hand *hand, const char *calls)
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
		const int read = sscanf(calls, " %c%u %" SCNu64 "-%" SCNu64 " %u of %u", &what, &thread, &begin, &end, &object,
					&of);

		REQUIRE(i < CALLS && read >= (what == 'N' ? 4 : 5));
		if (what == 'N') {
			acquired[i].hold = (struct hold){thread, hand->logs[thread].count};
			hand_null(hand, thread, begin, end);
		} else if (what == 'A') {
			acquired[i].object = object;
			acquired[i].hold = hand_acquire(hand, thread, begin, end, object);
		} else {
			unsigned last = (unsigned)i;

			while (read == 5 && last-- && acquired[last].object != object)
				;
			hand_release(hand, thread, begin, end, object, acquired[read == 5 ? last : of].hold);
		}
		calls += bytes + (calls[bytes] == ',');
	}
}

static bool passes(struct hand *hand, const struct example *example)
{
	struct history_counts counts;
	bool good = true;

	hand_clear(hand);
	play(hand, example->calls);
	counts = hand_check(hand, example->capacity, !example->counted, !example->going_on);
	for (size_t fault = 0; fault < HISTORY_FAULTS; fault++)
		if (counts.faults[fault] != example->faults[fault]) {
			printf("%s: %zu faults of kind %zu, not %zu\n", example->name, counts.faults[fault], fault,
			       example->faults[fault]);
			good = false;
		}
	if (example->text && !strstr(hand->text, example->text)) {
		printf("%s: '%s' does not occur in:\n", example->name, example->text);
		good = false;
	}
	if (!good)
		printf("%s\n", hand->text);
	return good;
}

int main(void)
{
	static struct hand hand;
	size_t count = sizeof(examples) / sizeof(examples[0]), passed = 0;

	for (size_t i = 0; i < count; i++)
		passed += passes(&hand, &examples[i]);
	printf("%zu passed, %zu failed\n", passed, count - passed);
	return passed != count;
}
