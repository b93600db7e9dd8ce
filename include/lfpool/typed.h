/* SPDX-License-Identifier: MIT */
/*
 * typed.h - pools of one C type: the functions of lfpool with that type in their prototypes.
 *
 *     LFPOOL_DEFINE(particle, struct particle);
 *
 *     lfpool_config_t config = LFPOOL_CONFIG_INIT;
 *     particle_pool_t pool;
 *
 *     config.capacity = 100000;                              // size and alignment are the type's
 *     if (particle_pool_create(&pool, &config) != LFPOOL_OK) ...
 *     struct particle *p = particle_acquire(pool);
 *     particle_release(pool, p);                             // another type's pool, or pointer, does not compile
 *
 * Idea       Each function is a static inline wrapper around its namesake, so it costs nothing.  (Static also in C++,
 *            so two files can use one name for different types.)  Pools, caches and handles are structs around the
 *            untyped value, passed by value.  Functions without a typed form take `pool.untyped`, as in
 *            lfpool_stats(pool.untyped, &stats).  The wrappers obey C's rules of aliasing: they cast no function
 *            pointer, and never access an array of typed pointers as an array of void pointers.
 * Languages  C99 to C23, C++11 to C++23.  Include lfpool/inline.h before this header to inline the fast paths.
 *
 * There are three macros, each used at file scope and followed by a semicolon.  `name` is the prefix of the defined
 * names.  `type` is the type of the objects: complete, and such that `type *` is a pointer to it.  lfpool/hidden.h has
 * three macros for hidden pools.
 *
 *     LFPOOL_DEFINE(name, type)               the functions below
 *     LFPOOL_HOOKS(name, type)                struct name_hooks: a table of the type's hooks
 *     LFPOOL_DEFINE_WITH(name, type, table)   as LFPOOL_DEFINE, for pools with the hooks of that table
 *
 * ---- The functions of LFPOOL_DEFINE ----------------------------------------------------------------------------
 *
 * Each function has the contract of the lfpool function of the same name, with the additions given here.
 *
 * Types
 *     name_pool_t, name_cache_t, name_handle_t    struct { lfpool_t * / lfpool_cache_t * / lfpool_handle_t untyped; }
 * Pools
 *     lfpool_status_t name_pool_create(name_pool_t *pool_out, const lfpool_config_t *config)
 *         config.object_size and object_alignment: 0 means the type's; larger values add room (for a flexible array,
 *         or for a whole cache line each); smaller ones are refused.  struct_size must be this header's.
 *     size_t name_pool_destroy(name_pool_t pool)
 *     name_pool_t name_pool_of(const type *object)            lfpool_of(); untyped is NULL if there is none
 * Objects
 *     type *name_acquire(name_pool_t pool)
 *     lfpool_status_t name_release(name_pool_t pool, type *object)
 *     lfpool_status_t name_release_if_owned(name_pool_t pool, void *object)
 *     lfpool_status_t name_release_self(type *object)         needs no pool
 *     lfpool_status_t name_retire(name_pool_t pool, type *object)    lfpool/retire.h
 *     size_t name_acquire_bulk(name_pool_t pool, type **objects_out, size_t count)
 *     size_t name_release_bulk(name_pool_t pool, type *const *objects, size_t count)     LFPOOL_TYPED_BATCH at a time
 *     bool name_owns(name_pool_t pool, const void *pointer)
 *     bool name_in_use(name_pool_t pool, const type *object)
 *     size_t name_index_of(name_pool_t pool, const type *object)
 *     type *name_object_at(name_pool_t pool, size_t index)
 * Handles
 *     name_handle_t name_handle_of(name_pool_t pool, const type *object)
 *     type *name_resolve(name_pool_t pool, name_handle_t handle)
 *     lfpool_status_t name_release_handle(name_pool_t pool, name_handle_t handle)
 * Walks
 *     size_t name_for_each_active(name_pool_t pool, bool (*visit)(void *context, type *object), void *context)
 *     size_t name_for_each_slot(name_pool_t pool, bool (*visit)(void *context, type *object, bool active), void *)
 *     size_t name_copy_active(name_pool_t pool, type **objects_out, size_t count)
 *     size_t name_copy_active_objects(name_pool_t pool, type *objects_out, size_t count)
 *     size_t name_release_all(name_pool_t pool)
 *     void name_cursor_open(lfpool_cursor_t *cursor_out, name_pool_t pool)
 *     void name_cursor_split(lfpool_cursor_t *cursors_out, size_t parts, name_pool_t pool)
 *     type *name_cursor_next(lfpool_cursor_t *cursor)         after one of these two
 * Caches
 *     name_cache_t name_cache_create(name_pool_t pool)        untyped is NULL if there is no memory
 *     void name_cache_destroy(name_cache_t cache)
 *     type *name_cache_acquire(name_cache_t cache)
 *     lfpool_status_t name_cache_release(name_cache_t cache, type *object)
 *     size_t name_cache_acquire_bulk(name_cache_t cache, type **objects_out, size_t count)
 *     size_t name_cache_release_bulk(name_cache_t cache, type *const *objects, size_t count)
 */
#ifndef LFPOOL_TYPED_H
#define LFPOOL_TYPED_H

#include "lfpool/handle.h"
#include "lfpool/lfpool.h"
#include "lfpool/retire.h"
#include "lfpool/walk.h"

/* The bulk forms copy this number of pointers at a time between typed and untyped arrays. */
#define LFPOOL_TYPED_BATCH 64

/* ---- Where the languages differ ---------------------------------------------------------------------------- */

#if defined(__GNUC__)
#define LFPOOL_TYPED static inline __attribute__((unused))
#define LFPOOL_TYPED_EXTENSION __extension__
#else
#define LFPOOL_TYPED static inline
#define LFPOOL_TYPED_EXTENSION
#endif

#ifdef __cplusplus
#define LFPOOL_TYPED_NULL nullptr
#define LFPOOL_TYPED_CAST(type, pointer) static_cast<type *>(pointer)
#define LFPOOL_TYPED_ALIGNMENT(name, type) enum { name##_typed_alignment = static_cast<int>(alignof(type)) };
#else
#define LFPOOL_TYPED_NULL NULL
#define LFPOOL_TYPED_CAST(type, pointer) ((type *)(pointer))
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define LFPOOL_TYPED_ALIGNMENT(name, type) enum { name##_typed_alignment = (int)_Alignof(type) };
#else /* C99 has no _Alignof: use the offset after a char.  An extension, as the type may have a flexible array. */
#define LFPOOL_TYPED_ALIGNMENT(name, type)                 \
	LFPOOL_TYPED_EXTENSION struct name##_typed_probe { \
		char before;                               \
		type object;                               \
	};                                                 \
	enum { name##_typed_alignment = (int)offsetof(struct name##_typed_probe, object) };
#endif
#endif

/* ---- Common to all types ----------------------------------------------------------------------------------- */

/* Fills in the type's size and alignment, and a table's hooks unless `table` is NULL. */
LFPOOL_INLINE_ lfpool_status_t lfpool_typed_create(lfpool_t **pool_out, const lfpool_config_t *config, size_t size,
						   size_t alignment, const lfpool_hooks_t *table)
{
	lfpool_config_t filled;

	if (!pool_out || !config)
		return lfpool_create(pool_out, config);
	*pool_out = LFPOOL_TYPED_NULL;
	/* struct_size differs in a program that was compiled with another version of this header. */
	if (config->struct_size != sizeof(filled))
		return LFPOOL_E_CONFIG_STRUCT_SIZE;
	filled = *config;
	if (filled.object_size == 0)
		filled.object_size = size;
	if (filled.object_alignment == 0)
		filled.object_alignment = alignment;
	if (filled.object_size < size)
		return LFPOOL_E_CONFIG_OBJECT_SIZE;
	if (filled.object_alignment < alignment)
		return LFPOOL_E_CONFIG_OBJECT_ALIGNMENT;
	if (table) {
		const lfpool_hooks_t *h = &filled.hooks;

		if (h->create || h->validate || h->activate || h->deactivate || h->destroy)
			return LFPOOL_E_CONFIG_HOOKS;
		filled.hooks.create = table->create;
		filled.hooks.validate = table->validate;
		filled.hooks.activate = table->activate;
		filled.hooks.deactivate = table->deactivate;
		filled.hooks.destroy = table->destroy;
	}
	return lfpool_create(pool_out, &filled);
}

/* The hooks of a type without a table: none. */
LFPOOL_INLINE_ const lfpool_hooks_t *lfpool_typed_no_hooks(lfpool_hooks_t *unused)
{
	(void)unused;
	return LFPOOL_TYPED_NULL;
}

/* ---- The parts of LFPOOL_DEFINE ---------------------------------------------------------------------------- */

/* A function that consists of one call: with external linkage, or static. */
#define LFPOOL_TYPED_CALL_SHOWN(result, function, parameters, call) \
	result function parameters                                  \
	{                                                           \
		return call;                                        \
	}
#define LFPOOL_TYPED_CALL(result, function, parameters, call) \
	LFPOOL_TYPED LFPOOL_TYPED_CALL_SHOWN(result, function, parameters, call)

/* Names in the functions end in an underscore, so that they shadow nothing. */
#define LFPOOL_TYPED_TYPES(name, type)   \
	typedef struct name##_pool_t {   \
		lfpool_t *untyped;       \
	} name##_pool_t;                 \
	typedef struct name##_cache_t {  \
		lfpool_cache_t *untyped; \
	} name##_cache_t;                \
	typedef struct name##_handle_t { \
		lfpool_handle_t untyped; \
	} name##_handle_t;               \
	LFPOOL_TYPED_ALIGNMENT(name, type)

#define LFPOOL_TYPED_CREATE(name, type, hooks)                                                                         \
	LFPOOL_TYPED LFPOOL_MUST_USE lfpool_status_t name##_pool_create(name##_pool_t *pool_out_,                      \
									const lfpool_config_t *config_)                \
	{                                                                                                              \
		lfpool_hooks_t table_;                                                                                 \
                                                                                                                       \
		return lfpool_typed_create(pool_out_ ? &pool_out_->untyped : LFPOOL_TYPED_NULL, config_, sizeof(type), \
					   name##_typed_alignment, hooks(&table_));                                    \
	}

/* The two bulk functions of a pool or a cache. */
#define LFPOOL_TYPED_BULK(type, holder, acquire, release, lfpool_acquire_, lfpool_release_)                  \
	LFPOOL_TYPED size_t acquire(holder holder_, type **objects_out_, size_t count_)                      \
	{                                                                                                    \
		void *batch_[LFPOOL_TYPED_BATCH];                                                            \
		size_t done_ = 0, wanted_ = 0, got_ = 0;                                                     \
                                                                                                             \
		for (; done_ < count_ && got_ == wanted_;) {                                                 \
			wanted_ = count_ - done_ < LFPOOL_TYPED_BATCH ? count_ - done_ : LFPOOL_TYPED_BATCH; \
			got_ = lfpool_acquire_(holder_.untyped, batch_, wanted_);                            \
			for (size_t i_ = 0; i_ < got_; i_++)                                                 \
				objects_out_[done_++] = LFPOOL_TYPED_CAST(type, batch_[i_]);                 \
		}                                                                                            \
		return done_;                                                                                \
	}                                                                                                    \
	LFPOOL_TYPED size_t release(holder holder_, type *const *objects_, size_t count_)                    \
	{                                                                                                    \
		void *batch_[LFPOOL_TYPED_BATCH];                                                            \
		size_t released_ = 0, room_ = 0;                                                             \
                                                                                                             \
		for (size_t i_ = 0; i_ < count_; i_++) {                                                     \
			batch_[room_++] = objects_[i_];                                                      \
			if (room_ == LFPOOL_TYPED_BATCH || i_ + 1 == count_) {                               \
				released_ += lfpool_release_(holder_.untyped, batch_, room_);                \
				room_ = 0;                                                                   \
			}                                                                                    \
		}                                                                                            \
		return released_;                                                                            \
	}

#define LFPOOL_TYPED_OBJECTS(name, type)                                                                        \
	LFPOOL_TYPED_CALL(size_t, name##_pool_destroy, (name##_pool_t pool_), lfpool_destroy(pool_.untyped))    \
	LFPOOL_TYPED name##_pool_t name##_pool_of(const type *object_)                                          \
	{                                                                                                       \
		name##_pool_t pool_ = {lfpool_of(object_)};                                                     \
		return pool_;                                                                                   \
	}                                                                                                       \
	LFPOOL_TYPED_CALL(type *, name##_acquire, (name##_pool_t pool_),                                        \
			  LFPOOL_TYPED_CAST(type, lfpool_acquire(pool_.untyped)))                               \
	LFPOOL_TYPED_CALL(lfpool_status_t, name##_release, (name##_pool_t pool_, type * object_),               \
			  lfpool_release(pool_.untyped, object_))                                               \
	LFPOOL_TYPED_CALL(lfpool_status_t, name##_release_if_owned, (name##_pool_t pool_, void *object_),       \
			  lfpool_release_if_owned(pool_.untyped, object_))                                      \
	LFPOOL_TYPED_CALL(lfpool_status_t, name##_release_self, (type * object_), lfpool_release_self(object_)) \
	LFPOOL_TYPED_CALL(lfpool_status_t, name##_retire, (name##_pool_t pool_, type * object_),                \
			  lfpool_retire(pool_.untyped, object_))                                                \
	LFPOOL_TYPED_BULK(type, name##_pool_t, name##_acquire_bulk, name##_release_bulk, lfpool_acquire_bulk,   \
			  lfpool_release_bulk)                                                                  \
	LFPOOL_TYPED_CALL(bool, name##_owns, (name##_pool_t pool_, const void *pointer_),                       \
			  lfpool_owns(pool_.untyped, pointer_))                                                 \
	LFPOOL_TYPED_CALL(bool, name##_in_use, (name##_pool_t pool_, const type *object_),                      \
			  lfpool_in_use(pool_.untyped, object_))                                                \
	LFPOOL_TYPED_CALL(type *, name##_object_at, (name##_pool_t pool_, size_t index_),                       \
			  LFPOOL_TYPED_CAST(type, lfpool_object_at(pool_.untyped, index_)))                     \
	LFPOOL_TYPED_CALL(size_t, name##_index_of, (name##_pool_t pool_, const type *object_),                  \
			  lfpool_index_of(pool_.untyped, object_))

#define LFPOOL_TYPED_HANDLES(name, type)                                                                          \
	LFPOOL_TYPED name##_handle_t name##_handle_of(name##_pool_t pool_, const type *object_)                   \
	{                                                                                                         \
		name##_handle_t handle_ = {lfpool_handle_of(pool_.untyped, object_)};                             \
		return handle_;                                                                                   \
	}                                                                                                         \
	LFPOOL_TYPED_CALL(type *, name##_resolve, (name##_pool_t pool_, name##_handle_t handle_),                 \
			  LFPOOL_TYPED_CAST(type, lfpool_resolve(pool_.untyped, handle_.untyped)))                \
	LFPOOL_TYPED_CALL(lfpool_status_t, name##_release_handle, (name##_pool_t pool_, name##_handle_t handle_), \
			  lfpool_release_handle(pool_.untyped, handle_.untyped))

/* The walks use a cursor, because a callback for lfpool_for_each_active() would have another type. */
#define LFPOOL_TYPED_WALKS(name, type)                                                                            \
	LFPOOL_TYPED void name##_cursor_open(lfpool_cursor_t *cursor_out_, name##_pool_t pool_)                   \
	{                                                                                                         \
		lfpool_cursor_open(cursor_out_, pool_.untyped);                                                   \
	}                                                                                                         \
	LFPOOL_TYPED void name##_cursor_split(lfpool_cursor_t *cursors_out_, size_t parts_, name##_pool_t pool_)  \
	{                                                                                                         \
		lfpool_cursor_split(cursors_out_, parts_, pool_.untyped);                                         \
	}                                                                                                         \
	LFPOOL_TYPED_CALL(type *, name##_cursor_next, (lfpool_cursor_t * cursor_),                                \
			  LFPOOL_TYPED_CAST(type, lfpool_cursor_next(cursor_)))                                   \
	LFPOOL_TYPED size_t name##_for_each_active(name##_pool_t pool_, bool (*visit_)(void *, type *),           \
						   void *context_)                                                \
	{                                                                                                         \
		lfpool_cursor_t cursor_;                                                                          \
		size_t visited_ = 0;                                                                              \
		bool on_ = true;                                                                                  \
		type *object_;                                                                                    \
                                                                                                                  \
		lfpool_cursor_open(&cursor_, pool_.untyped);                                                      \
		for (; on_ && (object_ = name##_cursor_next(&cursor_)); visited_++)                               \
			on_ = visit_(context_, object_);                                                          \
		return visited_;                                                                                  \
	}                                                                                                         \
	struct name##_typed_visit {                                                                               \
		bool (*visit)(void *, type *, bool);                                                              \
		void *context;                                                                                    \
	};                                                                                                        \
	LFPOOL_TYPED bool name##_typed_visit_slot(void *visit_, void *object_, bool active_)                      \
	{                                                                                                         \
		const struct name##_typed_visit *v_ = LFPOOL_TYPED_CAST(const struct name##_typed_visit, visit_); \
		return v_->visit(v_->context, LFPOOL_TYPED_CAST(type, object_), active_);                         \
	}                                                                                                         \
	LFPOOL_TYPED size_t name##_for_each_slot(name##_pool_t pool_, bool (*visit_)(void *, type *, bool),       \
						 void *context_)                                                  \
	{                                                                                                         \
		struct name##_typed_visit v_ = {visit_, context_};                                                \
		return lfpool_for_each_slot(pool_.untyped, name##_typed_visit_slot, &v_);                         \
	}                                                                                                         \
	LFPOOL_TYPED_CALL(size_t, name##_copy_active_objects,                                                     \
			  (name##_pool_t pool_, type * objects_out_, size_t count_),                              \
			  lfpool_copy_active_objects(pool_.untyped, objects_out_, count_, sizeof(type)))          \
	LFPOOL_TYPED size_t name##_copy_active(name##_pool_t pool_, type **objects_out_, size_t count_)           \
	{                                                                                                         \
		lfpool_cursor_t cursor_;                                                                          \
		size_t copied_ = 0;                                                                               \
                                                                                                                  \
		lfpool_cursor_open(&cursor_, pool_.untyped);                                                      \
		while (copied_ < count_ && (objects_out_[copied_] = name##_cursor_next(&cursor_)))                \
			copied_++;                                                                                \
		return copied_;                                                                                   \
	}                                                                                                         \
	LFPOOL_TYPED_CALL(size_t, name##_release_all, (name##_pool_t pool_), lfpool_release_all(pool_.untyped))

#define LFPOOL_TYPED_CACHES(name, type)                                                                   \
	LFPOOL_TYPED name##_cache_t name##_cache_create(name##_pool_t pool_)                              \
	{                                                                                                 \
		name##_cache_t cache_ = {lfpool_cache_create(pool_.untyped)};                             \
		return cache_;                                                                            \
	}                                                                                                 \
	LFPOOL_TYPED void name##_cache_destroy(name##_cache_t cache_)                                     \
	{                                                                                                 \
		lfpool_cache_destroy(cache_.untyped);                                                     \
	}                                                                                                 \
	LFPOOL_TYPED_CALL(type *, name##_cache_acquire, (name##_cache_t cache_),                          \
			  LFPOOL_TYPED_CAST(type, lfpool_cache_acquire(cache_.untyped)))                  \
	LFPOOL_TYPED_CALL(lfpool_status_t, name##_cache_release, (name##_cache_t cache_, type * object_), \
			  lfpool_cache_release(cache_.untyped, object_))                                  \
	LFPOOL_TYPED_BULK(type, name##_cache_t, name##_cache_acquire_bulk, name##_cache_release_bulk,     \
			  lfpool_cache_acquire_bulk, lfpool_cache_release_bulk)

#define LFPOOL_TYPED_FUNCTIONS(name, type) \
	LFPOOL_TYPED_OBJECTS(name, type)   \
	LFPOOL_TYPED_HANDLES(name, type)   \
	LFPOOL_TYPED_WALKS(name, type)     \
	LFPOOL_TYPED_CACHES(name, type)    \
	struct name##_pool_t /* the semicolon is the user's */

/*
 * LFPOOL_DEFINE - define the functions listed at the top of this file, for one type.
 *
 * name      Prefix of the defined names.
 * type      The objects' type: complete, and such that `type *` is a pointer to it.
 */
#define LFPOOL_DEFINE(name, type)                              \
	LFPOOL_TYPED_TYPES(name, type)                         \
	LFPOOL_TYPED_CREATE(name, type, lfpool_typed_no_hooks) \
	LFPOOL_TYPED_FUNCTIONS(name, type)

/* ---- Hooks: one table of functions per type ---------------------------------------------------------------- */

/*
 * LFPOOL_HOOKS - define struct name_hooks: a table of the hooks of a type.
 *
 *     LFPOOL_HOOKS(connection, struct connection);
 *     static const struct connection_hooks table = {.create = dial, .destroy = hang_up, .deactivate = still_open};
 *     LFPOOL_DEFINE_WITH(connection, struct connection, table);
 *
 * The five functions are the hooks of the same names in config.hooks, with `type *` instead of `void *`; a NULL
 * function is not called.  Each is called with config.hooks.context.  In config.hooks these five must be NULL (else
 * LFPOOL_E_CONFIG_HOOKS); other hooks may be set.
 *
 * name      Prefix of the struct's name.
 * type      The objects' type.
 */
#define LFPOOL_HOOKS(name, type)                                 \
	struct name##_hooks {                                    \
		bool (*create)(void *context, type *object);     \
		bool (*activate)(void *context, type *object);   \
		bool (*deactivate)(void *context, type *object); \
		void (*destroy)(void *context, type *object);    \
		bool (*validate)(void *context, type *object);   \
	}

/* Defines a hook for config.hooks that calls table.step. */
#define LFPOOL_TYPED_HOOK(name, type, table, step)                               \
	LFPOOL_TYPED bool name##_typed_##step(void *context_, void *object_)     \
	{                                                                        \
		return (table).step(context_, LFPOOL_TYPED_CAST(type, object_)); \
	}

/*
 * LFPOOL_DEFINE_WITH - as LFPOOL_DEFINE, for pools that call the functions of a table.
 *
 * name      Prefix of the defined names.
 * type      The objects' type, as for LFPOOL_DEFINE.
 * table     The name of a struct name_hooks; if it is `static const`, its functions are called directly.
 */
#define LFPOOL_DEFINE_WITH(name, type, table)                                                          \
	LFPOOL_TYPED_TYPES(name, type)                                                                 \
	LFPOOL_TYPED_HOOK(name, type, table, create)                                                   \
	LFPOOL_TYPED_HOOK(name, type, table, activate)                                                 \
	LFPOOL_TYPED_HOOK(name, type, table, deactivate)                                               \
	LFPOOL_TYPED_HOOK(name, type, table, validate)                                                 \
	LFPOOL_TYPED void name##_typed_destroy(void *context_, void *object_)                          \
	{                                                                                              \
		(table).destroy(context_, LFPOOL_TYPED_CAST(type, object_));                           \
	}                                                                                              \
	LFPOOL_TYPED const lfpool_hooks_t *name##_typed_hooks(lfpool_hooks_t *hooks_)                  \
	{                                                                                              \
		memset(hooks_, 0, sizeof(*hooks_));                                                    \
		hooks_->create = (table).create ? name##_typed_create : LFPOOL_TYPED_NULL;             \
		hooks_->validate = (table).validate ? name##_typed_validate : LFPOOL_TYPED_NULL;       \
		hooks_->activate = (table).activate ? name##_typed_activate : LFPOOL_TYPED_NULL;       \
		hooks_->deactivate = (table).deactivate ? name##_typed_deactivate : LFPOOL_TYPED_NULL; \
		hooks_->destroy = (table).destroy ? name##_typed_destroy : LFPOOL_TYPED_NULL;          \
		return hooks_;                                                                         \
	}                                                                                              \
	LFPOOL_TYPED_CREATE(name, type, name##_typed_hooks)                                            \
	LFPOOL_TYPED_FUNCTIONS(name, type)

#endif
