/* SPDX-License-Identifier: MIT */
/* registry_support.h - shared by the tests of lfpool/registry.h. */
#ifndef LFPOOL_TESTS_REGISTRY_SUPPORT_H
#define LFPOOL_TESTS_REGISTRY_SUPPORT_H

#include "texts.h"

#include "lfpool/registry.h"

static inline lfpool_registry_t *registry_of(const char *profile)
{
	lfpool_profile_error_t error;
	lfpool_registry_t *registry;
	lfpool_status_t status = lfpool_registry_create(&registry, profile, &error);

	if (status != LFPOOL_OK)
		print_message("%s\n%zu:%zu: %s\n", profile ? profile : "", error.line, error.column, error.text);
	assert_int_equal(status, LFPOOL_OK);
	return registry;
}

static inline lfpool_t *made(lfpool_registry_t *registry, const char *name, const lfpool_config_t *config)
{
	lfpool_t *pool;

	assert_int_equal(lfpool_registry_create_pool(registry, name, config, &pool), LFPOOL_OK);
	assert_non_null(pool);
	return pool;
}

/* The path of a public header, or a pattern of such paths. */
static inline void header_path(char path_out[1000], const char *name)
{
#ifdef LFPOOL_HEADERS
	(void)snprintf(path_out, 1000, "%s/%s", LFPOOL_HEADERS, name);
#else
	const char *file = __FILE__;

	(void)snprintf(path_out, 1000, "%.*s/../../include/lfpool/%s", (int)(strrchr(file, '/') - file), file, name);
#endif
}

/* A dump_t of texts.h. */
static inline size_t registry_dump(const void *registry, lfpool_format_t format, char *text_out, size_t bytes)
{
	return lfpool_registry_dump((lfpool_registry_t *)(uintptr_t)registry, format, text_out, bytes);
}

#endif
