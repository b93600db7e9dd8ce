/* SPDX-License-Identifier: MIT */
/* ledger.c - the oracle: stamps in the objects, and marks outside them. */
#include "ledger.h"
#include "round.h"

#include "lfpool/report.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define HELD UINT64_C(1)

/* For messages: the thread and the sequence in a token. */
#define TOKEN_FORMAT "thread %u, acquisition %" PRIu64
#define TOKEN_PARTS(token) (unsigned)((token) >> 48) - 1, (token) << 16 >> 17

void ledger_open(const lfpool_config_t *config)
{
	bool lockfree = options.backend == LFPOOL_BACKEND_LOCKFREE;
	size_t entries = 8;

	current.ledger = (struct ledger){
		.object_size = config->object_size,
		.alignment = config->object_alignment ? config->object_alignment : _Alignof(max_align_t),
		.capacity = current.most,
		.kept = lockfree && !(config->flags & LFPOOL_ZERO),
		.zeroed = config->flags & LFPOOL_ZERO,
		.trimmed = current.trims,
		.page_bytes = (size_t)sysconf(_SC_PAGESIZE),
		.off = options.history_only,
	};
	if (current.ledger.off || options.backend == LFPOOL_BACKEND_MALLOC)
		return;
	while (entries < current.most * 2)
		entries *= 2;
	current.ledger.entries = round_memory(entries, sizeof(*current.ledger.entries));
	current.ledger.entry_count = entries;
}

/* ---- Stamps ---- */

void stamp_write(unsigned char *object, size_t size, uint64_t token)
{
	size_t at = 0;

	for (; at + sizeof(token) <= size; at += sizeof(token))
		memcpy(object + at, &token, sizeof(token));
	memcpy(object + at, &token, size - at);
}

/* Offset of the first byte at or after `at` that is not as stamped, or `size`. */
static size_t stamp_differs_at(const unsigned char *object, size_t at, size_t size, uint64_t token)
{
	unsigned char bytes[sizeof(token)];
	uint64_t word;

	for (; at % sizeof(word) == 0 && at + sizeof(word) <= size; at += sizeof(word)) {
		memcpy(&word, object + at, sizeof(word));
		if (word != token)
			break;
	}
	memcpy(bytes, &token, sizeof(bytes));
	while (at < size && object[at] == bytes[at % sizeof(bytes)])
		at++;
	return at;
}

/* The same for an object that was free and may have been trimmed: each page is as stamped, or all zero. */
static size_t free_differs_at(const unsigned char *object, uint64_t token)
{
	const size_t size = current.ledger.object_size, page = current.ledger.page_bytes;
	size_t end;

	for (size_t at = 0; at < size; at = end) {
		size_t differs;

		end = at + page - ((uintptr_t)object + at) % page;
		if (end > size)
			end = size;
		differs = stamp_differs_at(object, at, end, token);
		if (differs != end && stamp_differs_at(object, at, end, 0) != end)
			return differs;
	}
	return size;
}

static bool stamp_check(const unsigned char *object, uint64_t token, bool is_free, const char *when)
{
	size_t at = is_free && current.ledger.trimmed ? free_differs_at(object, token)
						      : stamp_differs_at(object, 0, current.ledger.object_size, token);

	if (at == current.ledger.object_size)
		return true;
	if (token)
		violation("object %p damaged %s: byte %zu is 0x%02x, not its stamp (" TOKEN_FORMAT ")",
			  (const void *)object, when, at, object[at], TOKEN_PARTS(token));
	else
		violation("object %p damaged %s: byte %zu is 0x%02x, not 0", (const void *)object, when, at,
			  object[at]);
	return false;
}

bool ledger_stamped(const unsigned char *object, uint64_t token, const char *when)
{
	return stamp_check(object, token, false, when);
}

/* ---- Marks ---- */

/* The object's mark, made on its first acquisition; NULL (reported) when there are more objects than there can be. */
static _Atomic(uint64_t) *mark_of(void *object)
{
	uintptr_t address = (uintptr_t)object;
	size_t at = (size_t)((uint64_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	for (size_t probes = 0; probes < current.ledger.entry_count; probes++, at++) {
		struct ledger_entry *entry = &current.ledger.entries[at & (current.ledger.entry_count - 1)];
		/* relaxed, here and below: the address never changes and publishes nothing. */
		uintptr_t found = load_relaxed(&entry->object);

		if (!found && compare_exchange_relaxed(&entry->object, &found, address)) {
			if (add_relaxed(&current.ledger.distinct, 1) >= current.ledger.capacity)
				break;
			return &entry->mark;
		}
		if (found == address)
			return &entry->mark;
	}
	violation("object %p is one more than the capacity of %zu different objects", object, current.ledger.capacity);
	return NULL;
}

/* Marks the object as held and gives its last token; false (reported) when a thread holds it. */
static bool mark_take(void *object, uint64_t token, struct held *held, uint64_t *last_out)
{
	held->mark = mark_of(object);
	if (!held->mark)
		return false;

	/* relaxed, both: must not add an edge that the library has to provide. */
	uint64_t last = load_relaxed(held->mark);
	if (!(last & HELD) && compare_exchange_relaxed(held->mark, &last, token | HELD)) {
		*last_out = last;
		return true;
	}
	violation("object %p granted twice: already held (" TOKEN_FORMAT "), now also (" TOKEN_FORMAT ")", object,
		  TOKEN_PARTS(last), TOKEN_PARTS(token));
	return false;
}

/* ---- The life of a held object ---- */

bool ledger_take(void *object, uint64_t token, struct held *held_out)
{
	struct held held = {.object = object, .token = token};
	uint64_t last = 0;

	if (current.ledger.off) {
		*held_out = held;
		return true;
	}
	if ((uintptr_t)object % current.ledger.alignment != 0) {
		violation("object %p is not aligned to %zu", object, current.ledger.alignment);
		return false;
	}
	if (current.ledger.entries && !mark_take(object, token, &held, &last))
		return false;
	if ((current.ledger.kept || current.ledger.zeroed) &&
	    !stamp_check(held.object, current.ledger.zeroed ? 0 : last, true, "while it was free"))
		return false;
	stamp_write(held.object, current.ledger.object_size, token);
	*held_out = held;
	return true;
}

bool ledger_check(const struct held *held, const char *when)
{
	if (current.ledger.off)
		return true;
	/* relaxed: this thread wrote it, or the one that handed the object over did. */
	if (held->mark && load_relaxed(held->mark) != (held->token | HELD)) {
		violation("object %p, held (" TOKEN_FORMAT "), is marked as held by another", (void *)held->object,
			  TOKEN_PARTS(held->token));
		return false;
	}
	return stamp_check(held->object, held->token, false, when);
}

struct held ledger_found(void *object)
{
	struct held held = {.object = object};

	/* relaxed: see ledger.h. */
	if (current.ledger.entries && (held.mark = mark_of(object)))
		held.token = load_relaxed(held.mark) & ~HELD;
	else
		memcpy(&held.token, object, sizeof(held.token));
	return held;
}

bool ledger_look(const struct held *seen)
{
	/* relaxed: a reader inside its section cannot see a later mark. */
	const uint64_t mark = seen->mark ? load_relaxed(seen->mark) : seen->token;

	if ((mark & ~HELD) != seen->token) {
		violation("object %p (" TOKEN_FORMAT ") was acquired anew (" TOKEN_FORMAT ") while it was read",
			  (void *)seen->object, TOKEN_PARTS(seen->token), TOKEN_PARTS(mark));
		return false;
	}
	return stamp_check(seen->object, seen->token, false, "while it was read");
}

bool ledger_left(const struct held *seen)
{
	/* relaxed: as above. */
	return seen->mark && load_relaxed(seen->mark) != (seen->token | HELD);
}

bool ledger_take_over(struct held *held, uint64_t token)
{
	bool sound = ledger_check(held, "on its way between two threads");

	held->token = token;
	if (current.ledger.off)
		return sound;
	if (held->mark)
		/* relaxed: no other thread may look at the mark until this one hands the object on. */
		store_relaxed(held->mark, token | HELD);
	stamp_write(held->object, current.ledger.object_size, token);
	return sound;
}

bool ledger_leave(struct held *held)
{
	bool sound = ledger_check(held, "while it was held");

	if (held->mark)
		/* relaxed: the release that follows publishes it. */
		store_relaxed(held->mark, held->token);
	return sound;
}

bool ledger_end(const struct held *held)
{
	uint64_t marked = held->token | HELD;

	if (!held->mark)
		return true;
	/* relaxed: as ledger_leave(). */
	return compare_exchange_relaxed(held->mark, &marked, held->token);
}

size_t ledger_held(void)
{
	size_t count = 0;

	for (size_t i = 0; i < current.ledger.entry_count; i++)
		count += (size_t)(load_relaxed(&current.ledger.entries[i].mark) & HELD);
	return count;
}
