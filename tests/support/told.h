/* SPDX-License-Identifier: MIT */
/* told.h - the misuse hook's last report.  For tests in which one thread at a time misuses the pool. */
#ifndef LFPOOL_TESTS_TOLD_H
#define LFPOOL_TESTS_TOLD_H

#include "lfpool/lfpool.h"

#include <stdio.h>
#include <string.h>

/* The texts are copies: the library's own are valid only during the hook. */
static struct {
	size_t count; /* number of reports */
	lfpool_misuse_t misuse;
	char detail[600], pool_name[64];
} told;

/* hooks.misuse, with any hooks.context. */
static inline void hear(void *context, const lfpool_misuse_t *misuse)
{
	(void)context;
	told.count++;
	told.misuse = *misuse;
	(void)snprintf(told.detail, sizeof(told.detail), "%s", misuse->detail);
	(void)snprintf(told.pool_name, sizeof(told.pool_name), "%s", misuse->pool_name);
}

static inline void told_forget(void)
{
	memset(&told, 0, sizeof(told));
}

#endif
