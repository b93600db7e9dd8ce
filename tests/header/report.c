/* SPDX-License-Identifier: MIT */
/*
 * report.c - report.h by itself, and before lfpool.h, in C and in C++: either brings the other.
 */
#include <lfpool/report.h>
#include <lfpool/lfpool.h>

#ifdef __cplusplus
extern "C"
#endif
	size_t
	report(const lfpool_t *pool);

size_t report(const lfpool_t *pool)
{
	lfpool_stats_t stats = LFPOOL_STATS_INIT;

	return lfpool_stats(pool, &stats) == LFPOOL_OK ? stats.active : 0;
}
