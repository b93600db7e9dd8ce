/* SPDX-License-Identifier: MIT */
/*
 * set.hpp - a set of pools for C++: an owner of the set, an allocator for containers, and, from C++17 on, a
 * std::pmr::memory_resource.  Header only, C++11 to C++23, with exceptions and RTTI or without.
 *
 *     lfpool::set set;
 *     lfpool_status_t status = set.create(config);
 *
 *     lfpool::set_resource resource(set);                        // C++17
 *     std::pmr::map<int, std::pmr::string> names(&resource);
 *
 *     std::list<int, lfpool::allocator<int>> list{lfpool::allocator<int>(set)};
 *
 * Any number of threads may use the set, its allocators and its resources at once.  (A container still has one user at
 * a time.)
 *
 * The set must outlive its allocators, resources and containers.
 */
#ifndef LFPOOL_SET_HPP
#define LFPOOL_SET_HPP

#include "lfpool/lfpool.hpp"
#include "lfpool/set.h"

#if defined(__has_include) && (__cplusplus >= 201703L || (defined(_MSVC_LANG) && _MSVC_LANG >= 201703L))
#if __has_include(<memory_resource>)
#include <memory_resource>
#define LFPOOL_MEMORY_RESOURCE 1
#endif
#endif
#ifndef LFPOOL_MEMORY_RESOURCE
#define LFPOOL_MEMORY_RESOURCE 0
#endif

namespace lfpool
{

/* A config with defaults, as LFPOOL_SET_CONFIG_INIT in C. */
inline lfpool_set_config_t set_config() noexcept
{
	lfpool_set_config_t config;

	lfpool_set_config_init(&config);
	return config;
}

namespace detail
{

/* Does a class have objects of that size and alignment?  The size of the smallest class is the alignment of all
 * objects. */
inline bool has_class(lfpool_set_t *set, std::size_t bytes, std::size_t alignment) noexcept
{
	return alignment <= lfpool_set_class_size(set, 1) && lfpool_set_class_size(set, bytes) != 0;
}

/* A set and an object size: a source of objects for make(), as a pool is. */
struct set_source {
	lfpool_set_t *set;
	std::size_t bytes, alignment;
};

inline void *take(set_source *from) noexcept
{
	return has_class(from->set, from->bytes, from->alignment) ? lfpool_set_acquire(from->set, from->bytes)
								  : nullptr;
}
inline lfpool_status_t give(set_source *to, void *object) noexcept
{
	return lfpool_set_release(to->set, object);
}

} /* namespace detail */

/* ---- The owner --------------------------------------------------------------------------------------------- */

/* Owns a set; can only be moved. */
class set {
public:
	set() noexcept = default; /* no set; create() makes one */

#if LFPOOL_EXCEPTIONS
	/* Throws lfpool::error. */
	explicit set(const lfpool_set_config_t &config)
	{
		const lfpool_status_t status = create(config);

		if (status != LFPOOL_OK)
			throw error(status);
	}
#endif

	/* As lfpool_set_create(); if it succeeds, an earlier set is closed. */
	LFPOOL_MUST_USE lfpool_status_t create(const lfpool_set_config_t &config) noexcept
	{
		lfpool_set_t *created = nullptr;
		const lfpool_status_t status = lfpool_set_create(&created, &config);

		if (status == LFPOOL_OK)
			set_.reset(created);
		return status;
	}

	/* As lfpool_set_destroy(): returns the number of objects that were still active. */
	std::size_t close() noexcept { return lfpool_set_destroy(set_.release()); }

	/* Acquires an object of any type and constructs it from the arguments; nullptr as lfpool_set_acquire(), and if
	 * T is larger or more aligned than the set's objects. */
	template <typename T, typename... Args> T *make(Args &&...args)
	{
		detail::set_source source = {get(), sizeof(T), alignof(T)};

		return detail::make<T>(&source, std::forward<Args>(args)...);
	}
	template <typename T, typename... Args> unique_ptr<T> make_unique(Args &&...args)
	{
		T *object = make<T>(std::forward<Args>(args)...);

		return unique_ptr<T>(object, deleter<T>(lfpool_set_pool_of(get(), object, nullptr)));
	}
	/* As pool<T>::destroy(). */
	template <typename T> lfpool_status_t destroy(T *object) noexcept
	{
		lfpool_t *const pool = lfpool_set_pool_of(get(), object, nullptr);

		return pool ? detail::destroy(pool, pool, object) : lfpool_set_release(get(), object);
	}

	lfpool_set_t *get() const noexcept { return set_.get(); }
	explicit operator bool() const noexcept { return set_ != nullptr; }

private:
	struct closer {
		void operator()(lfpool_set_t *closed) const noexcept { (void)lfpool_set_destroy(closed); }
	};
	std::unique_ptr<lfpool_set_t, closer> set_;
};

/* ---- An allocator ------------------------------------------------------------------------------------------ */

/* For containers of the standard library.  Nodes and small arrays come from the set; arrays that are too large or too
 * aligned for it come from operator new.  When all objects of a class are in use, the allocator throws
 * std::bad_alloc, or calls std::terminate() without exceptions. */
template <typename T> class allocator {
public:
	using value_type = T;
	using propagate_on_container_move_assignment = std::true_type;
	using propagate_on_container_swap = std::true_type;

	explicit allocator(const set &from) noexcept : set_(from.get()) {}
	template <typename U> allocator(const allocator<U> &other) noexcept : set_(other.get()) {}

	T *allocate(std::size_t count)
	{
		void *memory = nullptr;

		if (count <= SIZE_MAX / sizeof(T))
			memory = pooled(count) ? lfpool_set_acquire(set_, count * sizeof(T))
					       : larger(count * sizeof(T));
		if (!memory)
			refuse();
		return static_cast<T *>(memory);
	}
	void deallocate(T *memory, std::size_t count) noexcept
	{
		if (pooled(count))
			(void)lfpool_set_release(set_, memory);
		else
			::operator delete(over_aligned() ? reinterpret_cast<void **>(memory)[-1] : memory);
	}

	lfpool_set_t *get() const noexcept { return set_; }

private:
	/* Does T need more alignment than plain operator new guarantees?  (The overload of C++17 is not used, because
	 * files compiled as C++11 must agree.) */
	static constexpr bool over_aligned() noexcept { return alignof(T) > alignof(std::max_align_t); }

	/* Memory from operator new.  If T is over-aligned, the address that operator new returned is stored in front of
	 * that memory. */
	static void *larger(std::size_t bytes) noexcept
	{
		const std::size_t more = over_aligned() ? alignof(T) + sizeof(void *) : 0;
		void *const memory = bytes <= SIZE_MAX - more ? ::operator new(bytes + more, std::nothrow) : nullptr;

		if (!over_aligned() || !memory)
			return memory;

		void *aligned = static_cast<char *>(memory) + sizeof(void *);
		std::size_t room = bytes + alignof(T);

		std::align(alignof(T), bytes, aligned, room);
		static_cast<void **>(aligned)[-1] = memory;
		return aligned;
	}
	bool pooled(std::size_t count) const noexcept { return detail::has_class(set_, count * sizeof(T), alignof(T)); }
	[[noreturn]] static void refuse()
	{
#if LFPOOL_EXCEPTIONS
		throw std::bad_alloc();
#else
		std::terminate();
#endif
	}

	lfpool_set_t *set_;
};

template <typename T, typename U> bool operator==(const allocator<T> &a, const allocator<U> &b) noexcept
{
	return a.get() == b.get();
}
template <typename T, typename U> bool operator!=(const allocator<T> &a, const allocator<U> &b) noexcept
{
	return !(a == b);
}

/* ---- A memory resource ------------------------------------------------------------------------------------- */

#if LFPOOL_MEMORY_RESOURCE

/*
 * set_resource - memory from a set, for std::pmr.  Equal to itself only.
 *
 * larger      Serves requests that are too large or too aligned for the set.
 * exhausted   Serves requests when every object of a class is in use.  std::pmr::null_memory_resource() throws
 *             std::bad_alloc (without exceptions the program ends).
 *
 * A deallocation determines by the address whether the set or `exhausted` has the memory.
 */
class set_resource : public std::pmr::memory_resource {
public:
	explicit set_resource(const set &from,
			      std::pmr::memory_resource *upstream = std::pmr::get_default_resource()) noexcept
		: set_resource(from.get(), upstream, upstream)
	{
	}
	set_resource(lfpool_set_t *from, std::pmr::memory_resource *larger,
		     std::pmr::memory_resource *exhausted) noexcept
		: set_(from), larger_(larger), exhausted_(exhausted)
	{
	}
	set_resource(const set_resource &) = delete;
	set_resource &operator=(const set_resource &) = delete;

	lfpool_set_t *get() const noexcept { return set_; }

private:
	void *do_allocate(std::size_t bytes, std::size_t alignment) override
	{
		if (!detail::has_class(set_, bytes, alignment))
			return larger_->allocate(bytes, alignment);

		void *memory = lfpool_set_acquire(set_, bytes);

		return memory ? memory : exhausted_->allocate(bytes, alignment);
	}
	void do_deallocate(void *memory, std::size_t bytes, std::size_t alignment) override
	{
		if (!detail::has_class(set_, bytes, alignment))
			larger_->deallocate(memory, bytes, alignment);
		else if (lfpool_set_release_if_owned(set_, memory) == LFPOOL_E_FOREIGN)
			exhausted_->deallocate(memory, bytes, alignment);
	}
	bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override { return this == &other; }

	lfpool_set_t *set_;
	std::pmr::memory_resource *larger_;
	std::pmr::memory_resource *exhausted_;
};

#endif

} /* namespace lfpool */

#endif
