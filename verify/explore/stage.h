/* SPDX-License-Identifier: MIT */
/*
 * stage.h - what a scenario plays on: the pool, who holds what, and the operations.
 */
#ifndef EXPLORE_STAGE_H
#define EXPLORE_STAGE_H

#include "scenario.h"

#include "pool/pool.h"

#define HELD_MAX 8

struct actor {
	lfpool_cache_t *cache;
	void *held[HELD_MAX];
	unsigned held_count;
	uint32_t popped[HELD_MAX];
	unsigned popped_count;
	bool bare; /* has popped a magazine, and left its announcement */
};

struct stage {
	const struct scenario *scenario;
	lfpool_t *pool;
	struct actor actor[THREADS_MAX];
	_Atomic(uint64_t) mailbox;
	void *common;                  /* what x and g release                  */
	unsigned common_releases;      /* that succeeded                      */
	lfpool_handle_t common_handle; /* that y has got; 0: none yet        */
	unsigned makers;               /* threads with a y                          */
	uint32_t magazine_out;         /* popped magazines, one bit each        */
	bool loose;                    /* there is an l: who holds what is nobody's to know */
	unsigned resets;               /* of the high-water mark: begun, and ended          */
	unsigned acquired, released;   /* one by one, or by l                          */
};

extern struct stage stage;

struct core *stage_core(void);
/* One letter of a program, by this actor. */
void stage_operate(struct actor *actor, char operation);
/* It is not below what was held at once. */
void stage_check_high_water(void);
/* Pushes back a magazine that the actor has popped: the oldest, or the newest. */
void stage_push_magazine(struct actor *actor, bool oldest);

#endif
