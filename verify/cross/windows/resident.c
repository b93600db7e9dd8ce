/* SPDX-License-Identifier: MIT */
/*
 * resident.c - see common/resident.h: what Windows says.
 */
#include "common/resident.h"

double resident_bytes(void)
{
	return (double)proc_bytes("", "VmRSS");
}

double resident_peak_bytes(void)
{
	PROCESS_MEMORY_COUNTERS counters = {.cb = sizeof(counters)};

	return GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof(counters)) ? (double)counters.PeakWorkingSetSize : 0;
}
