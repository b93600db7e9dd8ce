/* SPDX-License-Identifier: MIT */
/*
 * symbols_linux.c - of os.h: what the C library tells of addresses.
 */
#include "os/os.h"

#ifdef __linux__
#include <dlfcn.h>

#if defined(__has_include)
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define HAVE_BACKTRACE 1
#endif
#endif

NOINLINE uint32_t os_backtrace(void **frames_out, uint32_t room)
{
#ifdef HAVE_BACKTRACE
	KEEP_ERRNO();
	const int found = backtrace(frames_out, (int)room);

	return found < 0 ? 0 : (uint32_t)found;
#else
	(void)frames_out;
	(void)room;
	return 0;
#endif
}

struct os_symbol os_symbol_at(const void *address)
{
	KEEP_ERRNO();
	Dl_info info;

	if (!dladdr(address, &info) || !info.dli_fname)
		return (struct os_symbol){0};
	return (struct os_symbol){info.dli_fname, info.dli_fbase, info.dli_sname, info.dli_saddr};
}
#endif
