/* SPDX-License-Identifier: MIT */
/*
 * layout.c - see layout.h.
 */
#include "core/layout.h"

#include "os/os.h"

size_t layout_stride(size_t bytes, size_t alignment, bool plain)
{
	const size_t stride = round_up(bytes < LFPOOL_STRIDE_LEAST_ ? LFPOOL_STRIDE_LEAST_ : bytes, alignment);

	return plain ? stride : LFPOOL_STRIDE_SPREAD_(stride, alignment);
}

#ifdef __SIZEOF_INT128__
uint64_t layout_inverse(uint64_t stride)
{
	return UINT64_MAX / stride + 1;
}

/* For a slot number s the product (s * stride) * inverse is s * 2^64 + s * excess.  While the second part is below the inverse, up
 * to one slot more than there are, no other offset gives such a product: docs/design.md, "The arena". */
static bool is_exact(size_t stride, size_t slots)
{
	const uint64_t inverse = layout_inverse(stride), excess = inverse * stride;

	return (uint64_t)slots + 1 < inverse / (excess ? excess : 1);
}
#else
/* Newton's iteration doubles the right bits, from 5. */
uint64_t layout_inverse(uint64_t stride)
{
	const uint64_t odd = stride >> __builtin_ctzll(stride);
	uint64_t inverse = odd * 3 ^ 2;

	for (int right_bits = 5; right_bits < 64; right_bits *= 2)
		inverse *= 2 - odd * inverse;
	return inverse;
}

/* The inverse of an odd number is exact. */
static bool is_exact(size_t stride, size_t slots)
{
	(void)stride, (void)slots;
	return true;
}
#endif

size_t layout_slots_bytes(size_t stride, size_t front, size_t count)
{
	return round_up(front + count * stride, os_page_bytes());
}

size_t layout_slack(const struct arena_plan *plan)
{
	return plan->object_alignment > CACHE_LINE_PAIR ? plan->object_alignment - CACHE_LINE_PAIR : 0;
}

/* The least stride, from this one on, with which lfpool_slot_of() is exact, in steps of a thousandth; a power of two always is.
 * 0: none fits, or none but the rule's will do: plain, or in a buffer, whose bytes LFPOOL_BUFFER_BYTES tells. */
static size_t exact_stride(size_t stride, const struct arena_plan *plan)
{
	const size_t part = power_of_two_at_most(stride) / 1024;
	const size_t step = part > plan->object_alignment ? part : plan->object_alignment;

	while (!is_exact(stride, plan->reserved)) {
		if (plan->plain_stride || plan->window.whole || stride > UINT32_MAX - step)
			return 0;
		stride = round_up(stride + 1, step);
	}
	return stride;
}

/* The sizes of a slot, and where the states and the generations lie, these in multiples of `grain`; false when there is no such
 * number of bytes. */
static bool lay_out_front(struct layout *l, const struct arena_plan *plan, size_t grain)
{
	const size_t least = plan->object_size < plan->stride_minimum ? plan->stride_minimum : plan->object_size;
	const size_t states = plan->reserved + 1;
	size_t bytes;

	l->stride = layout_stride(plan->front_bytes + least + plan->back_bytes, plan->object_alignment, plan->plain_stride);
	l->stride = exact_stride(l->stride, plan);
	l->front = round_up(plan->front_bytes, plan->object_alignment);
	/* A pair of lines for the word of demand, and for the state of slot 0, so that slot 1, the first of a chunk, begins one. */
	l->states = round_up(plan->room_bytes, CACHE_LINE_PAIR) + LFPOOL_WANTED_BEFORE;
	if (!l->stride || __builtin_add_overflow(l->states, states + grain - 1, &l->generations) ||
	    __builtin_mul_overflow(states, sizeof(uint64_t), &bytes))
		return false;
	l->generations &= ~(grain - 1);
	return !__builtin_add_overflow(l->generations, bytes, &l->gone);
}

bool lay_out(struct layout *l, const struct arena_plan *plan)
{
	const size_t page = os_page_bytes(), grain = plan->backing & LFPOOL_HUGE_PAGES ? HUGE_PAGE_BYTES : page;
	size_t object_bytes;

	if (!lay_out_front(l, plan, page) || __builtin_mul_overflow(plan->reserved, l->stride, &object_bytes) ||
	    __builtin_add_overflow(object_bytes, l->front + page, &object_bytes))
		return false;
	l->objects = layout_slots_bytes(l->stride, l->front, plan->reserved);
	if (__builtin_add_overflow(l->gone, l->objects / page + 2 * page + grain, &l->before))
		return false;
	l->touched = round_up(l->gone, page);
	l->opened = round_up(l->gone + l->objects / page, page);
	l->before = round_up(l->opened + page, grain);
	if (plan->window.at) {
		l->mapped = l->before;
		return l->objects <= plan->window.bytes;
	}
	return !__builtin_add_overflow(l->before + page, l->objects, &l->mapped);
}

bool lay_out_in_buffer(struct layout *l, const struct arena_plan *plan)
{
	if (!lay_out_front(l, plan, CACHE_LINE_PAIR) ||
	    __builtin_add_overflow(l->gone, CACHE_LINE_PAIR - 1 + layout_slack(plan), &l->before) ||
	    __builtin_mul_overflow(plan->reserved, l->stride, &l->objects) ||
	    __builtin_add_overflow(l->objects, l->front, &l->objects))
		return false;
	l->touched = l->gone;
	/* Where the objects begin at the latest. */
	l->before = round_up(l->gone, CACHE_LINE_PAIR) + layout_slack(plan);
	return !__builtin_add_overflow(l->before, l->objects, &l->mapped);
}

size_t arena_buffer_bytes(const struct arena_plan *plan)
{
	struct layout l;

	return lay_out_in_buffer(&l, plan) ? l.mapped : 0;
}

bool arena_object_bytes(const struct arena_plan *plan, size_t *bytes_out)
{
	struct layout l;

	if (!lay_out(&l, plan))
		return false;
	*bytes_out = l.objects;
	return true;
}
