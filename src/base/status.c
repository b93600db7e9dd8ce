/* SPDX-License-Identifier: MIT */
/*
 * status.c - the text of each status, from the one list in lfpool.h.
 */
#include "lfpool/lfpool.h"

const char *lfpool_status_string(lfpool_status_t status)
{
	switch (status) {
#define STATUS_CASE(name, value, text) \
	case name: return text;
		LFPOOL_STATUS_MAP(STATUS_CASE)
#undef STATUS_CASE
	}
	return "unknown status";
}
