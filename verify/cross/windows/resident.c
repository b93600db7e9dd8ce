/* SPDX-License-Identifier: MIT */
/* resident.c - see common/resident.h: Windows's figures. */
#include "common/resident.h"

double resident_bytes(void)
{
	return (double)proc_bytes("", "VmRSS");
}
