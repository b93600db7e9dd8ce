/* SPDX-License-Identifier: MIT */
/*
 * hidden.h - a type whose objects come from its own pool and from nowhere else.
 *
 * Idea       The header of a module declares an incomplete type, and functions that hand out objects of that type.  One
 *            source file has the struct, the pool and its hooks.
 *
 * In a header, where struct connection is and stays incomplete,
 *
 *     LFPOOL_DECLARE(connection, struct connection);
 *
 * declares connection_acquire, _release, _handle_of, _resolve, _release_handle, _for_each_active and _active_count: the
 * functions of LFPOOL_DEFINE (typed.h) without the parameter `pool`, with external linkage and C names.  In one source
 * file, below the definition of struct connection,
 *
 *     LFPOOL_DEFINE_HIDDEN(connection, struct connection);              or, with a table of hooks,
 *     LFPOOL_DEFINE_HIDDEN_WITH(connection, struct connection, table);
 *
 * defines these functions.  For that file alone it also defines the pool, a static variable `connection_hidden`, and
 * all functions of LFPOOL_DEFINE with the name connection_hidden.  The file opens and closes the pool with
 * connection_hidden_pool_create(&connection_hidden, &config) and connection_hidden_pool_destroy(connection_hidden).
 * Between these two calls the declared functions may be used.
 */
#ifndef LFPOOL_HIDDEN_H
#define LFPOOL_HIDDEN_H

#include "lfpool/typed.h"

/*
 * LFPOOL_DECLARE - declare the functions of a hidden pool, for a header.
 *
 * name      Prefix of the declared names.
 * type      The objects' type: incomplete in the header.
 */
#define LFPOOL_DECLARE(name, type)                                                     \
	LFPOOL_C_BEGIN_                                                                \
	typedef struct name##_handle_t {                                               \
		lfpool_handle_t untyped;                                               \
	} name##_handle_t;                                                             \
	type *name##_acquire(void);                                                    \
	lfpool_status_t name##_release(type *object_);                                 \
	name##_handle_t name##_handle_of(const type *object_);                         \
	type *name##_resolve(name##_handle_t handle_);                                 \
	lfpool_status_t name##_release_handle(name##_handle_t handle_);                \
	size_t name##_for_each_active(bool (*visit_)(void *, type *), void *context_); \
	size_t name##_active_count(void);                                              \
	LFPOOL_C_END_                                                                  \
	struct name##_handle_t

#define LFPOOL_TYPED_HIDDEN(name, type)                                                                           \
	static name##_hidden_pool_t name##_hidden;                                                                \
	LFPOOL_TYPED_CALL_SHOWN(type *, name##_acquire, (void), name##_hidden_acquire(name##_hidden))             \
	LFPOOL_TYPED_CALL_SHOWN(lfpool_status_t, name##_release, (type * object_),                                \
				name##_hidden_release(name##_hidden, object_))                                    \
	name##_handle_t name##_handle_of(const type *object_)                                                     \
	{                                                                                                         \
		name##_handle_t handle_ = {lfpool_handle_of(name##_hidden.untyped, object_)};                     \
		return handle_;                                                                                   \
	}                                                                                                         \
	LFPOOL_TYPED_CALL_SHOWN(type *, name##_resolve, (name##_handle_t handle_),                                \
				LFPOOL_TYPED_CAST(type, lfpool_resolve(name##_hidden.untyped, handle_.untyped)))  \
	LFPOOL_TYPED_CALL_SHOWN(lfpool_status_t, name##_release_handle, (name##_handle_t handle_),                \
				lfpool_release_handle(name##_hidden.untyped, handle_.untyped))                    \
	LFPOOL_TYPED_CALL_SHOWN(size_t, name##_for_each_active, (bool (*visit_)(void *, type *), void *context_), \
				name##_hidden_for_each_active(name##_hidden, visit_, context_))                   \
	LFPOOL_TYPED_CALL_SHOWN(size_t, name##_active_count, (void), lfpool_active_count(name##_hidden.untyped))  \
	struct name##_handle_t

/*
 * LFPOOL_DEFINE_HIDDEN, LFPOOL_DEFINE_HIDDEN_WITH - define the declared functions and their pool, in one source file.
 *
 * name      As for LFPOOL_DECLARE.
 * type      The objects' type: complete in the source file.
 * table     As for LFPOOL_DEFINE_WITH.
 */
#define LFPOOL_DEFINE_HIDDEN(name, type)    \
	LFPOOL_DEFINE(name##_hidden, type); \
	LFPOOL_TYPED_HIDDEN(name, type)
#define LFPOOL_DEFINE_HIDDEN_WITH(name, type, table)    \
	LFPOOL_DEFINE_WITH(name##_hidden, type, table); \
	LFPOOL_TYPED_HIDDEN(name, type)

#endif
