/* SPDX-License-Identifier: MIT */
/* refused.cpp - code that must not compile, selected by -DARRAY and so on.  Without any of them it compiles: the
 * control. */
#include <lfpool/set.hpp>

struct later;
lfpool::pool<later> *a_pool;
lfpool::unique_ptr<later> *a_pointer;

#if defined(ARRAY) /* a pool of arrays */
lfpool::pool<int[4]> pool;
#elif defined(ARRAY_POINTER) /* a pointer to an array */
lfpool::unique_ptr<int[]> pointer;
#elif defined(CONSTANT)      /* a pool of constants */
lfpool::pool<const int> pool;
#elif defined(INCOMPLETE)    /* an object of an incomplete type is destroyed */
void end(lfpool::unique_ptr<later> &pointer);
void end(lfpool::unique_ptr<later> &pointer)
{
	pointer.reset();
}
#elif defined(LARGE)         /* an object too large for any pool */
struct large {
	char bytes[(1 << 30) + 1];
};
lfpool_status_t open(lfpool::pool<large> &pool);
lfpool_status_t open(lfpool::pool<large> &pool)
{
	return pool.create(1);
}
#elif defined(COPY)          /* a copy of a pool */
lfpool::pool<int> first;
lfpool::pool<int> second(first);
#elif defined(BASE)          /* an owner of a base class at a different address */
struct base {
	int number;
};
struct derived : base {};
lfpool::unique_ptr<derived> one;
lfpool::unique_ptr<base> other(static_cast<lfpool::unique_ptr<derived> &&>(one));
#elif defined(UNUSED)        /* an ignored status of create() */
void open(lfpool::pool<int> &pool);
void open(lfpool::pool<int> &pool)
{
	pool.create(1);
}
#endif
