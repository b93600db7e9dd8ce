/* SPDX-License-Identifier: MIT */
/*
 * peers.h - what the others do while the victim stands: use the pool, empty it, and count what they got.
 *
 * Idea         Each object that a peer holds carries the peer's stamp, so an object that two of them hold is noticed
 *              at once; and what a peer got is compared with what the victim's caller holds on record.
 */
#ifndef LFPOOL_VERIFY_PEERS_H
#define LFPOOL_VERIFY_PEERS_H

#include "scene.h"

/* Everything one peer holds. */
struct holding {
	void *objects[OBJECTS_MAX + 1];
	size_t count;
};

/*
 * `rounds` times: acquires up to three objects, stamps them, and releases them; now and then makes and destroys a
 * cache.  NULL, or what went wrong.
 */
const char *peer_churn(lfpool_t *pool, uint64_t stamp, unsigned rounds);

/* Makes a few pools, and destroys them.  NULL, or what went wrong. */
const char *peer_make_pools(const struct scene *s);

/* Takes all that is to be had, through `cache` or the thread's own (NULL).  NULL, or what went wrong: the same object
 * twice, or one that the victim's caller holds. */
const char *peer_drain(const struct scene *s, lfpool_cache_t *cache, struct holding *h);

/* Releases what the others hold, and whoever sleeps for an object must get one by that. */
const char *peer_return_lent(struct scene *s);

/* Gives back everything. */
const char *peer_give_back(lfpool_t *pool, struct holding *h);

/* Objects that the victim's caller does not hold and that are not in `h` either. */
long lost(const struct scene *s, const struct holding *h);

/* At most so many may be lost while the operation stands in its middle. */
long lost_at_most(const struct scene *s, const struct operation *o, const struct holding *h);

/* A fork while it stands and others wait (heirs.c): in the parent, just before; in the child.  NULL, or what is wrong; and of the
 * latter the objects lost.  It destroys the pool. */
const char *heirs_prepare(struct scene *s, const struct operation *o, struct holding *h);
const char *heirs_inherit(struct scene *s, const struct operation *o, struct holding *h, long *lost_out);

/*
 * The operation has finished after all, the driver holds `h`, and nobody is in a call: what it returned is held against what the
 * driver holds; then everything is given back and gathered, and must be the whole pool, each object once, and each magazine in
 * one place.  Uses up the scene.  NULL, or what is wrong.
 */
const char *account(struct scene *s, const struct operation *o, struct holding *h);

#endif
