/* SPDX-License-Identifier: MIT */
/* bare.c - every public header except inline.h, for a compiler unlike gcc: Microsoft's system, no __GNUC__, only a
 * compiler's own headers and bare/; the extensions of GNU C are undefined. */
#if defined(__GNUC__) || !defined(_MSC_VER)
#error "this must be compiled for another system"
#endif
#define __attribute__ is not for this compiler
#define __asm__ is not for this compiler
#define __extension__ is not for this compiler
#define __typeof__ is not for this compiler
#define __builtin_expect is not for this compiler

#include "every.c"

#include <lfpool/buffer.h>
#include <lfpool/hidden.h>
#include <lfpool/typed.h>

struct thing {
	double number;
};

LFPOOL_DEFINE(thing, struct thing);
LFPOOL_DECLARE(secret, struct secret);

size_t use_it(thing_pool_t *pool);
size_t use_it(thing_pool_t *pool)
{
	lfpool_config_t config;
	lfpool_set_config_t set_config;

	lfpool_config_init(&config);
	lfpool_set_config_init(&set_config);
	config.capacity = LFPOOL_BUFFER_BYTES(sizeof(struct thing), 0, 100);
	if (thing_pool_create(pool, &config) != LFPOOL_OK)
		return 0;
	thing_release(*pool, thing_acquire(*pool));
	return lfpool_capacity(pool->untyped);
}
