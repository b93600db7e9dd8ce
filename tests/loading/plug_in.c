/* SPDX-License-Identifier: MIT */
/* plug_in.c - a plug-in that uses lfpool; the plug-ins differ only in the lfpool that they are linked with. */
#include "plug_in.h"

#include "lfpool/handle.h"
#include "lfpool/wait.h"

#include <unistd.h>

static lfpool_t *left;

static lfpool_t *open_pool(void)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	lfpool_t *pool = NULL;

	config.object_size = PLUG_IN_SIZE;
	config.capacity = PLUG_IN_CAPACITY;
	return lfpool_create(&pool, &config) == LFPOOL_OK ? pool : NULL;
}

static void leave(lfpool_t *pool)
{
	left = pool;
}

__attribute__((destructor)) static void use_and_destroy(void)
{
	void *objects[PLUG_IN_CAPACITY];
	size_t got;

	if (!left)
		return;
	got = lfpool_acquire_bulk(left, objects, PLUG_IN_CAPACITY);
	if (lfpool_release_bulk(left, objects, got) == got && lfpool_destroy(left) == PLUG_IN_CAPACITY - got && got)
		_exit(PLUG_IN_FINE);
}

LFPOOL_API const struct plug_in *plug_in(void)
{
	static const struct plug_in mine = {
		.open = open_pool,
		.destroy = lfpool_destroy,
		.release = lfpool_release,
		.acquire_wait = lfpool_acquire_wait,
		.acquire_bulk = lfpool_acquire_bulk,
		.release_bulk = lfpool_release_bulk,
		.active_count = lfpool_active_count,
		.of = lfpool_of,
		.leave = leave,
	};

	return &mine;
}
