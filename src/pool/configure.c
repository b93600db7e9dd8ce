/* SPDX-License-Identifier: MIT */
/*
 * configure.c - checks a configuration, field by field, and completes it.
 */
#include "pool/open.h"

#include "base/atomics.h"
#include "base/sized.h"
#include "base/text.h"
#include "os/os.h"
#include "pool/pool.h"

#include "lfpool/buffer.h"

#include <string.h>

#define CAPACITY_MAX (((uint64_t)1 << 31) - 1) /* cold.h's balance is an int32_t */
#define OR_FLAG(flag, word) | flag
#define FLAGS_KNOWN (0 FLAG_MAP(OR_FLAG))

static const char *const backend_words[] = {
#define BACKEND_WORD(backend, word) [backend] = word,
	BACKEND_MAP(BACKEND_WORD)
#undef BACKEND_WORD
};
#define BACKENDS (sizeof(backend_words) / sizeof(*backend_words))

bool config_copy(lfpool_config_t *config_out, const lfpool_config_t *given)
{
	return sized_read(config_out, sizeof(*config_out), offsetof(lfpool_config_t, cache_capacity), given);
}

/* Sets the backend from a word of the environment; false: the word is unknown. */
static bool backend_from(lfpool_config_t *config, const char *word)
{
	if (!word || !*word)
		return true;
	for (size_t i = 0; i < BACKENDS; i++)
		if (strcmp(word, backend_words[i]) == 0) {
			config->backend = (lfpool_backend_t)i;
			return true;
		}
	return false;
}

/* Combines the debug modes of the config and of the environment, and sets the flags that they imply.  A number in the
 * environment overrides the config's. */
static bool apply_debug(lfpool_config_t *config, struct debug_modes *modes, const char *environment)
{
	*modes = (struct debug_modes){0};
	/* An embedded build has no debug modes. */
	if (EMBEDDED)
		return !config->debug || !*config->debug;
	if (!debug_words_read(modes, config->debug) || !debug_words_read(modes, environment))
		return false;
	if (config->backend == LFPOOL_BACKEND_MALLOC)
		*modes = (struct debug_modes){.check = modes->check, .zero = modes->zero};
	if (debug_modes_detect(modes))
		config->flags |= LFPOOL_CHECK_RACES;
	/* Zeroing would wipe objects that hooks.create has built. */
	if (modes->zero && !config->hooks.create)
		config->flags |= LFPOOL_ZERO;
	return true;
}

/* Is the scheme valid, or absent? */
static bool is_scheme(const lfpool_config_t *config)
{
	const lfpool_scheme_t *s = &config->scheme;

	for (size_t i = 0; i < sizeof(s->reserved) / sizeof(*s->reserved); i++)
		if (s->reserved[i])
			return false;
	if (s->begin || s->ready)
		return config->max_capacity < RETIRED_SLOTS_MAX;
	return !s->wait && !s->context;
}

struct config_words {
	const char *backend, *debug; /* from the environment; NULL or empty: not set */
};

/* `caches`: the maximum of config.buffer_caches. */
static lfpool_status_t config_import_with(lfpool_config_t *config, struct debug_modes *modes,
					  const lfpool_config_t *given, const struct config_words *words,
					  bool *empty_out, size_t caches)
{
	if (!config_copy(config, given))
		return LFPOOL_E_CONFIG_STRUCT_SIZE;
	/* A pool with capacity 0 is opened with one object, which is then removed.  LFPOOL_CREATE_ALL would build that
	 * object, so with this flag capacity 0 is refused. */
	if (empty_out &&
	    (*empty_out = !config->capacity && config->max_capacity && !(config->flags & LFPOOL_CREATE_ALL)))
		config->capacity = 1;
	if (config->name && strnlen(config->name, NAME_BYTES) == NAME_BYTES)
		return LFPOOL_E_CONFIG_NAME;
	if (config->object_size < 1 || config->object_size > OBJECT_SIZE_MAX)
		return LFPOOL_E_CONFIG_OBJECT_SIZE;
	if (!config->object_alignment)
		config->object_alignment = _Alignof(max_align_t);
	if ((config->object_alignment & (config->object_alignment - 1)) ||
	    config->object_alignment > OBJECT_ALIGNMENT_MAX)
		return LFPOOL_E_CONFIG_OBJECT_ALIGNMENT;
	if (config->capacity < 1 || config->capacity > CAPACITY_MAX)
		return LFPOOL_E_CONFIG_CAPACITY;
	if (!config->max_capacity)
		config->max_capacity = config->capacity;
	if (config->max_capacity < config->capacity || config->max_capacity > CAPACITY_MAX)
		return LFPOOL_E_CONFIG_MAX_CAPACITY;
	if (config->cache_capacity > 2 * MAGAZINE_SLOTS_MAX && config->cache_capacity != LFPOOL_CACHE_NONE)
		return LFPOOL_E_CONFIG_CACHE_CAPACITY;
	if (config->flags & ~FLAGS_KNOWN)
		return LFPOOL_E_CONFIG_FLAGS;
	if (config->flags & LFPOOL_LOCK)
		config->flags |= LFPOOL_PREFAULT;
	if ((unsigned)config->backend >= BACKENDS || !backend_from(config, words->backend))
		return LFPOOL_E_CONFIG_BACKEND;
	for (size_t i = 0; i < sizeof(config->hooks.reserved) / sizeof(*config->hooks.reserved); i++)
		if (config->hooks.reserved[i])
			return LFPOOL_E_CONFIG_HOOKS;
	/* Zeroing would wipe objects that hooks.create has built. */
	if (config->hooks.create && (config->flags & LFPOOL_ZERO))
		return LFPOOL_E_CONFIG_HOOKS;
	if (config->depot_shards > SHARDS_MAX)
		return LFPOOL_E_CONFIG_DEPOT_SHARDS;
	if ((unsigned)config->evict > LFPOOL_EVICT_NEVER || (config->before && !config->evict))
		return LFPOOL_E_CONFIG_EVICT;
	if (!is_scheme(config))
		return LFPOOL_E_CONFIG_SCHEME;
	if (config->buffer_caches > caches)
		return LFPOOL_E_CONFIG_BUFFER_CACHES;
	if (!apply_debug(config, modes, words->debug))
		return LFPOOL_E_CONFIG_DEBUG;
	return LFPOOL_OK;
}

static const struct config_words no_words;

lfpool_status_t config_import_for_buffer(lfpool_config_t *config, struct debug_modes *modes,
					 const lfpool_config_t *given)
{
	const lfpool_status_t status = config_import_with(config, modes, given, &no_words, NULL, LFPOOL_BUFFER_CACHES);

	if (status != LFPOOL_OK)
		return status;
	if (config->max_capacity != config->capacity)
		return LFPOOL_E_CONFIG_MAX_CAPACITY;
	if (config->flags & (LFPOOL_LOCK | LFPOOL_HUGE_PAGES))
		return LFPOOL_E_CONFIG_FLAGS;
	if (config->backend != LFPOOL_BACKEND_LOCKFREE)
		return LFPOOL_E_CONFIG_BACKEND;
	if (config->depot_shards > 1)
		return LFPOOL_E_CONFIG_DEPOT_SHARDS;
	if (debug_modes_each_call(modes))
		return LFPOOL_E_CONFIG_DEBUG;
	if (config->scheme.begin || config->scheme.ready)
		return LFPOOL_E_CONFIG_SCHEME;
	if (config->evict)
		return LFPOOL_E_CONFIG_EVICT;
	if (!config->buffer_caches)
		config->buffer_caches = LFPOOL_BUFFER_CACHES;
	config->flags &= ~LFPOOL_PREFAULT;
	return LFPOOL_OK;
}

struct arena_plan config_arena_plan(const lfpool_config_t *config, const struct window *window)
{
	return (struct arena_plan){
		.object_size = config->object_size,
		.object_alignment = config->object_alignment,
		.plain_stride = config->flags & LFPOOL_PLAIN_STRIDE,
		.capacity = config->capacity,
		.reserved = config->max_capacity,
		.backing = config->flags & BACKING_FLAGS,
		.window = *window,
	};
}

const char *backend_name(lfpool_backend_t backend)
{
	return backend_words[backend];
}

#if !EMBEDDED
/* ---- The environment ---- */

static struct config_words environment(void)
{
	return (struct config_words){os_environment("LFPOOL_BACKEND"), os_environment("LFPOOL_DEBUG")};
}

lfpool_status_t config_import(lfpool_config_t *config, struct debug_modes *modes, const lfpool_config_t *given,
			      bool *empty_out)
{
	const struct config_words words = environment();

	return config_import_with(config, modes, given, &words, empty_out, 0);
}

static void print_ignored(const char *name, const char *why)
{
	char line[512];
	struct text text;

	text_open(&text, line, sizeof(line));
	text_put(&text,
		 "lfpool: pool \"%s\" is %s: neither LFPOOL_BACKEND nor LFPOOL_DEBUG changes it.  "
		 "Further such pools are not told of.\n",
		 name, why);
	os_print(line);
}

void config_tell_ignored(const char *name, const char *why)
{
	static _Atomic(uint32_t) pools;
	const struct config_words words = environment();

	if ((!words.backend || !*words.backend || strcmp(words.backend, backend_name(LFPOOL_BACKEND_LOCKFREE)) == 0) &&
	    (!words.debug || !*words.debug))
		return;
	/* relaxed: if several pools are created at once, the message may name any of them. */
	if (fetch_add_relaxed(&pools, 1) == 0)
		print_ignored(name, why);
}
#endif
