/* SPDX-License-Identifier: MIT */
/*
 * by_hand.h - histories that no pool has produced: written down call by call, and given to the checker.
 */
#ifndef VERIFY_HISTORY_BY_HAND_H
#define VERIFY_HISTORY_BY_HAND_H

#include "stress/history_check.h"
#include "stress/text.h"

#include <string.h>

#define HAND_LOGS 8
#define HAND_ROOM 512

struct hand {
	struct history_log logs[HAND_LOGS];
	struct history_record records[HAND_LOGS][HAND_ROOM];
	_Atomic(bool) full;
	char text[TEXT_BYTES]; /* of the first fault */
};

/* Objects are numbers from 1. */
static inline const void *hand_object(uintptr_t number)
{
	return (const void *)number;
}

static inline void hand_clear(struct hand *hand)
{
	for (uint32_t i = 0; i < HAND_LOGS; i++)
		hand->logs[i] = (struct history_log){
			.records = hand->records[i],
			.limit = HAND_ROOM,
			.room = HAND_ROOM,
			.number = i,
			.full = &hand->full,
		};
	hand->text[0] = '\0';
}

static inline struct hold hand_acquire(struct hand *hand, unsigned thread, uint64_t begin, uint64_t end, uintptr_t object)
{
	return history_acquired(&hand->logs[thread], begin, end, hand_object(object));
}

static inline void hand_release(struct hand *hand, unsigned thread, uint64_t begin, uint64_t end, uintptr_t object,
				struct hold hold)
{
	history_released(&hand->logs[thread], begin, end, hand_object(object), hold);
}

static inline void hand_null(struct hand *hand, unsigned thread, uint64_t begin, uint64_t end)
{
	history_null(&hand->logs[thread], begin, end);
}

static inline void hand_found(void *context, enum history_fault fault, const char *text)
{
	struct hand *hand = context;

	(void)fault;
	memcpy(hand->text, text, strlen(text) + 1);
}

static inline struct history_counts hand_check(struct hand *hand, size_t capacity, bool fixed, bool ended)
{
	struct history_terms terms = {.capacity = capacity, .fixed = fixed, .ended = ended, .keeper = HAND_LOGS - 1};

	return history_check(hand->logs, HAND_LOGS, &terms, hand_found, hand, 1);
}

_Noreturn void history_overflow(const struct history_log *log)
{
	fprintf(stderr, "log %u is full\n", log->number);
	exit(3);
}

#endif
