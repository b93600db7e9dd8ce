/* SPDX-License-Identifier: MIT */
/*
 * stamps.c - is the time-stamp counter a clock?
 */
#include "stamps.h"

#include <string.h>

bool stamps_by_counter;

#if defined(__x86_64__)

#include <cpuid.h>

#define CPUID_FEATURES 0x80000001u
#define RDTSCP_EDX (1u << 27)
#define CPUID_POWER 0x80000007u
#define INVARIANT_EDX (1u << 8)

/* The kernel's own opinion, which it forms by comparing the processors. */
static bool kernel_trusts_counter(void)
{
	FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");
	char name[16] = "";
	bool trusted;

	if (!file)
		return false;
	trusted = fgets(name, sizeof(name), file) && strcmp(name, "tsc\n") == 0;
	(void)fclose(file);
	return trusted;
}

static bool counter_usable(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(CPUID_FEATURES, &a, &b, &c, &d) && d & RDTSCP_EDX && __get_cpuid(CPUID_POWER, &a, &b, &c, &d) &&
	       d & INVARIANT_EDX && kernel_trusts_counter();
}

#else

static bool counter_usable(void)
{
	return false;
}

#endif

void stamps_choose(void)
{
	const char *wish = getenv("LFPOOL_STAMPS");

	stamps_by_counter = counter_usable() && !(wish && strcmp(wish, "clock") == 0);
}
