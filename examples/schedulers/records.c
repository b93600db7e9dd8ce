/* SPDX-License-Identifier: MIT */
/*
 * records.c - the pool of records, see records.h.
 */
#include "records.h"

#include <stdio.h>

#define LINE_BYTES 64

bool records_open(struct records *records_out, enum allocator allocator, size_t bytes, size_t capacity)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;

	/* Whole cache lines, whatever they come from. */
	bytes = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
	*records_out = (struct records){.bytes = bytes};
	if (allocator == ALLOCATOR_MALLOC)
		return true;
	config.name = "records";
	config.object_size = bytes;
	/* Two workers do not write to one line because their records are neighbours. */
	config.object_alignment = LINE_BYTES;
	config.capacity = capacity;
	config.backend = allocator == ALLOCATOR_MUTEX ? LFPOOL_BACKEND_MUTEX : LFPOOL_BACKEND_LOCKFREE;
	const lfpool_status_t status = lfpool_create(&records_out->pool, &config);

	if (status != LFPOOL_OK)
		fprintf(stderr, "no pool of records: %s\n", lfpool_status_string(status));
	return status == LFPOOL_OK;
}

size_t records_close(struct records *records)
{
	const size_t active = lfpool_destroy(records->pool);

	records->pool = NULL;
	return active;
}

struct hand hand_of_worker(const struct records *records)
{
	/* Without memory for a cache: as the others do it, a little slower. */
	return (struct hand){
		.records = records,
		.cache = records->pool ? lfpool_cache_create(records->pool) : NULL,
	};
}
