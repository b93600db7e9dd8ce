/* SPDX-License-Identifier: MIT */
/*
 * finds.c - see finds.h.
 */
#include "finds.h"

#include "explore.h"
#include "os/os.h"
#include "oracle.h"
#include "pool/address_map.h"

#include <string.h>

#define FIXED 3
/* Ranges are 10 addresses long and touch each other: [10,] 20, 30, [40,] 50.  The owner is a number. */
#define FIRST 10
#define MIDDLE 40

static struct address_map ranges, ranges_saved;

static void add(uintptr_t first)
{
	if (!address_map_add(&ranges, first, first + 10, (void *)(first + 1)))
		engine_fail("the explorer's fault: a range too many");
}

void finds_open(unsigned room)
{
	static const uintptr_t fixed[FIXED] = {20, 30, 50};

	memset(&ranges, 0, sizeof(ranges));
	/* In memory that is put back with the pool's. */
	for (int i = 0; i < 2; i++) {
		struct range_array *array = os_map(sizeof(*array) + room * sizeof(array->range[0]));

		array->room = room;
		store_relaxed(&ranges.array[i], (uintptr_t)array);
	}
	for (int i = 0; i < FIXED; i++)
		add(fixed[i]);
}

void finds_save(void)
{
	ranges_saved = ranges;
}

void finds_begin(void)
{
	ranges = ranges_saved;
}

void finds_change(char operation)
{
	const uintptr_t first = operation == '+' || operation == '-' ? MIDDLE : FIRST;

	(void)oracle_call();
	if (operation == '+' || operation == '*')
		add(first);
	else
		address_map_remove(&ranges, first);
}

static void look(uintptr_t address, uintptr_t owner, bool may_be_nobody)
{
	const uintptr_t found = (uintptr_t)address_map_find(&ranges, address);

	if (found != owner && (found || !may_be_nobody))
		engine_fail("address %u is said to be owner %u's", (unsigned)address, (unsigned)found);
}

void finds_look(void)
{
	(void)oracle_call();
	look(55, 51, false);
	look(45, 41, true);
	look(29, 21, false);
}
