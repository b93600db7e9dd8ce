/* SPDX-License-Identifier: MIT */
/*
 * misuse.c - a release was refused, or a debug mode found something: count it, and tell of it (misuse_say.c).
 */
#include "object/misuse.h"

#include "base/probes.h"
#include "base/text.h"
#include "core/arena.h"
#include "object/lifecycle.h"
#include "pool/pool.h"

lfpool_status_t misuse_tell(lfpool_t *pool, lfpool_misuse_t *misuse)
{
	uint32_t slot;

	misuse->pool = pool;
	misuse->pool_name = pool->name;
	/* relaxed: a statistic, and who came first. */
	misuse->count = fetch_add_relaxed(&pool->misuses, (size_t)1) + 1;
	probe_misuse(pool, pool->name, misuse->object, misuse->status);
	misuse->index = SIZE_MAX;
	/* What a heap's object is, only a look before it would tell: it may be foreign. */
	if (pool_in_place(pool) && arena_locate(pool->arena, misuse->object, &slot) == LFPOOL_OK)
		misuse->index = slot - 1;
	/* A line on stderr enters the kernel. */
	if (pool->hooks.misuse || !pool->arena->in_buffer)
		misuse_say("pool", &pool->hooks, misuse);
	return misuse->status;
}

static void tell_pool(void *pool, lfpool_misuse_t *misuse)
{
	(void)misuse_tell(pool, misuse);
}

static bool is_active(const void *pool, uint32_t slot)
{
	return arena_is_active(((const lfpool_t *)pool)->arena, slot);
}

struct debug_home misuse_home(lfpool_t *pool)
{
	const struct arena *arena = pool->arena;

	return (struct debug_home){
		.range = {arena->face.zero, arena->face.stride, arena->front, arena->face.slots},
		.name = pool->name,
		.tells_each = pool->hooks.misuse,
		.pool = pool,
		.tell = tell_pool,
		.is_active = is_active,
	};
}

lfpool_status_t misuse_report(lfpool_t *pool, const void *object, lfpool_status_t status)
{
	const struct debug *debug = lifecycle_debug(pool->lifecycle);
	char detail[DETAIL_BYTES];
	struct text text;
	uint32_t slot;

	text_open(&text, detail, sizeof(detail));
	if (debug && status == LFPOOL_E_NOT_IN_USE && arena_locate(pool->arena, object, &slot) == LFPOOL_OK)
		debug_put_released(debug, slot, &text);
	return misuse_tell(pool, &(lfpool_misuse_t){.object = object, .status = status, .detail = detail});
}

lfpool_status_t pool_release(lfpool_t *pool, void *object)
{
	if (!object)
		return LFPOOL_OK;

	lfpool_status_t status = pool->backend->release(pool, object);

	return likely(status == LFPOOL_OK) ? status : misuse_report(pool, object, status);
}
