/* SPDX-License-Identifier: MIT */
/*
 * create.c - lfpool_create() and lfpool_memory_bytes(), for memory from the system or from the caller.
 *
 * Idea         Creation checks the config, sets up the process (once), and then opens the lifecycle and the pool
 *              (life.c).
 */
#include "api/api.h"
#include "object/debugging.h"
#include "object/lifecycle.h"
#include "os/os.h"
#include "pool/open.h"
#include "pool/threads.h"
#include "waiting/waiters.h"

#include "lfpool/buffer.h"
#include "lfpool/report.h"

bool pool_object_bytes(const lfpool_config_t *config, const struct lifecycle *lifecycle, size_t *bytes_out)
{
	struct arena_plan plan = config_arena_plan(config, &(struct window){0});

	debug_plan(lifecycle_debug(lifecycle), &plan);
	return arena_object_bytes(&plan, bytes_out);
}

/* Is caller-provided memory for the objects large enough, and aligned to pages and to object_alignment? */
static bool fits(const lfpool_config_t *config, const struct lifecycle *lifecycle, const struct window *window)
{
	const size_t page = os_page_bytes(),
		     alignment = config->object_alignment > page ? config->object_alignment : page;
	size_t bytes;

	return (uintptr_t)window->at % alignment == 0 && pool_object_bytes(config, lifecycle, &bytes) &&
	       bytes <= window->bytes;
}

/* Called with an imported config, after process_open(). */
static lfpool_status_t pool_create_at(lfpool_t **pool_out, const lfpool_config_t *config,
				      const struct debug_modes *modes, const struct window *window)
{
	struct lifecycle *lifecycle;

	*pool_out = NULL;
	if (!lifecycle_open(&lifecycle, config, modes))
		return LFPOOL_E_NO_MEMORY;
	if (window->lent && !fits(config, lifecycle, window)) {
		lifecycle_close(lifecycle);
		return LFPOOL_E_BUFFER;
	}
	return pool_open_as(pool_out, config, modes, lifecycle, window);
}

lfpool_status_t pool_create_by(lfpool_t **pool_out, const lfpool_config_t *given, const struct window *window)
{
	lfpool_config_t config;
	struct debug_modes modes;
	bool empty;

	*pool_out = NULL;

	lfpool_status_t status = config_import(&config, &modes, given, &empty);

	if (status != LFPOOL_OK)
		return status;
	status = process_open() ? pool_create_at(pool_out, &config, &modes, window) : LFPOOL_E_NO_MEMORY;
	/* Creation needs at least one object, so a pool with capacity 0 is created with one, which is removed here. */
	if (status == LFPOOL_OK && empty) {
		(void)resize_shrink(*pool_out, thread_cache(*pool_out), 1);
		lfpool_high_water_reset(*pool_out);
	}
	return status;
}

lfpool_status_t lfpool_create(lfpool_t **pool_out, const lfpool_config_t *given)
{
	lfpool_config_t config;

	if (pool_out)
		*pool_out = NULL;
	if (!pool_out || !given)
		return LFPOOL_E_ARGUMENT;
	if (!config_copy(&config, given))
		return LFPOOL_E_CONFIG_STRUCT_SIZE;
	if (config.memory_use == LFPOOL_MEMORY_POOL)
		return pool_create_in_buffer(pool_out, given);
	if (config.memory_use != LFPOOL_MEMORY_OBJECTS || (config.memory_bytes && !config.memory))
		return LFPOOL_E_BUFFER;

	const struct window window = {.at = config.memory, .bytes = config.memory_bytes, .lent = config.memory};

	return pool_create_by(pool_out, given, &window);
}

static size_t object_bytes(const lfpool_config_t *given)
{
	lfpool_config_t config;
	struct debug_modes modes;
	struct lifecycle *lifecycle;
	size_t bytes = 0;
	bool empty;

	if (config_import(&config, &modes, given, &empty) != LFPOOL_OK || !lifecycle_open(&lifecycle, &config, &modes))
		return 0;
	if (!pool_object_bytes(&config, lifecycle, &bytes))
		bytes = 0;
	lifecycle_close(lifecycle);
	return bytes;
}

size_t lfpool_memory_bytes(const lfpool_config_t *given)
{
	lfpool_config_t config;

	if (!given || !config_copy(&config, given))
		return 0;
	return config.memory_use == LFPOOL_MEMORY_POOL ? pool_bytes_in_buffer(given) : object_bytes(given);
}
