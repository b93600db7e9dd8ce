/* SPDX-License-Identifier: MIT */
/*
 * misuse.c - counts refused releases and findings of debug modes, and reports them to the hook or stderr.  It also has
 *            the text of each status.
 */
#include "pool/pool.h"

#include "base/probes.h"
#include "base/text.h"
#include "core/arena.h"
#include "object/debugging.h"
#include "object/lifecycle.h"
#include "os/os.h"

const char *lfpool_status_string(lfpool_status_t status)
{
	switch (status) {
#define STATUS_CASE(name, value, text) \
	case name: return text;
		LFPOOL_STATUS_MAP(STATUS_CASE)
#undef STATUS_CASE
	}
	return "unknown status";
}

#ifdef LFPOOL_EMBEDDED
static void print(const lfpool_misuse_t *misuse)
{
	(void)misuse;
}
#else
/* Does this status mean that a call was refused? */
static bool is_refusal(lfpool_status_t status)
{
	return (status <= LFPOOL_E_FOREIGN && status > LFPOOL_E_WRITTEN_WHEN_FREE) || status <= LFPOOL_E_NOT_PINNED;
}

static void print(const lfpool_misuse_t *misuse)
{
	char line[DETAIL_BYTES + 512];
	struct text text;

	text_open(&text, line, sizeof(line));
	text_put(&text, "lfpool: pool \"%s\", object %p: %s%s.%s%s  ", misuse->pool_name, misuse->object,
		 lfpool_status_string(misuse->status), is_refusal(misuse->status) ? "; refused" : "",
		 *misuse->detail ? "  " : "", misuse->detail);
	text_put(&text, "Further misuse of this pool is counted, not printed.\n");
	os_print(line);
}

void misuse_invariant(const struct debug_home *home, const char *violated, size_t where)
{
	char detail[DETAIL_BYTES];
	struct text text;

	text_open(&text, detail, sizeof(detail));
	text_put(&text, "%s", violated);
	if (where != SIZE_MAX)
		text_put(&text, ", at %zu", where);
	text_put(&text, ".");
	home->tell(home->pool, &(lfpool_misuse_t){.status = LFPOOL_E_INVARIANT, .detail = detail});
}
#endif

/* Calls the hook; without one, prints the first misuse on stderr. */
static COLD void misuse_say(const lfpool_hooks_t *hooks, const lfpool_misuse_t *misuse)
{
	if (hooks->misuse) {
		/* A release must not change errno, even if the hook does. */
		KEEP_ERRNO();

		hooks->misuse(hooks->context, misuse);
	} else if (misuse->count == 1) {
		print(misuse);
	}
}

lfpool_status_t misuse_tell(lfpool_t *pool, lfpool_misuse_t *misuse)
{
	uint32_t slot;

	misuse->pool = pool;
	misuse->pool_name = pool->name;
	/* relaxed: a statistic.  The call that counts the first misuse also prints it. */
	misuse->count = fetch_add_relaxed(&pool->misuses, (size_t)1) + 1;
	probe_misuse(pool, pool->name, misuse->object, misuse->status);
	misuse->index = SIZE_MAX;
	/* In malloc mode the index remains unknown: the pointer may be foreign, so its label must not be read. */
	if (pool_in_place(pool) && arena_locate(&pool->core.arena, misuse->object, &slot) == LFPOOL_OK)
		misuse->index = slot - 1;
	/* A pool in a buffer prints nothing, because printing enters the kernel. */
	if (pool->hooks.misuse || !arena_in_buffer(&pool->core.arena))
		misuse_say(&pool->hooks, misuse);
	return misuse->status;
}

static void tell_pool(void *pool, lfpool_misuse_t *misuse)
{
	(void)misuse_tell(pool, misuse);
}

static bool is_active(const void *pool, uint32_t slot)
{
	return arena_is_active(&((const lfpool_t *)pool)->core.arena, slot);
}

struct debug_home misuse_home(lfpool_t *pool)
{
	const struct arena *arena = &pool->core.arena;

	return (struct debug_home){
		.range = {arena->zero, arena->stride, arena->front, arena->slots},
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
	if (!EMBEDDED && debug && status == LFPOOL_E_NOT_IN_USE &&
	    arena_locate(&pool->core.arena, object, &slot) == LFPOOL_OK)
		debug_put_released(debug, slot, &text);
	return misuse_tell(pool, &(lfpool_misuse_t){.object = object, .status = status, .detail = detail});
}
