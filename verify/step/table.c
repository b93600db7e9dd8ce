/* SPDX-License-Identifier: MIT */
/*
 * table.c - all operations, as if they stood in one table.
 */
#include "scene.h"

const struct operation *operation_at(size_t index)
{
	if (index < operation_count)
		return &operations[index];
	index -= operation_count;
	if (index < object_operation_count)
		return &object_operations[index];
	index -= object_operation_count;
	if (index < pool_operation_count)
		return &pool_operations[index];
	index -= pool_operation_count;
	if (index < resize_operation_count)
		return &resize_operations[index];
	index -= resize_operation_count;
	if (index < wait_operation_count)
		return &wait_operations[index];
	index -= wait_operation_count;
	return index < retire_operation_count ? &retire_operations[index] : NULL;
}
