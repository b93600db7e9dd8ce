/* SPDX-License-Identifier: MIT */
/*
 * test_check.c - the checker against histories written by hand: legal ones, and ones that are wrong by one tick.
 *
 * Each case is a table of calls.  A row is {what, thread, begin, end, object, row}: a release names the row that
 * acquired.
 */
#include "by_hand.h"

enum { ROWS = 24, NONE = -1 };

struct row {
	char what; /* 'A'cquire, 'R'elease, 'N'ULL, or 0: the end */
	unsigned thread;
	uint64_t begin, end;
	uintptr_t object;
	int row; /* of a release: the row that it ends */
};

struct example {
	const char *name;
	size_t capacity;
	struct row rows[ROWS];
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

static const struct example examples[] = {
	{.name = "nothing", .capacity = 1},

	/* ---- Ownership ---- */
	{.name = "one after the other",
	 .capacity = 1,
	 .rows = {{'A', 0, 10, 20, 1, 0}, {'R', 0, 30, 40, 1, 0}, {'A', 1, 50, 60, 1, 0}, {'R', 1, 70, 80, 1, 2}}},
	{.name = "acquire under way while the release begins",
	 .capacity = 1,
	 .rows = {{'A', 0, 10, 20, 1, 0}, {'R', 0, 30, 40, 1, 0}, {'A', 1, 5, 31, 1, 0}, {'R', 1, 70, 80, 1, 2}}},
	{.name = "acquire ends at the tick at which the release begins",
	 .capacity = 1,
	 .rows = {{'A', 0, 10, 20, 1, 0}, {'R', 0, 30, 40, 1, 0}, {'A', 1, 22, 30, 1, 0}, {'R', 1, 70, 80, 1, 2}}},
	{.name = "acquire ends one tick before the release begins",
	 .capacity = 1,
	 .rows = {{'A', 0, 10, 20, 1, 0}, {'R', 0, 30, 40, 1, 0}, {'A', 1, 22, 29, 1, 0}, {'R', 1, 70, 80, 1, 2}},
	 OVERLAPS(1),
	 .text = "two holders"},
	{.name = "a hold inside another",
	 .capacity = 1,
	 .rows = {{'A', 0, 10, 20, 1, 0}, {'R', 0, 90, 95, 1, 0}, {'A', 1, 30, 40, 1, 0}, {'R', 1, 50, 60, 1, 2}},
	 OVERLAPS(1)},
	{.name = "two holds inside another, not of each other",
	 .capacity = 1,
	 .rows = {{'A', 0, 10, 20, 1, 0},
		  {'R', 0, 90, 95, 1, 0},
		  {'A', 1, 30, 40, 1, 0},
		  {'R', 1, 50, 60, 1, 2},
		  {'A', 2, 61, 62, 1, 0},
		  {'R', 2, 63, 64, 1, 4}},
	 OVERLAPS(2)},
	{.name = "the same times, different objects",
	 .capacity = 2,
	 .rows = {{'A', 0, 10, 20, 1, 0}, {'R', 0, 90, 95, 1, 0}, {'A', 1, 10, 20, 2, 0}, {'R', 1, 90, 95, 2, 2}}},
	{.name = "a hold of no length between two others, all at one tick",
	 .capacity = 1,
	 .rows = {{'A', 0, 5, 9, 1, 0},
		  {'R', 0, 9, 9, 1, 0},
		  {'A', 1, 9, 9, 1, 0},
		  {'R', 1, 9, 9, 1, 2},
		  {'A', 2, 9, 9, 1, 0},
		  {'R', 2, 12, 13, 1, 4}}},
	{.name = "two acquires, no release",
	 .capacity = 1,
	 .rows = {{'A', 0, 10, 20, 1, 0}, {'A', 1, 50, 60, 1, 0}},
	 OVERLAPS(1),
	 .going_on = true},
	{.name = "released by another thread",
	 .capacity = 1,
	 .rows = {{'A', 3, 10, 20, 1, 0}, {'R', 0, 30, 40, 1, 0}, {'A', 0, 41, 42, 1, 0}, {'R', 5, 43, 44, 1, 2}}},

	/* ---- Conservation ---- */
	{.name = "a release inside its acquire",
	 .capacity = 1,
	 .rows = {{'A', 0, 10, 20, 1, 0}, {'R', 1, 19, 40, 1, 0}},
	 RELEASES(1),
	 .text = "before its acquire had ended"},
	{.name = "a release at the end of its acquire", .capacity = 1, .rows = {{'A', 0, 10, 20, 1, 0}, {'R', 1, 20, 40, 1, 0}}},
	{.name = "two releases of one acquisition",
	 .capacity = 1,
	 .rows = {{'A', 0, 10, 20, 1, 0}, {'R', 0, 30, 40, 1, 0}, {'R', 1, 30, 40, 1, 0}},
	 RELEASES(1),
	 .text = "two releases"},
	{.name = "a release of another object than was acquired",
	 .capacity = 2,
	 .rows = {{'A', 0, 10, 20, 1, 0}, {'R', 0, 30, 40, 2, 0}},
	 RELEASES(1),
	 HELD(1)},
	{.name = "a release of a NULL",
	 .capacity = 1,
	 .rows = {{'A', 0, 1, 2, 1, 0}, {'N', 1, 3, 4, 0, 0}, {'R', 1, 5, 6, 1, 1}, {'R', 0, 7, 8, 1, 0}},
	 RELEASES(1)},
	{.name = "one object too many",
	 .capacity = 1,
	 .rows = {{'A', 0, 10, 20, 1, 0}, {'R', 0, 30, 40, 1, 0}, {'A', 0, 50, 60, 2, 0}, {'R', 0, 70, 80, 2, 2}},
	 OBJECTS(1),
	 .text = "2 different objects"},
	{.name = "never released", .capacity = 1, .rows = {{'A', 0, 10, 20, 1, 0}}, HELD(1), .text = "was not released"},
	{.name = "not released yet", .capacity = 1, .rows = {{'A', 0, 10, 20, 1, 0}}, .going_on = true},

	/* ---- NULL ---- */
	{.name = "NULL while the only object is held",
	 .capacity = 1,
	 .rows = {{'A', 0, 10, 20, 1, 0}, {'N', 1, 22, 28, 0, 0}, {'R', 0, 30, 40, 1, 0}}},
	{.name = "NULL from a pool that nobody has used",
	 .capacity = 1,
	 .rows = {{'N', 0, 10, 20, 0, 0}},
	 NULLS(1),
	 .text = "1 of the 1 objects were never acquired"},
	{.name = "NULL that begins at the tick at which the release ends",
	 .capacity = 1,
	 .rows = {{'A', 0, 10, 20, 1, 0}, {'R', 0, 30, 40, 1, 0}, {'N', 1, 40, 50, 0, 0}}},
	{.name = "NULL that begins one tick later",
	 .capacity = 1,
	 .rows = {{'A', 0, 10, 20, 1, 0}, {'R', 0, 30, 40, 1, 0}, {'N', 1, 41, 50, 0, 0}},
	 NULLS(1),
	 .text = "[30, 40] thread 0 releases object 1 at 0x1: free from here"},
	{.name = "NULL that ends at the tick at which the acquire begins",
	 .capacity = 1,
	 .rows = {{'N', 1, 1, 10, 0, 0}, {'A', 0, 10, 20, 1, 0}, {'R', 0, 30, 40, 1, 1}}},
	{.name = "NULL that ends one tick earlier",
	 .capacity = 1,
	 .rows = {{'N', 1, 1, 9, 0, 0}, {'A', 0, 10, 20, 1, 0}, {'R', 0, 30, 40, 1, 1}},
	 NULLS(1),
	 .text = "[10, 20] thread 0 acquires object 1 at 0x1 for the first time"},
	{.name = "NULL between two holds",
	 .capacity = 1,
	 .rows = {{'A', 0, 10, 20, 1, 0},
		  {'R', 0, 30, 40, 1, 0},
		  {'N', 1, 41, 49, 0, 0},
		  {'A', 0, 50, 60, 1, 0},
		  {'R', 0, 70, 80, 1, 3}},
	 NULLS(1),
	 .text = "until here"},
	{.name = "NULL between two holds that follow each other without a tick in between",
	 .capacity = 1,
	 .rows = {{'A', 0, 10, 20, 1, 0},
		  {'R', 0, 30, 40, 1, 0},
		  {'N', 1, 40, 41, 0, 0},
		  {'A', 0, 41, 60, 1, 0},
		  {'R', 0, 70, 80, 1, 3}}},
	{.name = "NULL while the object is on its way from one holder to the next",
	 .capacity = 1,
	 .rows = {{'A', 0, 10, 20, 1, 0},
		  {'R', 0, 30, 60, 1, 0},
		  {'N', 1, 45, 55, 0, 0},
		  {'A', 2, 40, 80, 1, 0},
		  {'R', 2, 90, 95, 1, 3}}},
	{.name = "NULL while a long acquire of the next hold is under way",
	 .capacity = 1,
	 .rows = {{'A', 0, 10, 20, 1, 0},
		  {'R', 0, 30, 40, 1, 0},
		  {'N', 1, 45, 48, 0, 0},
		  {'A', 2, 5, 80, 1, 0},
		  {'R', 2, 90, 95, 1, 3}}},
	{.name = "NULL over many gaps, one object always free",
	 .capacity = 2,
	 .rows = {{'A', 0, 1, 2, 1, 0},
		  {'A', 0, 3, 4, 2, 0},
		  {'R', 0, 5, 6, 1, 0},
		  {'N', 1, 7, 27, 0, 0},
		  {'A', 0, 15, 16, 1, 0},
		  {'R', 0, 8, 14, 2, 1},
		  {'R', 0, 18, 19, 1, 4},
		  {'A', 0, 21, 22, 2, 0},
		  {'R', 0, 31, 32, 2, 7}},
	 NULLS(1),
	 .text = "[15, 16] thread 0 acquires object 1"},
	{.name = "the same, but for one tick without a free object",
	 .capacity = 2,
	 .rows = {{'A', 0, 1, 2, 1, 0},
		  {'A', 0, 3, 4, 2, 0},
		  {'R', 0, 5, 6, 1, 0},
		  {'N', 1, 7, 27, 0, 0},
		  {'A', 0, 15, 16, 1, 0},
		  {'R', 0, 8, 15, 2, 1},
		  {'R', 0, 18, 19, 1, 4},
		  {'A', 0, 21, 22, 2, 0},
		  {'R', 0, 31, 32, 2, 7}}},
	{.name = "NULL over a moment at which all are held",
	 .capacity = 2,
	 .rows = {{'A', 0, 1, 2, 1, 0},
		  {'N', 1, 1, 90, 0, 0},
		  {'A', 0, 10, 11, 2, 0},
		  {'R', 0, 12, 13, 2, 2},
		  {'R', 0, 91, 92, 1, 0}}},
	{.name = "one NULL right, one wrong",
	 .capacity = 2,
	 .rows = {{'A', 0, 1, 2, 1, 0},
		  {'A', 0, 10, 11, 2, 0},
		  {'N', 1, 11, 12, 0, 0},
		  {'N', 2, 14, 15, 0, 0},
		  {'R', 0, 12, 13, 2, 1},
		  {'R', 0, 91, 92, 1, 0}},
	 NULLS(1),
	 .text = "[14, 15] thread 2 acquires: NULL"},
	{.name = "part of a bulk call was NULL: its own objects are in its hands",
	 .capacity = 2,
	 .rows = {{'A', 0, 10, 20, 1, 0},
		  {'A', 0, 10, 20, 2, 0},
		  {'N', 0, 10, 20, 0, 0},
		  {'R', 0, 30, 31, 1, 0},
		  {'R', 0, 30, 31, 2, 1}}},
	{.name = "an object that the keeper does not get back",
	 .capacity = 2,
	 .rows = {{'A', 0, 1, 2, 1, 0},
		  {'A', 1, 3, 4, 2, 0},
		  {'R', 0, 5, 6, 1, 0},
		  {'R', 1, 7, 8, 2, 1},
		  {'A', 7, 10, 11, 1, 0},
		  {'N', 7, 12, 13, 0, 0},
		  {'R', 7, 14, 15, 1, 4}},
	 NULLS(1),
	 .text = "keeper acquires: NULL"},

	/* ---- Objects that are counted ---- */
	{.name = "counted: more addresses than objects",
	 .capacity = 1,
	 .rows = {{'A', 0, 1, 2, 1, 0}, {'R', 0, 3, 4, 1, 0}, {'A', 0, 5, 6, 2, 0}, {'N', 1, 7, 8, 0, 0}, {'R', 0, 9, 10, 2, 2}},
	 .counted = true},
	{.name = "counted: one address in two hands, one of which is letting go",
	 .capacity = 2,
	 .rows = {{'A', 0, 1, 2, 1, 0}, {'R', 0, 3, 8, 1, 0}, {'A', 1, 4, 5, 1, 0}, {'N', 2, 6, 7, 0, 0}, {'R', 1, 9, 10, 1, 2}},
	 .counted = true},
	{.name = "counted: NULL though there is one left",
	 .capacity = 2,
	 .rows = {{'A', 0, 1, 2, 1, 0}, {'R', 0, 3, 4, 1, 0}, {'A', 1, 5, 6, 1, 0}, {'N', 2, 6, 7, 0, 0}, {'R', 1, 9, 10, 1, 2}},
	 NULLS(1),
	 .text = "never were all 2 objects in use",
	 .counted = true},
};

static void play(struct hand *hand, const struct row *rows)
{
	struct hold holds[ROWS];

	for (int i = 0; i < ROWS && rows[i].what; i++) {
		const struct row *row = &rows[i];

		holds[i] = (struct hold){row->thread, hand->logs[row->thread].count};
		if (row->what == 'A')
			(void)hand_acquire(hand, row->thread, row->begin, row->end, row->object);
		else if (row->what == 'R')
			hand_release(hand, row->thread, row->begin, row->end, row->object, holds[row->row]);
		else
			hand_null(hand, row->thread, row->begin, row->end);
	}
}

static bool passes(struct hand *hand, const struct example *example)
{
	struct history_counts counts;
	bool good = true;

	hand_clear(hand);
	play(hand, example->rows);
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
