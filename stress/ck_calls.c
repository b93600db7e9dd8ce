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

void calls_push(ck_stack_t *stack, ck_stack_entry_t *entry)
{
	ck_stack_push_upmc(stack, entry);
}

ck_stack_entry_t *calls_pop(ck_stack_t *stack)
{
	return ck_stack_pop_upmc(stack);
}

ck_stack_entry_t *calls_below_top(const ck_stack_t *stack, unsigned depth)
{
	ck_stack_entry_t *entry = ck_pr_load_ptr(&stack->head);

	while (entry && depth--)
		entry = ck_pr_load_ptr(&entry->next);
	return entry;
}
