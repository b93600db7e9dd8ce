/* SPDX-License-Identifier: MIT */
/*
 * window.c - pools whose objects are in a chosen range of addresses, see window.h.
 *
 * Progress     All sets share one lock, which a call holds while it makes a pool in a window.  Calls take this lock
 *              first, then the registry's, then the lock of the live pools.
 */
#include "api/window.h"

#include "api/api.h"
#include "object/lifecycle.h"
#include "os/os.h"
#include "pool/open.h"

static os_mutex_t making = OS_MUTEX_INITIALIZER;

void windows_lock(void)
{
	os_mutex_lock(&making);
}

void windows_unlock(void)
{
	os_mutex_unlock(&making);
}

uint64_t window_pool_id(const lfpool_t *pool)
{
	return pool->head.id;
}

uintptr_t window_pool_at(const lfpool_t *pool)
{
	return pool->head.in_tables;
}

/* ---- Addresses ---- */

bool windows_open(struct windows *w, size_t count, size_t most, size_t alignment)
{
	size_t bytes;

	*w = (struct windows){0};
	/* No huge page spans two windows, and each window is aligned for an object. */
	alignment = larger_of(alignment, HUGE_PAGE_BYTES);
	while (w->shift < 8 * sizeof(size_t) - 1 && (size_t)1 << w->shift < most)
		w->shift++;
	/* A page without access precedes the first window. */
	if ((size_t)1 << w->shift < most || __builtin_mul_overflow((size_t)1 << w->shift, count, &bytes) ||
	    __builtin_add_overflow(bytes, alignment + os_page_bytes(), &bytes))
		return false;
	w->reserved = os_reserve(bytes);
	if (!w->reserved)
		return false;
	w->reserved_bytes = bytes;
	w->base = round_up((uintptr_t)w->reserved + os_page_bytes(), alignment);
	w->count = (uint32_t)count;
	return true;
}

void windows_close(struct windows *w)
{
	if (w->reserved)
		os_unmap(w->reserved, w->reserved_bytes);
	*w = (struct windows){0};
}

struct window_range window_range(const struct windows *w, size_t number)
{
	return (struct window_range){
		.at = (char *)(w->base + ((uintptr_t)number << w->shift)),
		.bytes = ((size_t)1 << w->shift) - os_page_bytes(), /* Y2 */
	};
}

/* ---- Pools ---- */

lfpool_status_t window_bytes(const lfpool_config_t *given, size_t *bytes_out)
{
	lfpool_config_t config;
	struct debug_modes modes;
	struct lifecycle *lifecycle;
	size_t bytes;
	bool empty;
	const lfpool_status_t status = config_import(&config, &modes, given, &empty);

	*bytes_out = 0;
	if (status != LFPOOL_OK || config.backend == LFPOOL_BACKEND_MALLOC)
		return status;
	if (!lifecycle_open(&lifecycle, &config, &modes))
		return LFPOOL_E_NO_MEMORY;
	if (!pool_object_bytes(&config, lifecycle, &bytes) || __builtin_add_overflow(bytes, os_page_bytes(), bytes_out))
		*bytes_out = SIZE_MAX;
	/* With huge pages each window has to begin at a huge page, so it is not smaller than one. */
	else if (config.flags & LFPOOL_HUGE_PAGES)
		*bytes_out = larger_of(*bytes_out, HUGE_PAGE_BYTES);
	lifecycle_close(lifecycle);
	return LFPOOL_OK;
}

static bool objects_fit(const lfpool_config_t *given, size_t objects, struct window_range range)
{
	lfpool_config_t config = *given;
	size_t bytes;

	config.max_capacity = objects;
	config.capacity = config.capacity < objects ? config.capacity : objects;
	return window_bytes(&config, &bytes) != LFPOOL_OK || bytes <= range.bytes + os_page_bytes();
}

void window_fit(lfpool_config_t *config, struct window_range range)
{
	size_t low = 1, high = larger_of(config->max_capacity, config->capacity);

	if (objects_fit(config, high, range))
		return;
	/* `low` objects fit, or `low` is 1.  `high` objects do not fit. */
	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (objects_fit(config, middle, range))
			low = middle;
		else
			high = middle;
	}
	config->max_capacity = low;
	config->capacity = config->capacity < low ? config->capacity : low;
}

lfpool_status_t window_create_pool(lfpool_t **pool_out, const lfpool_config_t *config, struct window_range range)
{
	const struct window window = {.at = range.at, .bytes = range.bytes};
	lfpool_status_t status;

	*pool_out = NULL;
	if (!objects_fit(config, larger_of(config->max_capacity, config->capacity), range))
		return LFPOOL_E_BUFFER;
	status = pool_create_by(pool_out, config, &window);

	/* Decommits memory that was committed before the failure. */
	if (status != LFPOOL_OK)
		os_close(range.at, range.bytes);
	return status;
}
