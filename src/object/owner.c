/* SPDX-License-Identifier: MIT */
/*
 * owner.c - see owner.h.  Every order here is relaxed: a record belongs to the slot's holder, and travels with the
 * slot.
 */
#include "object/owner.h"

#include "base/text.h"
#include "os/os.h"

bool owners_open(struct owners *owners, size_t capacity, bool timed, uint32_t one_in)
{
	*owners = (struct owners){.timed = timed, .one_in = one_in};
	if (__builtin_mul_overflow(capacity + 1, sizeof(struct owner_record), &owners->mapped_bytes))
		return false;
	owners->record = os_map(owners->mapped_bytes);
	if (owners->record && one_in)
		callsite_prepare();
	return owners->record != NULL;
}

void owners_close(struct owners *owners)
{
	if (owners->record)
		os_unmap(owners->record, owners->mapped_bytes);
}

/* ---- Recording ---- */

/* One in so many.  relaxed: a number; shared, since a thread-local one could be refused (threads.h). */
static bool sampled(_Atomic(uint32_t) *count, uint32_t one_in)
{
	return one_in && fetch_add_relaxed(count, UINT32_C(1)) % one_in == 0;
}

static NOINLINE void record(const struct owners *owners, struct owner_end *end, bool with_site)
{
	void *frames[OWNER_FRAMES];
	const uint32_t count = with_site ? callsite_find(frames, OWNER_FRAMES) : 0;

	for (uint32_t i = 0; i < count; i++)
		store_relaxed(&end->frame[i], (uintptr_t)frames[i]);
	store_relaxed(&end->frames, count);
	store_relaxed(&end->thread, os_thread_id());
	store_relaxed(&end->when, owners->timed ? os_now_ns() : 0);
}

void owner_acquired(struct owners *owners, uint32_t slot)
{
	struct owner_record *r = &owners->record[slot];

	store_relaxed(&r->label, NULL);
	record(owners, &r->acquired, sampled(&owners->acquires, owners->one_in));
}

void owner_released(struct owners *owners, uint32_t slot)
{
	record(owners, &owners->record[slot].released, sampled(&owners->releases, owners->one_in));
}

/* ---- Writing ---- */

static void put_age(struct text *text, uint64_t when)
{
	const uint64_t now = os_now_ns();
	const uint64_t ms = now > when ? (now - when) / 1000000 : 0;

	text_put(text, " %llu.%03llu s ago", (unsigned long long)(ms / 1000), (unsigned long long)(ms % 1000));
}

void owner_put_site(const struct owner_end *end, struct text *text)
{
	void *frames[OWNER_FRAMES];
	uint32_t count = load_relaxed(&end->frames);

	if (!count)
		return;
	if (count > OWNER_FRAMES)
		count = OWNER_FRAMES;
	for (uint32_t i = 0; i < count; i++)
		frames[i] = (void *)load_relaxed(&end->frame[i]);
	callsite_put(text, frames, count);
}

static void put_end(const struct owner_record *r, const struct owner_end *end, const char *verb, struct text *text)
{
	const uint32_t thread = load_relaxed(&end->thread);
	const uint64_t when = load_relaxed(&end->when);
	const char *label = load_relaxed(&r->label);

	if (!thread)
		return;
	text_put(text, "%s by thread %u", verb, thread);
	if (label)
		text_put(text, " (\"%s\")", label);
	if (when)
		put_age(text, when);
	if (load_relaxed(&end->frames)) {
		text_put(text, " at ");
		owner_put_site(end, text);
	}
	text_put(text, ".");
}

void owner_put_acquired(const struct owners *owners, uint32_t slot, struct text *text)
{
	put_end(&owners->record[slot], &owners->record[slot].acquired, "Acquired", text);
}

void owner_put_released(const struct owners *owners, uint32_t slot, struct text *text)
{
	put_end(&owners->record[slot], &owners->record[slot].released, "Released", text);
}
