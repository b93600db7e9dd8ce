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
 * Everything here is a thin layer: what a call promises is what the C function of its name promises, which `get()`
 * gives access to.  No function throws because the pool is empty, or because a release is refused: nullptr and a status
 * say it.
 *
 * Owners       A pool<T> owns its pool, and can only be moved; objects, pointers and caches stay valid when it is.
 *              unique_ptr<T> owns an object: two words, that of the object and that of its pool.  self_ptr<T> is one
 *              word, and finds the pool by the object's address: O(log pools) more for each release, and not for pools
 *              in a buffer.  An object is known by the address it was made at: neither converts to an owner of a base
 *              class, but unique_ptr<T> to base_ptr<B>, if B's destructor is virtual: that asks the object where it
 *              begins.
 * Exceptions   A constructor that throws gives the memory back, and the exception goes on.  Hooks and continuations are
 *              called by C: they must not throw.  Without exceptions use create(); what throws is not declared.
 * The end      When a pool is closed the memory of its objects is gone, and with it objects that are still active:
 *              their destructors are not called, since nobody knows which of them are whole.  close() says how many
 *              they were, clear() destroys them before that.  An owner must let go of its object before.  With a scheme
 *              (lfpool/retire.h) closing may be refused: close() says so, an assignment leaves the pool to the one that
 *              is assigned from, and a destructor can do neither: the pool lives on without an owner.  So close() it
 *              first.
 * Types        T is complete where objects are made or destroyed; pool<T> and unique_ptr<T> can be declared before.
 *              Alignment and size up to 1 GiB.  Arrays are refused: a struct may have one.
 *
 * Hits         With lfpool/inline.h included before, those of cache<T> are inlined: in all files of a program, or in
 *              none.
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

/* What could not be created, for those who want it thrown. */
class error : public std::exception {
public:
	explicit error(lfpool_status_t status) noexcept : status_(status) {}
	lfpool_status_t status() const noexcept { return status_; }
	const char *what() const noexcept override { return lfpool_status_string(status_); }

private:
	lfpool_status_t status_;
};

/* A config with defaults: what LFPOOL_CONFIG_INIT is in C. */
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
	pool() noexcept = default; /* none; create() makes one */
	pool(pool &&other) noexcept : pool_(other.pool_) { other.pool_ = nullptr; }
	pool &operator=(pool &&other) noexcept
	{
		/* What cannot be closed is the other's now. */
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

	/* As lfpool_create(); in the config, size and alignment 0 are those of T, less is refused, more is more room.
	 * An earlier pool is closed if that succeeds; LFPOOL_E_IN_SECTION, and it stays, if it cannot be. */
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

	/* As lfpool_destroy(): returns how many objects were still active; SIZE_MAX: refused, and the pool is here
	 * still.  See "The end", above. */
	std::size_t close() noexcept
	{
		const std::size_t active = lfpool_destroy(pool_);

		if (active != SIZE_MAX)
			pool_ = nullptr;
		return active;
	}

	/* Destroys and releases every active object.  All must be whole: made here, not only acquired; and no other
	 * thread may be making or destroying any.  Returns how many they were. */
	std::size_t clear() noexcept
	{
		return for_each_active([this](T &object) { (void)destroy(std::addressof(object)); });
	}

	/* An object, constructed from the arguments; nullptr as lfpool_acquire(). */
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

	/* Destroys the object, and releases it.  What lfpool_release() refuses is refused, and not destroyed.  (Two
	 * calls for one object at the same instant may both run its destructor: nothing says whose it is until the
	 * release.) */
	lfpool_status_t destroy(T *object) noexcept { return detail::destroy(pool_, pool_, object); }

	/* Memory for a T, and its way back: no constructor, no destructor.  For pools with hooks.create too. */
	void *acquire() noexcept { return lfpool_acquire(pool_); }
	lfpool_status_t release(void *object) noexcept { return lfpool_release(pool_, object); }

	/* Calls visit(T &) for each active object, which may destroy it; may throw.  Returns how many.  As a cursor of
	 * lfpool/walk.h, which knows nothing of constructors: an object is visited from before its constructor begins
	 * until its destructor has ended.  So nobody may be making or destroying one meanwhile, unless visit() looks at
	 * nothing that they touch. */
	template <typename Visit> std::size_t for_each_active(Visit &&visit)
	{
		lfpool_cursor_t cursor;
		std::size_t visited = 0;

		lfpool_cursor_open(&cursor, pool_);
		for (; void *object = lfpool_cursor_next(&cursor); visited++)
			visit(*static_cast<T *>(object));
		return visited;
	}

	/* The same as a range: for (T &object : pool).  The body may destroy the object. */
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

	/* For the functions of C.  nullptr: there is no pool. */
	lfpool_t *get() const noexcept { return pool_; }
	explicit operator bool() const noexcept { return pool_ != nullptr; }

private:
	template <typename Create> lfpool_status_t create_by(lfpool_config_t config, Create &&by) noexcept
	{
		lfpool_t *created = nullptr;

		static_assert(alignof(T) <= std::size_t(1) << 30, "lfpool: T is aligned to more than 1 GiB");
		static_assert(sizeof(T) <= std::size_t(1) << 30, "lfpool: T is larger than 1 GiB");
		/* Another size is of another header than this program's. */
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

/* ---- A cache of one's own ---------------------------------------------------------------------------------- */

/* For one worker at a time: lfpool_cache_create().  Objects may be destroyed by another cache, or the pool.  It must
 * not outlive its pool. */
template <typename T> class cache : detail::poolable<T> {
public:
	cache() noexcept = default; /* none */
	/* There is none, which operator bool tells, when lfpool_cache_create() returns NULL. */
	explicit cache(const pool<T> &of) noexcept : cache_(lfpool_cache_create(of.get())), pool_(of.get()) {}

	/* As those of the pool.  What make_unique() gives is released through the pool: it may go to another worker. */
	template <typename... Args> T *make(Args &&...args)
	{
		return detail::make<T>(get(), std::forward<Args>(args)...);
	}
	template <typename... Args> unique_ptr<T> make_unique(Args &&...args)
	{
		return unique_ptr<T>(make(std::forward<Args>(args)...), deleter<T>(pool_));
	}
	lfpool_status_t destroy(T *object) noexcept { return detail::destroy(pool_, get(), object); }
	void *acquire() noexcept { return lfpool_cache_acquire(get()); }
	lfpool_status_t release(void *object) noexcept { return lfpool_cache_release(get(), object); }

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
