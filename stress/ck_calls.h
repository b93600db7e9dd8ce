/* SPDX-License-Identifier: MIT */
/*
 * ck_calls.h - what ConcurrencyKit has in its headers, compiled as its library is.
 *
 * Idea         ConcurrencyKit synchronises in assembly.  Inlined into instrumented code, its plain accesses to links would be
 *              seen by ThreadSanitizer, and the order between them not.  In a file of their own, which is not
 *              instrumented, they are as invisible as those in libck, and what they order can be said around the calls
 *              (annotate.h).
 */
#ifndef STRESS_CK_CALLS_H
#define STRESS_CK_CALLS_H

#include <ck_epoch.h>
#include <ck_stack.h>
#include <stdbool.h>

void calls_begin(ck_epoch_record_t *record);
void calls_end(ck_epoch_record_t *record);

/* A stack that is safe only if what is popped is not pushed anew while a thread pops. */
void calls_push(ck_stack_t *stack, ck_stack_entry_t *entry);
ck_stack_entry_t *calls_pop(ck_stack_t *stack);
/* The entry so far below the top; NULL: there are not as many. */
ck_stack_entry_t *calls_below_top(const ck_stack_t *stack, unsigned depth);

#endif
