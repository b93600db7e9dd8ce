/* SPDX-License-Identifier: MIT */
/*
 * class.cpp - a pool as lfpool::pool has it.
 */
#include "lfpool/lfpool.hpp"

#include <new>

using held_pool = lfpool::pool<unsigned char>;

extern "C" {
void *class_create(const lfpool_config_t *config, lfpool_t **pool_out, lfpool_status_t *status_out);
std::size_t class_close(void *held);
lfpool_t *class_get(const void *held);
void class_delete(void *held);
}

void *class_create(const lfpool_config_t *config, lfpool_t **pool_out, lfpool_status_t *status_out)
{
	auto *held = new (std::nothrow) held_pool;

	*status_out = held ? held->create(*config) : LFPOOL_E_NO_MEMORY;
	*pool_out = held ? held->get() : nullptr;
	return held;
}

std::size_t class_close(void *held)
{
	return static_cast<held_pool *>(held)->close();
}

lfpool_t *class_get(const void *held)
{
	return static_cast<const held_pool *>(held)->get();
}

void class_delete(void *held)
{
	delete static_cast<held_pool *>(held);
}
