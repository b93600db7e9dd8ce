/* SPDX-License-Identifier: MIT */
/*
 * parts.c - see stage.h.
 */
#include "stage.h"

#include "core/cold.h"
#include "oracle.h"
#include "os/os.h"
#include "pool/live_pools.h"
#include "set/pool_set.h"
#include "verbs.h"

#include <string.h>

/* ---- The cold store ---- */

#define STRIDE 4096
#define INITIAL 64
#define RESERVED (INITIAL + 256)
#define WORDS ((RESERVED + 63) / 64)
#define TAKEN_MAX 8

static struct colds {
	struct cold cold;
	struct arena arena;
	_Atomic(uint64_t) bits[WORDS];
	uint32_t taken[THREADS_MAX][TAKEN_MAX];
	unsigned count[THREADS_MAX];
	_Atomic(uint8_t) dirty[RESERVED + 2];
	bool held[RESERVED + 1];
} colds;

void colds_open(void)
{
	memset(&colds, 0, sizeof(colds));
	os_play_keep(&colds, sizeof(colds));
	/* The objects are never read or written. */
	colds.arena.stride = STRIDE;
	colds.arena.dirty = colds.dirty;
	memset(colds.held, true, INITIAL + 1);
	cold_open(&colds.cold, &colds.arena, INITIAL, INITIAL, RESERVED, colds.bits);
}

static void take(unsigned thread)
{
	const uint32_t slot = cold_take(&colds.cold);

	if (!slot)
		return;
	if (slot > RESERVED || colds.held[slot]) {
		engine_fail("slot %u is taken out of the cold store", (unsigned)slot);
		return;
	}
	os_play_use(arena_object(&colds.arena, slot));
	explore_plain(&colds.held[slot], true);
	colds.held[slot] = true;
	colds.taken[thread][colds.count[thread]++] = slot;
}

static void give(unsigned thread, void (*where)(struct cold *, uint32_t))
{
	const uint32_t slot = colds.count[thread] ? colds.taken[thread][--colds.count[thread]] : INITIAL;

	if (!colds.held[slot])
		return;
	explore_plain(&colds.held[slot], true);
	colds.held[slot] = false;
	where(&colds.cold, slot);
}

/* The capacity and the borrowed slots together may not exceed the opened slots. */
static void borrow(void)
{
	const uint32_t borrowed = cold_borrow(&colds.cold, RESERVED);

	if (cold_capacity_in(colds.cold.counts) > colds.cold.opened)
		engine_fail("%u slots are borrowed, more than are committed", (unsigned)borrowed);
	if (borrowed)
		cold_give_back(&colds.cold, borrowed);
}

void colds_operate(char operation)
{
	const unsigned thread = engine_thread();

	(void)oracle_call();
	switch (operation) {
	case '{': (void)cold_grow(&colds.cold, 1, COLD_ANY); break;
	case '}': take(thread); break;
	case '[': give(thread, cold_put); break;
	case ']': give(thread, cold_withdraw); break;
	case '=': borrow(); break;
	default: (void)cold_forbid(&colds.cold, 1); break;
	}
}

void colds_check(void)
{
	size_t bits = 0, held = 0;
	const size_t opened = cold_opened(&colds.cold);
	const size_t allowed = cold_allowed(&colds.cold), capacity = cold_capacity(&colds.cold);

	for (unsigned i = 0; i < opened; i++)
		bits += cold_look(&colds.cold, i / 64) >> i % 64 & 1;
	for (unsigned slot = 1; slot <= RESERVED; slot++)
		held += colds.held[slot];
	if (bits != allowed + opened - capacity)
		engine_fail("at the end %zu slots are cold, %zu allowed, %zu not", bits, allowed, opened - capacity);
	if (capacity != held + allowed)
		engine_fail("at the end %zu objects, %zu of them cold, %zu taken", capacity, allowed, held);
}

/* ---- The address map ---- */

#define FIXED 3
/* Ranges are 10 addresses long and adjacent: [10,] 20, 30, [40,] 50. A range of 2 addresses, [52], is inside the last
 * one.  The owner is a number. */
#define FIRST 10
#define MIDDLE 40
#define INSIDE 52

static struct address_map ranges;

static void add(uintptr_t first)
{
	if (!address_map_add(&ranges, first, first + (first == INSIDE ? 2 : 10), (void *)(first + 1)))
		engine_fail("the explorer's fault: a range too many");
}

void finds_open(unsigned room)
{
	static const uintptr_t fixed[FIXED] = {20, 30, 50};

	memset(&ranges, 0, sizeof(ranges));
	os_play_keep(&ranges, sizeof(ranges));
	/* The arrays are in memory that is restored with the pool. */
	for (int i = 0; i < 2; i++) {
		struct range_array *array = os_map(sizeof(*array) + room * sizeof(array->range[0]));

		array->room = room;
		store_relaxed(&ranges.array[i], (uintptr_t)array);
	}
	for (int i = 0; i < FIXED; i++)
		add(fixed[i]);
}

void finds_change(char operation)
{
	const char *const operations = "+-*/()";
	static const uintptr_t places[] = {MIDDLE, FIRST, INSIDE};
	const size_t which = (size_t)(strchr(operations, operation) - operations);
	const uintptr_t first = places[which / 2];

	(void)oracle_call();
	if (which % 2 == 0)
		add(first);
	else
		address_map_remove(&ranges, first, (void *)(first + 1));
}

static void look(uintptr_t address, uintptr_t owner, uintptr_t or_owner)
{
	const uintptr_t found = (uintptr_t)address_map_find(&ranges, address);

	if (found != owner && found != or_owner)
		engine_fail("address %u is reported as owner %u's", (unsigned)address, (unsigned)found);
}

void finds_look(void)
{
	(void)oracle_call();
	look(55, 51, 51);
	look(53, 51, INSIDE + 1);
	look(45, 41, 0);
	look(29, 21, 21);
}

/* ---- The set's classes ---- */

/* A set of one class. */
static _Alignas(CACHE_LINE_PAIR) char memory[sizeof(struct lfpool_set_t) + sizeof(struct set_class)];
static struct lfpool_set_t *const set = (struct lfpool_set_t *)(void *)memory;
static char contents[64];
static lfpool_t *const pool = (lfpool_t *)(void *)contents;

void sets_open(void)
{
	memset(memory, 0, sizeof(memory));
	os_play_keep(memory, sizeof(memory));
}

void sets_make(void)
{
	(void)oracle_call();
	plain_written(contents);
	set_publish(set, 0, pool);
}

void sets_look(void)
{
	(void)oracle_call();

	const lfpool_t *found = set_pool(set, 0);

	if (!found)
		return;
	plain_read(contents);
	if (found != pool)
		engine_fail("a class has a wrong pool");
}
