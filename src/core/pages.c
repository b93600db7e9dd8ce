/* SPDX-License-Identifier: MIT */
/*
 * pages.c - see pages.h.
 */
#include "core/pages.h"

#include "os/os.h"

/* ---- Pages and slots ---- */

/* Bytes from the first page to where slot 1 begins. */
static size_t lead(const struct arena *a)
{
	return (size_t)(a->face.zero + a->face.stride - a->front - (uintptr_t)a->objects);
}

static size_t page_of(size_t offset)
{
	return offset / os_page_bytes();
}

/* The slot that has the byte, or the next one if the byte is in no slot; from 1. */
static size_t slot_at(const struct arena *a, size_t offset)
{
	return offset < lead(a) ? 1 : (offset - lead(a)) / a->face.stride + 1;
}

/* Bit `slot - 1` and those up to `last - 1` in the same word. */
static uint64_t mask_of(size_t slot, size_t last)
{
	const size_t first_bit = (slot - 1) % 64, more = last - slot < 63 - first_bit ? last - slot : 63 - first_bit;

	return (more == 63 ? UINT64_MAX : (UINT64_C(1) << (more + 1)) - 1) << first_bit;
}

/* ---- Finding ---- */

/* Can the page be given back: is it still there, with cold slots only? */
static bool is_candidate(const struct cold *c, size_t page, size_t opened)
{
	const struct arena *a = c->arena;
	const size_t bytes = os_page_bytes(), last = slot_at(a, (page + 1) * bytes - 1);

	/* relaxed, here and below: a hint; the holder of the slots checks it. */
	if (load_relaxed(&a->gone[page]) || (last > opened && opened < c->reserved))
		return false;
	for (size_t slot = slot_at(a, page * bytes), end = last < opened ? last : opened; slot <= end;
	     slot = ((slot - 1) / 64 + 1) * 64 + 1) {
		const uint64_t mask = mask_of(slot, end);

		if ((cold_look(c, (slot - 1) / 64) & mask) != mask)
			return false;
	}
	return true;
}

size_t pages_end(const struct cold *c)
{
	return page_of(lead(c->arena) + cold_opened(c) * c->arena->face.stride - 1) + 1;
}

bool pages_next_run(const struct cold *c, size_t *at, size_t most, size_t looks, struct page_run *run_out)
{
	const size_t bytes = os_page_bytes(), opened = cold_opened(c);
	const size_t end = pages_end(c);
	size_t page = *at;

	*run_out = (struct page_run){.from = page, .first_page = page};
	if (page >= end)
		return false;
	while (page < end && page - run_out->from < looks && !is_candidate(c, page, opened))
		page++;
	run_out->first_page = page;
	while (page < end && run_out->pages < most && page - run_out->from < looks && is_candidate(c, page, opened)) {
		run_out->pages++;
		page++;
	}
	*at = page;
	if (run_out->pages) {
		const size_t last = slot_at(c->arena, page * bytes - 1);

		run_out->first_slot = (uint32_t)slot_at(c->arena, run_out->first_page * bytes);
		run_out->last_slot = (uint32_t)(last < opened ? last : opened);
	}
	return true;
}

/* ---- Holding ---- */

/* Takes slots first .. last, until one is not cold; returns that one, or last + 1. */
static uint32_t take_slots(struct cold *c, uint32_t first, uint32_t last)
{
	size_t slot = first;

	while (slot <= last && cold_take_bits(c, (slot - 1) / 64, mask_of(slot, last)))
		slot = ((slot - 1) / 64 + 1) * 64 + 1;
	return slot <= last ? (uint32_t)slot : last + 1;
}

static void give_slots(struct cold *c, uint32_t first, uint32_t end)
{
	for (size_t slot = first; slot < end; slot = ((slot - 1) / 64 + 1) * 64 + 1)
		cold_give_bits(c, (slot - 1) / 64, mask_of(slot, end - 1));
}

bool pages_hold(struct cold *c, const struct page_run *run, struct page_hold *hold_out)
{
	const uint32_t wanted = run->last_slot - run->first_slot + 1;
	uint32_t end;

	/* Slots that are not allowed first: acquires cannot take those anyway. */
	*hold_out = (struct page_hold){.first_slot = run->first_slot, .last_slot = run->last_slot};
	hold_out->borrowed = cold_borrow(c, wanted);
	hold_out->allowed = cold_allowed_take(c, wanted - hold_out->borrowed);
	end = run->first_slot;
	if (hold_out->borrowed + hold_out->allowed == wanted) {
		end = take_slots(c, run->first_slot, run->last_slot);
		if (end > run->last_slot)
			return true;
	}
	hold_out->last_slot = end - 1;
	pages_let_go(c, hold_out);
	return false;
}

void pages_let_go(struct cold *c, const struct page_hold *hold)
{
	/* O1: the bits first. */
	give_slots(c, hold->first_slot, hold->last_slot + 1);
	if (hold->borrowed)
		cold_give_back(c, hold->borrowed);
	if (hold->allowed)
		cold_allowed_add(c, hold->allowed);
}

void pages_mark_gone(struct cold *c, const struct page_run *run)
{
	for (size_t page = run->first_page; page < run->first_page + run->pages; page++)
		/* relaxed: the slots' bits order it. */
		store_relaxed(&c->arena->gone[page], 1);
}

void pages_unmark(struct cold *c, uint32_t slot)
{
	const struct arena *a = c->arena;
	const size_t first = lead(a) + (slot - 1) * (size_t)a->face.stride;

	if (!a->gone)
		return;
	for (size_t page = page_of(first); page <= page_of(first + a->face.stride - 1); page++)
		/* relaxed, both: we hold a slot on the page, so no call gives it back now; others may store the same.
		 * */
		if (load_relaxed(&a->gone[page]))
			store_relaxed(&a->gone[page], 0);
}
