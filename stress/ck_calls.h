/* SPDX-License-Identifier: MIT */
/*
 * ck_calls.h - what ConcurrencyKit has in its headers, compiled as its library is.
 *
 * Idea         ConcurrencyKit synchronises in assembly.  Inlined into instrumented code, its plain accesses would be seen by
 *              ThreadSanitizer, and the order between them not.  In a file of their own, which is not instrumented, they
 *              are as invisible as those in libck, and what they order can be said around the calls (annotate.h).
 */
#ifndef STRESS_CK_CALLS_H
#define STRESS_CK_CALLS_H

#include <ck_epoch.h>

void calls_begin(ck_epoch_record_t *record);
void calls_end(ck_epoch_record_t *record);

#endif
