/* SPDX-License-Identifier: MIT */
/*
 * registered.h - how pools of other kinds come into a registry (lfpool/registry.h), whose room lies above theirs.
 *
 * Idea         A registry begins with a pointer to two functions.  A pool whose config names a registry is made by the first, which
 *              puts what the profile says over the config, and then enters the row; its destroy calls the second.
 */
#ifndef LFPOOL_REGISTERED_H
#define LFPOOL_REGISTERED_H

#include "lfpool/lfpool.h"

/* What happens when nothing is free, as the profile says: the key `full`. */
enum full_policy { FULL_AS_CONFIGURED, FULL_FAIL, FULL_GROW, FULL_WAIT, FULL_EVICT };

/* What a row shows of a pool. */
struct registered_state {
	lfpool_stats_t stats;
	size_t object_size;
	uint64_t bytes; /* of objects */
};

/* A kind of pool. */
struct registered_kind {
	bool evicts; /* when it is full */
	void (*look)(const void *pool, struct registered_state *state_out);
	size_t (*destroy)(void *pool);
};

/* Makes the pool, as `config` says now; what there is of the kind's own, `context` says. */
typedef lfpool_status_t (*registered_make_t)(void *context, const lfpool_config_t *config, enum full_policy full,
					     void **pool_out);

struct registered_calls {
	/* Returns what `make` does, or why it was not called. */
	lfpool_status_t (*make)(struct lfpool_registry *registry, const struct registered_kind *kind, lfpool_config_t *config,
				registered_make_t make, void *context, void **pool_out);
	void (*leave)(struct lfpool_registry *registry, const void *pool);
};

/* What a registry begins with. */
struct registry_face {
	const struct registered_calls *calls;
};

static inline const struct registered_calls *registered_calls(struct lfpool_registry *registry)
{
	return ((const struct registry_face *)(const void *)registry)->calls;
}

#endif
