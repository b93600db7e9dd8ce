/* SPDX-License-Identifier: MIT */
/*
 * lfpool.hpp - pools of C++ objects: lfpool.h with constructors, destructors and owners.  Header only, C++11 to C++23,
 * with exceptions and RTTI or without.
 *
 *     lfpool::pool<job> jobs;
 *     lfpool_status_t status = jobs.create(10000);               // or, with exceptions: lfpool::pool<job> jobs(10000);
 *
 *     job *j = jobs.make("load", 7);                             // any thread; nullptr if all 10000 are in use
 *     jobs.destroy(j);                                           // any thread
 *
 *     lfpool::unique_ptr<job> mine = jobs.make_unique("save", 8);    // empty if all are in use
 *
 * A call has the contract of the C function of the same name, and `get()` returns the C pool.  When a pool is exhausted
 * or a release is refused, the function does not throw, but returns nullptr or a status.
 *
 * Owners       pool<T> owns a pool and can only be moved.  Its objects, pointers and caches stay valid after a move.
 *              unique_ptr<T> owns an object.  It has two words: the object and its pool.
 *              self_ptr<T> has one word, and finds the pool by the object's address.  That costs O(log pools) per
 *              release, and does not work with pools in a buffer.
 *              base_ptr<B> owns an object of a class derived from B, and a unique_ptr<T> converts to it.  B must have a
 *              virtual destructor.  unique_ptr<T> and self_ptr<T> do not convert to other owners of a base class,
 *              because an object must be released by the address at which it was made; base_ptr finds that address by a
 *              dynamic_cast.
 * Exceptions   If a constructor throws, the object's memory is released, and the exception propagates.  C code calls
 *              hooks and continuations, so they must not throw.  Without exceptions the constructors that throw are not
 *              declared; use create().
 * The end      Owners must release their objects before the pool is closed.  Closing frees the memory of all objects,
 *              but calls no destructors, because it cannot know which active objects are complete.  To destroy the
 *              objects, call clear() first.  With a scheme (lfpool/retire.h) closing may be refused: then close()
 *              returns SIZE_MAX, an assignment leaves the pool to the moved-from object, and a destructor leaks the
 *              pool.  So call close(), and check its result, before an assignment or the destructor.
 * Types        T must be complete where objects are made or destroyed, but not where pool<T> and unique_ptr<T> are
 *              declared.  Its alignment and size may be up to 1 GiB.  It cannot be an array; use a struct that contains
 *              one.
 * Fast path    To inline it, include lfpool/inline.h before this header, in all files of a program or in none.
 *
 * lfpool/set.hpp has sets of pools, a std::pmr::memory_resource and an allocator.
 */
#ifndef LFPOOL_LFPOOL_HPP
#define LFPOOL_LFPOOL_HPP

#include "lfpool/buffer.h"
#include "lfpool/owner.hpp"
#include "lfpool/walk.h"

#include <cstddef>
#include <exception>
#include <iterator>
#include <type_traits>
#include <utility>

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND)
#define LFPOOL_EXCEPTIONS 1
#else
#define LFPOOL_EXCEPTIONS 0
#endif

namespace lfpool
{

/* The exception that the constructors of pool<T> throw. */
class error : public std::exception {
public:
	explicit error(lfpool_status_t status) noexcept : status_(status) {}
	lfpool_status_t status() const noexcept { return status_; }
	const char *what() const noexcept override { return lfpool_status_string(status_); }

private:
	lfpool_status_t status_;
};

/* A config with defaults, as LFPOOL_CONFIG_INIT in C. */
inline lfpool_config_t config(std::size_t capacity) noexcept
{
	lfpool_config_t config;

	lfpool_config_init(&config);
	config.capacity = capacity;
	return config;
}

/* ---- A pool ------------------------------------------------------------------------------------------------ */

template <typename T> class pool : detail::poolable<T> {
public:
	pool() noexcept = default; /* no pool; create() makes one */
	pool(pool &&other) noexcept : pool_(other.pool_) { other.pool_ = nullptr; }
	pool &operator=(pool &&other) noexcept
	{
		/* If closing the old pool is refused, `other` gets that pool. */
		if (this != &other) {
			(void)close();
			std::swap(pool_, other.pool_);
		}
		return *this;
	}
	~pool() { (void)close(); }

#if LFPOOL_EXCEPTIONS
	/* Throw lfpool::error. */
	explicit pool(std::size_t capacity) : pool(lfpool::config(capacity)) {}
	explicit pool(const lfpool_config_t &config)
	{
		const lfpool_status_t status = create(config);

		if (status != LFPOOL_OK)
			throw error(status);
	}
#endif

	/* As lfpool_create().  object_size and object_alignment: 0 means T's; smaller values are refused, and larger
	 * ones add room.  The new pool replaces an earlier one, which is closed.  If closing is refused, the earlier
	 * pool stays, and the result is LFPOOL_E_IN_SECTION. */
	LFPOOL_MUST_USE lfpool_status_t create(const lfpool_config_t &config) noexcept
	{
		return create_by(config, [](lfpool_t **pool_out, const lfpool_config_t *filled) {
			return lfpool_create(pool_out, filled);
		});
	}
	LFPOOL_MUST_USE lfpool_status_t create(std::size_t capacity) noexcept
	{
		return create(lfpool::config(capacity));
	}

	/* As lfpool_create_in(). */
	LFPOOL_MUST_USE lfpool_status_t create_in(const lfpool_config_t &config, void *buffer,
						  std::size_t size) noexcept
	{
		return create_by(config, [=](lfpool_t **pool_out, const lfpool_config_t *filled) {
			return lfpool_create_in(pool_out, filled, buffer, size);
		});
	}

	/* As lfpool_destroy(): returns the number of objects that were still active; SIZE_MAX: refused, and the pool
	 * stays.  See "The end", above. */
	std::size_t close() noexcept
	{
		const std::size_t active = lfpool_destroy(pool_);

		if (active != SIZE_MAX)
			pool_ = nullptr;
		return active;
	}

	/* Destroys and releases every active object, and returns their number.  All objects must be complete: made, not
	 * only acquired.  No other thread may make or destroy an object meanwhile. */
	std::size_t clear() noexcept
	{
		return for_each_active([this](T &object) { (void)destroy(std::addressof(object)); });
	}

	/* Acquires an object and constructs it from the arguments; nullptr as lfpool_acquire(). */
	template <typename... Args> T *make(Args &&...args)
	{
		return detail::make<T>(pool_, std::forward<Args>(args)...);
	}
	template <typename... Args> unique_ptr<T> make_unique(Args &&...args)
	{
		return unique_ptr<T>(make(std::forward<Args>(args)...), deleter<T>(pool_));
	}
	template <typename... Args> self_ptr<T> make_self(Args &&...args)
	{
		return self_ptr<T>(make(std::forward<Args>(args)...));
	}

	/* Destroys the object and releases it.  If lfpool_release() would refuse it, it is not destroyed.  (Two calls
	 * for one object at the same instant may both run its destructor.) */
	lfpool_status_t destroy(T *object) noexcept { return detail::destroy(pool_, pool_, object); }

	/* Memory for a T: no constructor, no destructor. */
	void *allocate() noexcept { return lfpool_acquire(pool_); }
	lfpool_status_t deallocate(void *memory) noexcept { return lfpool_release(pool_, memory); }

	/* Acquires an object that hooks.create has constructed, as its last holder left it.  Only for pools with that
	 * hook. */
	T *acquire_built() noexcept { return static_cast<T *>(allocate()); }
	lfpool_status_t release_built(T *object) noexcept { return deallocate(object); }

	/* Calls visit(T &) for each active object, and returns their number.  visit() may destroy the object, and may
	 * throw.  The walk (lfpool/walk.h) also visits objects whose constructor or destructor is just running.  So no
	 * other thread may make or destroy objects during the walk, unless visit() does not read the objects. */
	template <typename Visit> std::size_t for_each_active(Visit &&visit)
	{
		lfpool_cursor_t cursor;
		std::size_t visited = 0;

		lfpool_cursor_open(&cursor, pool_);
		for (; void *object = lfpool_cursor_next(&cursor); visited++)
			visit(*static_cast<T *>(object));
		return visited;
	}

	/* The same walk as a range: for (T &object : pool).  The body may destroy the object. */
	class iterator {
	public:
		using iterator_category = std::input_iterator_tag;
		using value_type = T;
		using difference_type = std::ptrdiff_t;
		using pointer = T *;
		using reference = T &;

		iterator() noexcept = default; /* the end */
		explicit iterator(const lfpool_t *of) noexcept
		{
			lfpool_cursor_open(&cursor_, of);
			++*this;
		}
		T &operator*() const noexcept { return *at_; }
		T *operator->() const noexcept { return at_; }
		iterator &operator++() noexcept
		{
			at_ = static_cast<T *>(lfpool_cursor_next(&cursor_));
			return *this;
		}
		void operator++(int) noexcept { ++*this; }
		friend bool operator==(const iterator &a, const iterator &b) noexcept { return a.at_ == b.at_; }
		friend bool operator!=(const iterator &a, const iterator &b) noexcept { return a.at_ != b.at_; }

	private:
		lfpool_cursor_t cursor_ = lfpool_cursor_t();
		T *at_ = nullptr;
	};
	iterator begin() const noexcept { return iterator(pool_); }
	iterator end() const noexcept { return iterator(); }

	lfpool_handle_t handle_of(const T *object) const noexcept { return lfpool_handle_of(pool_, object); }
	T *resolve(lfpool_handle_t handle) const noexcept { return static_cast<T *>(lfpool_resolve(pool_, handle)); }

	std::size_t capacity() const noexcept { return lfpool_capacity(pool_); }
	std::size_t active_count() const noexcept { return lfpool_active_count(pool_); }
	std::size_t available_count() const noexcept { return lfpool_available_count(pool_); }

	/* The C pool; nullptr: no pool. */
	lfpool_t *get() const noexcept { return pool_; }
	explicit operator bool() const noexcept { return pool_ != nullptr; }

private:
	template <typename Create> lfpool_status_t create_by(lfpool_config_t config, Create &&by) noexcept
	{
		lfpool_t *created = nullptr;

		static_assert(alignof(T) <= std::size_t(1) << 30, "lfpool: T is aligned to more than 1 GiB");
		static_assert(sizeof(T) <= std::size_t(1) << 30, "lfpool: T is larger than 1 GiB");
		/* struct_size differs in a program that was compiled with another version of this header. */
		if (config.struct_size != sizeof(config))
			return LFPOOL_E_CONFIG_STRUCT_SIZE;
		if (config.object_size == 0)
			config.object_size = sizeof(T);
		if (config.object_alignment == 0)
			config.object_alignment = alignof(T);
		if (config.object_size < sizeof(T))
			return LFPOOL_E_CONFIG_OBJECT_SIZE;
		if (config.object_alignment < alignof(T))
			return LFPOOL_E_CONFIG_OBJECT_ALIGNMENT;

		const lfpool_status_t status = by(&created, &config);

		if (status != LFPOOL_OK)
			return status;
		if (close() == SIZE_MAX) {
			(void)lfpool_destroy(created);
			return LFPOOL_E_IN_SECTION;
		}
		pool_ = created;
		return status;
	}

	lfpool_t *pool_ = nullptr;
};

/* ---- An explicit cache ------------------------------------------------------------------------------------- */

/* For one worker at a time: lfpool_cache_create().  The cache must not outlive its pool, but objects may outlive the
 * cache. */
template <typename T> class cache : detail::poolable<T> {
public:
	cache() noexcept = default; /* no cache */
	/* operator bool is false if lfpool_cache_create() returned NULL. */
	explicit cache(const pool<T> &of) noexcept : cache_(lfpool_cache_create(of.get())), pool_(of.get()) {}

	/* As the pool's functions.  An object of make_unique() is released through the pool, so any worker may own
	 * it. */
	template <typename... Args> T *make(Args &&...args)
	{
		return detail::make<T>(get(), std::forward<Args>(args)...);
	}
	template <typename... Args> unique_ptr<T> make_unique(Args &&...args)
	{
		return unique_ptr<T>(make(std::forward<Args>(args)...), deleter<T>(pool_));
	}
	lfpool_status_t destroy(T *object) noexcept { return detail::destroy(pool_, get(), object); }
	void *allocate() noexcept { return lfpool_cache_acquire(get()); }
	lfpool_status_t deallocate(void *memory) noexcept { return lfpool_cache_release(get(), memory); }
	T *acquire_built() noexcept { return static_cast<T *>(allocate()); }
	lfpool_status_t release_built(T *object) noexcept { return deallocate(object); }

	lfpool_cache_t *get() const noexcept { return cache_.get(); }
	explicit operator bool() const noexcept { return cache_ != nullptr; }

private:
	struct closer {
		void operator()(lfpool_cache_t *closed) const noexcept { lfpool_cache_destroy(closed); }
	};
	std::unique_ptr<lfpool_cache_t, closer> cache_;
	lfpool_t *pool_ = nullptr;
};

} /* namespace lfpool */

#endif
