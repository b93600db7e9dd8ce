/* SPDX-License-Identifier: MIT */
/* retires_judge.c - checks the calls that promise something about earlier retires, and the end. */
#include "retires.h"

#include "retire/retired.h"
#include "verbs.h"

#include "lfpool/report.h"
#include "lfpool/retire.h"

#include <string.h>

/* ---- Draining ---- */

/* Is the object no longer retired? */
static bool is_out(unsigned number)
{
	return !*(const uint32_t *)(const void *)&stage.pool->retired->link[number + 1];
}

/* The call that has ended promises that the object is free, or is being freed: so it is free for this thread. */
static void is_known_free(unsigned number)
{
	struct object *o = &retires.object[number];

	if (o->fate == IS_FREE)
		oracle_known_free(number);
	if (o->fate != IS_GOING)
		return;
	o->fate = IS_FREE;
	oracle_released(number);
	for (struct retire_thread *t = retires.thread; t < retires.thread + THREADS_MAX; t++)
		for (unsigned i = 0; i < t->goings; i++)
			if (t->going[i] == number)
				t->going[i] = t->going[--t->goings];
}

/* Notes the lives of the objects retired before this call. */
static void note_retired(const struct moment *call, uint64_t life_out[OBJECTS_MAX])
{
	for (unsigned i = 0; i < OBJECTS_MAX; i++) {
		const struct object *o = &retires.object[i];
		const bool before = o->all_know && moment_before(&o->retired, call);

		life_out[i] = before && (o->fate == IS_RETIRED || o->fate == IS_GOING || o->fate == IS_FREE) ? o->life
													     : 0;
	}
}

void retires_drain(void)
{
	const struct moment call = retires_begin_call();
	uint64_t life[OBJECTS_MAX];

	note_retired(&call, life);
	if (lfpool_drain(stage.pool) != LFPOOL_OK)
		engine_fail("drain refused");
	for (unsigned i = 0; i < OBJECTS_MAX; i++) {
		if (!life[i] || retires.object[i].life != life[i])
			continue;
		if (retires.object[i].fate == IS_RETIRED || !is_out(i))
			engine_fail("object %u was retired before a drain but is not free after it", i);
		is_known_free(i);
	}
	retires_end_call();
}

void retires_finish(void)
{
	(void)retires_begin_call();
	if (retired_finish(stage.pool->retired, stage.pool) != LFPOOL_OK)
		engine_fail("ending the pool is refused");
	for (uint32_t i = 0; i < stage.pool->retired->shards; i++)
		if (shard_phase(*(const uint64_t *)(const void *)&stage.pool->retired->shard[i].word) != IDLE)
			engine_fail("the pool would be destroyed with a batch left in place %u", i);
	retires_end_call();
}

void retires_poll(void)
{
	const struct moment call = retires_begin_call();
	uint64_t life[OBJECTS_MAX];

	note_retired(&call, life);
	/* The only batch is the one that was retired before. */
	if (lfpool_retire_poll(stage.pool) && strchr(retires_kinds, 'o'))
		for (unsigned i = 0; i < OBJECTS_MAX; i++)
			if (life[i] && retires.object[i].life == life[i])
				is_known_free(i);
	retires_end_call();
}

void retires_turn(void)
{
	(void)retires_begin_call();
	retires_scheme_turn();
	retires_end_call();
}

/* ---- The end ---- */

/* A retire that makes too many objects wait must ask the scheme, if no thread disturbs it and none reads. */
static void check_asked(void)
{
	for (uint32_t i = 0; engine_threads() == 1 && i < stage.pool->retired->shards; i++)
		if (shard_count(load_relaxed(&stage.pool->retired->shard[i].word)) >= RETIRES_PER_POLL)
			engine_fail("at the end too many objects wait, and no call has asked the scheme");
}

void retires_check(void)
{
	const char *violated;
	size_t where;

	if (!retires_kinds)
		return;
	if (retires.common && retires.common_tries && retires.common_retires != 1)
		engine_fail("%u retires of one object succeeded", retires.common_retires);
	if (strchr(retires_kinds, 'r'))
		check_asked();
	/* R2: the scheme's batch, and the next one. */
	for (unsigned i = 0; i < 2; i++)
		strchr(retires_kinds, 'r') ? retires_poll() : retires_turn();
	for (unsigned i = 0; i < OBJECTS_MAX; i++)
		if (retires.object[i].fate == IS_RETIRED)
			engine_fail("at the end object %u is retired, and no call reclaims it", i);
	if (lfpool_quick_stats(stage.pool).retired)
		engine_fail("at the end %zu objects are retired", lfpool_quick_stats(stage.pool).retired);
	violated = lfpool_check(stage.pool, &where);
	if (violated)
		engine_fail("after all is reclaimed, at %zu, %s", where, violated);
}
