/* SPDX-License-Identifier: MIT */
/*
 * cold_bits.c - which slots are cold: the bits of the cold store, see cold.h.
 */
#include "core/cold_counts.h"

/* Of the slots of this word, those beyond the first `initial`: their bits are the other way round. */
static uint64_t inverted(const struct cold *c, uint64_t word)
{
	if ((word + 1) * 64 <= c->initial)
		return 0;
	return word * 64 >= c->initial ? UINT64_MAX : UINT64_MAX << c->initial % 64;
}

uint64_t cold_look(const struct cold *c, uint64_t word)
{
	/* relaxed: a look; a call that wants a slot takes it by CAS. */
	return load_relaxed(&c->bits[word]) ^ inverted(c, word);
}

void cold_give_bits(struct cold *c, uint64_t word, uint64_t bits)
{
	/* relaxed: a stale word costs one failed CAS. */
	uint64_t now = load_relaxed(&c->bits[word]);

	/* release, edge COLD: what its holder did with the slot.  Repeats only when another thread changed the word.
	 * (The bits are not cold: the caller holds the slots.) */
	while (!cas_weak_release(&c->bits[word], &now, now ^ bits))
		;
}

bool cold_take_bits(struct cold *c, uint64_t word, uint64_t bits)
{
	const uint64_t flip = inverted(c, word);
	/* relaxed: a look before the CAS. */
	uint64_t now = load_relaxed(&c->bits[word]);

	while (((now ^ flip) & bits) == bits)
		/* acquire, edge COLD.  Repeats only when another thread changed the word. */
		if (cas_acquire(&c->bits[word], &now, now ^ bits))
			return true;
	return false;
}

uint32_t cold_take_any(struct cold *c)
{
	/* relaxed: a hint. */
	uint64_t word = load_relaxed(&c->hint);

	/* Repeats only when others took or gave some (O1). */
	for (;; word++) {
		/* Anew each time: what the count promises lies below what was opened before the count was raised, but others
		 * may have taken that, and what is left lies in pages that were opened since.  acquire, edge OPEN: those
		 * pages, of which the count says nothing. */
		const uint64_t opened = load_acquire(&c->opened);

		if (word >= (opened + 63) / 64)
			word = 0;

		uint64_t bits = cold_look(c, word);

		if (word == opened / 64)
			bits &= (UINT64_C(1) << opened % 64) - 1;
		if (!bits || !cold_take_bits(c, word, bits & -bits))
			continue;
		/* relaxed: a hint. */
		store_relaxed(&c->hint, word);
		return (uint32_t)(word * 64 + (unsigned)__builtin_ctzll(bits) + 1);
	}
}
