/* SPDX-License-Identifier: MIT */
/*
 * new_delete.hpp - the program's operator new and operator delete, over a set of pools.  Include it in exactly one
 *                  source file of the program.
 *
 * Requests of up to 1 KiB come from the set, up to 64 MiB of each size class.  Requests that are larger or more
 * aligned, and requests that find no object, go to malloc.  A delete determines by the address whether the memory is
 * from the set.  So any thread may delete memory, also memory that is older than the set.
 *
 * The first call makes the set.  It is never destroyed, because destructors of static objects may still delete.  C++11
 * to C++23.
 */
#ifndef LFPOOL_NEW_DELETE_HPP
#define LFPOOL_NEW_DELETE_HPP

#include "lfpool/set.hpp"

#include <cstdlib>
#include <new>

namespace lfpool
{
namespace detail
{

/* nullptr: the system refused memory, and every request goes to malloc. */
inline lfpool_set_t *set_of_new() noexcept
{
	static lfpool_set_t *const set = []() noexcept {
		lfpool_set_config_t config = set_config();
		lfpool_set_t *made = nullptr;

		config.largest = 1024;
		config.class_bytes = std::size_t(1) << 20;
		config.max_class_bytes = std::size_t(1) << 26;
		config.growth_bytes = std::size_t(1) << 20;
		config.pool.name = "new";
		return lfpool_set_create(&made, &config) == LFPOOL_OK ? made : nullptr;
	}();

	return set;
}

inline void *try_new(std::size_t size) noexcept
{
	lfpool_set_t *set = set_of_new();
	void *memory = set ? lfpool_set_acquire(set, size) : nullptr;

	return memory ? memory : std::malloc(size ? size : 1);
}

inline void any_delete(void *memory) noexcept
{
	lfpool_set_t *set = set_of_new();

	if (!set || lfpool_set_release_if_owned(set, memory) == LFPOOL_E_FOREIGN)
		std::free(memory);
}

} /* namespace detail */
} /* namespace lfpool */

/* The loop that the standard requires: call the new-handler, if there is one, and try again. */
void *operator new(std::size_t size)
{
	for (;;) {
		if (void *memory = lfpool::detail::try_new(size))
			return memory;

		const std::new_handler handler = std::get_new_handler();

		if (handler)
			handler();
		else
#if LFPOOL_EXCEPTIONS
			throw std::bad_alloc();
#else
			std::abort();
#endif
	}
}

void operator delete(void *memory) noexcept
{
	lfpool::detail::any_delete(memory);
}

/* From C++14 on, compilers call this sized form.  The standard library's array and nothrow forms call the
 * functions of this header. */
void operator delete(void *memory, std::size_t size) noexcept
{
	(void)size;
	lfpool::detail::any_delete(memory);
}

#endif
