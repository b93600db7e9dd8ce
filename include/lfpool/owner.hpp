/* SPDX-License-Identifier: MIT */
/*
 * owner.hpp - owners of one object each, and the code that they share with pools and caches.  Included by lfpool.hpp,
 * which describes them.
 */
#ifndef LFPOOL_OWNER_HPP
#define LFPOOL_OWNER_HPP

#include "lfpool/handle.h"
#include "lfpool/lfpool.h"

#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace lfpool
{

/* ---- Common code of pools and caches; internal ------------------------------------------------------------- */

namespace detail
{

inline void *take(lfpool_t *pool) noexcept
{
	return lfpool_acquire(pool);
}
inline void *take(lfpool_cache_t *cache) noexcept
{
	return lfpool_cache_acquire(cache);
}
inline lfpool_status_t give(lfpool_t *pool, void *object) noexcept
{
	return lfpool_release(pool, object);
}
inline lfpool_status_t give(lfpool_cache_t *cache, void *object) noexcept
{
	return lfpool_cache_release(cache, object);
}

/* Memory of an object under construction: released if the constructor throws. */
template <typename Source> struct unfinished {
	Source *source;
	void *memory;

	unfinished(Source *source_, void *memory_) noexcept : source(source_), memory(memory_) {}
	unfinished(const unfinished &) = delete;
	unfinished &operator=(const unfinished &) = delete;
	~unfinished()
	{
		if (memory)
			(void)give(source, memory);
	}
};

/* T(args...) if T has such a constructor, otherwise T{args...}, for an aggregate. */
template <typename T, typename... Args> T *construct(std::true_type, void *memory, Args &&...args)
{
	return ::new (memory) T(std::forward<Args>(args)...);
}

template <typename T, typename... Args> T *construct(std::false_type, void *memory, Args &&...args)
{
	return ::new (memory) T{std::forward<Args>(args)...};
}

template <typename T, typename Source, typename... Args> T *make(Source *source, Args &&...args)
{
	unfinished<Source> memory(source, take(source));

	if (!memory.memory)
		return nullptr;
	T *object = construct<T>(std::is_constructible<T, Args...>(), memory.memory, std::forward<Args>(args)...);
	memory.memory = nullptr;
	return object;
}

#ifdef LFPOOL_INLINE_H
/* The cache for the inlined fast path of this call, or nullptr. */
inline lfpool_cache_t *hot_cache(lfpool_cache_t *cache) noexcept
{
	return cache;
}
inline lfpool_cache_t *hot_cache(lfpool_t *pool) noexcept
{
	lfpool_cache_t *cache;

	return lfpool_find_(pool, &cache) ? cache : nullptr;
}

/* The fast path of destroy(); false: it does not apply, and nothing was done. */
template <typename T, typename Source> bool destroy_hit(Source *source, T *object, lfpool_status_t &status) noexcept
{
	lfpool_cache_t *cache = hot_cache(source);

	if (!cache)
		return false;
	LFPOOL_ATOMIC_(uintptr_t) *states = cache->state;
	const uintptr_t granule = lfpool_granule_of_(cache, object);
	if (!lfpool_is_active_at_(cache, states, granule, object))
		return false;
	object->~T();
	/* The destructor may have changed the thread's cache, so find it again.  `states` is still valid, because all
	 * caches of a pool have the same states. */
	cache = hot_cache(source);
	if (cache && lfpool_is_active_at_(cache, states, granule, object) &&
	    lfpool_push_(cache, object, &states[granule]))
		status = lfpool_pushed_(cache, states);
	else
		status = give(source, object);
	return true;
}
#else
template <typename T, typename Source> bool destroy_hit(Source *, T *, lfpool_status_t &) noexcept
{
	return false;
}
#endif

/* Calls the destructor only if the release will accept the object.  (A trivial destructor needs no check.) */
template <typename T, typename Source> lfpool_status_t destroy(lfpool_t *pool, Source *source, T *object) noexcept
{
	lfpool_status_t status;

	static_assert(sizeof(T) > 0, "lfpool: T is incomplete here");
	if (std::is_trivially_destructible<T>::value)
		return give(source, object);
	if (destroy_hit(source, object, status))
		return status;
	if (object && lfpool_in_use(pool, object))
		object->~T();
	return give(source, object);
}

template <typename T> struct poolable {
	static_assert(!std::is_array<T>::value, "lfpool: arrays are not pooled; make it a struct that has one");
	static_assert(std::is_object<T>::value && std::is_same<T, typename std::remove_cv<T>::type>::value,
		      "lfpool: T is a class or another type of objects, without const");
};

} /* namespace detail */

/* ---- Owners of one object ---------------------------------------------------------------------------------- */

/* Destroys the object and releases it to its pool. */
template <typename T> class deleter : detail::poolable<T> {
public:
	deleter() noexcept = default; /* for an empty pointer */
	explicit deleter(lfpool_t *pool) noexcept : pool_(pool) {}
	void operator()(T *object) const noexcept { (void)detail::destroy(pool_, pool_, object); }
	lfpool_t *get_pool() const noexcept { return pool_; }

private:
	lfpool_t *pool_ = nullptr;
};

/* As deleter, but finds the pool by the object's address, and ignores an address outside all pools. */
template <typename T> struct self_deleter : detail::poolable<T> {
	void operator()(T *object) const noexcept
	{
		if (lfpool_t *pool = lfpool_of(object))
			(void)detail::destroy(pool, pool, object);
	}
};

/* As deleter, for objects of classes derived from the polymorphic class B.  Each class may have a different pool. */
template <typename B> class base_deleter {
public:
	base_deleter() noexcept = default;
	template <typename T, typename = typename std::enable_if<std::is_convertible<T *, B *>::value>::type>
	base_deleter(const deleter<T> &of) noexcept : pool_(of.get_pool())
	{
	}
	template <typename D, typename = typename std::enable_if<std::is_convertible<D *, B *>::value>::type>
	base_deleter(const base_deleter<D> &of) noexcept : pool_(of.get_pool())
	{
	}
	void operator()(B *object) const noexcept
	{
		static_assert(std::has_virtual_destructor<B>::value, "lfpool: B has no virtual destructor");
		/* B may be const: an owner destroys a const object too, as std::unique_ptr does. */
		void *const whole = const_cast<void *>(dynamic_cast<const volatile void *>(object));

		if (lfpool_in_use(pool_, whole))
			object->~B();
		(void)lfpool_release(pool_, whole);
	}
	lfpool_t *get_pool() const noexcept { return pool_; }

private:
	lfpool_t *pool_ = nullptr;
};

template <typename T> using unique_ptr = std::unique_ptr<T, deleter<T>>;
template <typename B> using base_ptr = std::unique_ptr<B, base_deleter<B>>;
template <typename T> using self_ptr = std::unique_ptr<T, self_deleter<T>>;

} /* namespace lfpool */

#endif
