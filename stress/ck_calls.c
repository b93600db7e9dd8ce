/* SPDX-License-Identifier: MIT */
/*
 * ck_calls.c - see ck_calls.h.  Compiled without sanitizers (CMakeLists.txt).
 */
#include "ck_calls.h"

void calls_begin(ck_epoch_record_t *record)
{
	ck_epoch_begin(record, NULL);
}

void calls_end(ck_epoch_record_t *record)
{
	(void)ck_epoch_end(record, NULL);
}
