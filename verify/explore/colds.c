/* SPDX-License-Identifier: MIT */
/*
 * colds.c - see colds.h.
 */
#include "colds.h"

#include "core/cold_counts.h"
#include "oracle.h"
#include "verbs.h"

#include <string.h>

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
	_Atomic(uint8_t) gone[RESERVED + 2];
	bool held[RESERVED + 1];
} colds, colds_saved;

void colds_open(void)
{
	memset(&colds, 0, sizeof(colds));
	/* Nobody looks at the objects. */
	colds.arena.face.stride = STRIDE;
	colds.arena.gone = colds.gone;
	memset(colds.held, true, INITIAL + 1);
	cold_open(&colds.cold, &colds.arena, INITIAL, RESERVED, colds.bits);
}

void colds_save(void)
{
	colds_saved = colds;
}

void colds_begin(void)
{
	colds = colds_saved;
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

/* Of those that are opened no more can be objects. */
static void borrow(void)
{
	const uint32_t borrowed = cold_borrow(&colds.cold, RESERVED);

	if (cold_capacity_in(colds.cold.counts) > colds.cold.opened)
		engine_fail("%u slots are borrowed: more than are open", (unsigned)borrowed);
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
		engine_fail("afterwards %zu slots are cold, %zu are allowed, %zu not", bits, allowed, opened - capacity);
	if (capacity != held + allowed)
		engine_fail("afterwards %zu objects, %zu of them cold, %zu taken", capacity, allowed, held);
}
