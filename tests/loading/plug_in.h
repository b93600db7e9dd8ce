/* SPDX-License-Identifier: MIT */
/* plug_in.h - the interface of each plug-in of these tests: one function, which returns its uses of lfpool. */
#ifndef LFPOOL_TESTS_PLUG_IN_H
#define LFPOOL_TESTS_PLUG_IN_H

#include "lfpool/lfpool.h"

enum { PLUG_IN_CAPACITY = 100, PLUG_IN_SIZE = 64, PLUG_IN_FINE = 42 };

/* Its lfpool functions, as bound in the plug-in. */
struct plug_in {
	lfpool_t *(*open)(void); /* a pool of PLUG_IN_CAPACITY objects */
	size_t (*destroy)(lfpool_t *pool);
	lfpool_status_t (*release)(lfpool_t *pool, void *object);
	void *(*acquire_wait)(lfpool_t *pool, int64_t timeout_ns);
	size_t (*acquire_bulk)(lfpool_t *pool, void **objects, size_t count);
	size_t (*release_bulk)(lfpool_t *pool, void *const *objects, size_t count);
	size_t (*active_count)(const lfpool_t *pool);
	lfpool_t *(*of)(const void *object);
	void (*leave)(
		lfpool_t
			*pool); /* its destructor uses and destroys this pool, and ends the process with PLUG_IN_FINE */
};

const struct plug_in *plug_in(void);

#endif
