/* SPDX-License-Identifier: MIT */
/*
 * must.h - memory for the parts of the example that are not about pooling: tables and buffers that grow.
 *
 * An application that cannot go on without memory may end; a library may not.  This is an application.
 */
#ifndef EXAMPLE_MUST_H
#define EXAMPLE_MUST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* realloc() of `count` times `bytes` that ends the program when there is no memory.  `count` and `bytes` at least
 * 1. */
static inline void *must_grow(void *old, size_t count, size_t bytes)
{
	void *new = count <= SIZE_MAX / bytes ? realloc(old, count * bytes) : NULL;

	if (!new) {
		fprintf(stderr, "jobs: out of memory\n");
		exit(3);
	}
	return new;
}

#endif
