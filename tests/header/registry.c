/* SPDX-License-Identifier: MIT */
/*
 * registry.c - registry.h by itself, twice, in C and in C++: it needs nothing before it, and every declaration can be
 * used.
 */
#include <lfpool/registry.h>
#include <lfpool/registry.h>

#ifdef __cplusplus
extern "C"
#endif
	size_t
	use_registry(const lfpool_config_t *config);

size_t use_registry(const lfpool_config_t *config)
{
	lfpool_registry_report_t report = LFPOOL_REGISTRY_REPORT_INIT;
	lfpool_profile_error_t error;
	lfpool_registry_t *registry;
	lfpool_t *pool;
	size_t sum = 0;

	if (lfpool_registry_create(&registry, "jobs capacity=10\n", &error) != LFPOOL_OK)
		return error.line + error.column + (error.text[0] != 0 ? 1u : 0u);
	if (lfpool_registry_create_pool(registry, "jobs", config, &pool) == LFPOOL_OK)
		sum += lfpool_registry_find(registry, "jobs") == pool ? 1u : 0u;
	sum += lfpool_registry_load(registry, "[match]\n", &error) == LFPOOL_OK ? 1u : 0u;
	sum += lfpool_registry_switch(registry, "match", &report) == LFPOOL_E_SCENARIO ? 1u : 0u;
	sum += report.pools + report.pools_owing + report.pools_short + report.pools_fixed + report.objects_owed;
	sum += report.objects_added + report.objects_removed + report.bytes_trimmed;
	sum += lfpool_registry_dump(registry, LFPOOL_JSON, error.text, sizeof(error.text));
	sum += lfpool_registry_destroy_pool(registry, pool);
	return sum + lfpool_registry_destroy(registry);
}
