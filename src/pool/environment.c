/* SPDX-License-Identifier: MIT */
/*
 * environment.c - what LFPOOL_BACKEND and LFPOOL_DEBUG say of a pool; or, on stderr, that they say it in vain.
 */
#include "base/atomics.h"
#include "os/os.h"
#include "pool/configure.h"

#include <stdio.h>
#include <string.h>

static struct config_words environment(void)
{
	return (struct config_words){os_environment("LFPOOL_BACKEND"), os_environment("LFPOOL_DEBUG")};
}

lfpool_status_t config_import(lfpool_config_t *config, struct debug_modes *modes, const lfpool_config_t *given, bool *empty_out)
{
	const struct config_words words = environment();

	return config_import_with(config, modes, given, &words, empty_out, 0);
}

void config_tell_ignored(const char *name, const char *why)
{
	static _Atomic(uint32_t) pools;
	const struct config_words words = environment();

	if ((!words.backend || !*words.backend || strcmp(words.backend, backend_name(LFPOOL_BACKEND_LOCKFREE)) == 0) &&
	    (!words.debug || !*words.debug))
		return;
	/* relaxed: which of several is told of does not matter. */
	if (fetch_add_relaxed(&pools, 1) == 0)
		fprintf(stderr,
			"lfpool: pool \"%s\" is %s: neither LFPOOL_BACKEND nor LFPOOL_DEBUG changes it.  "
			"Further such pools are not told of.\n",
			name, why);
}
