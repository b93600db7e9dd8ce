/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_typed_hooks.c - LFPOOL_HOOKS, LFPOOL_DEFINE_WITH and lfpool/hidden.h: who calls which function of a table, and a
 * module (widget.c) that keeps its pools to itself.
 */
#include "lfpool/typed.h"

#include "../support/support.h"
#include "../support/told.h"
#include "../support/widget.h"

struct crumb {
	char bytes[3];
};

struct calls {
	unsigned create, activate, deactivate, destroy;
	bool unfit;
};

static bool on_create(void *context, struct crumb *crumb)
{
	crumb->bytes[0] = 'c';
	((struct calls *)context)->create++;
	return true;
}

static bool on_activate(void *context, struct crumb *crumb)
{
	assert_int_equal(crumb->bytes[0], 'c');
	crumb->bytes[1] = 'a';
	((struct calls *)context)->activate++;
	return true;
}

static bool on_deactivate(void *context, struct crumb *crumb)
{
	assert_int_equal(crumb->bytes[1], 'a');
	((struct calls *)context)->deactivate++;
	return !((struct calls *)context)->unfit;
}

static void on_destroy(void *context, struct crumb *crumb)
{
	crumb->bytes[0] = 0;
	((struct calls *)context)->destroy++;
}

LFPOOL_HOOKS(full, struct crumb);
static const struct full_hooks full_table = {
	.create = on_create, .activate = on_activate, .deactivate = on_deactivate, .destroy = on_destroy};
LFPOOL_DEFINE_WITH(full, struct crumb, full_table);

static const struct full_hooks half_table = {.create = on_create, .destroy = on_destroy};
LFPOOL_DEFINE_WITH(half, struct crumb, half_table);

TEST(every_hook_of_a_table_is_called)
{
	struct calls calls = {0}, others = {0};
	full_pool_t full, second;

	assert_int_equal(full_pool_create(&full, &CONFIG_OF(0, 1, .hooks.context = &calls)), LFPOOL_OK);
	assert_int_equal(full_pool_create(&second, &CONFIG_OF(0, 1, .hooks.context = &others)), LFPOOL_OK);
	for (unsigned i = 1; i <= 3; i++) {
		struct crumb *crumb = full_acquire(full);

		assert_non_null(crumb);
		assert_int_equal(crumb->bytes[1], 'a');
		calls.unfit = i == 2;
		assert_int_equal(full_release(full, crumb), LFPOOL_OK);
		assert_int_equal(calls.activate, i);
		assert_int_equal(calls.deactivate, i);
		assert_int_equal(calls.create, i == 3 ? 2 : 1);
		assert_int_equal(calls.destroy, i >= 2 ? 1 : 0);
	}
	assert_int_equal(full_pool_destroy(full), 0);
	assert_int_equal(calls.destroy, calls.create);
	assert_non_null(full_acquire(second));
	assert_int_equal(full_pool_destroy(second), 1);
	assert_int_equal(others.create * 1000 + others.activate * 100 + others.deactivate * 10 + others.destroy, 1111);
}

TEST(hooks_that_a_table_lacks_are_not_called)
{
	struct calls calls = {0};
	half_pool_t half;

	assert_int_equal(half_pool_create(&half, &CONFIG_OF(0, 1, .hooks.context = &calls)), LFPOOL_OK);
	for (int i = 0; i < 3; i++)
		assert_int_equal(half_release(half, half_acquire(half)), LFPOOL_OK);
	assert_int_equal(half_pool_destroy(half), 0);
	assert_int_equal(calls.create, 1);
	assert_int_equal(calls.destroy, 1);
	assert_int_equal(calls.activate + calls.deactivate, 0);
}

static bool untyped_hook(void *context, void *object)
{
	return context && object;
}

TEST(a_table_and_untyped_hooks_exclude_each_other)
{
	struct calls calls = {0};
	half_pool_t half;

	assert_int_equal(half_pool_create(&half, &CONFIG_OF(0, 1, .hooks.activate = untyped_hook)), LFPOOL_E_CONFIG_HOOKS);
	assert_null(half.untyped);
	/* The misuse hook is no part of the table. */
	told_forget();
	assert_int_equal(half_pool_create(&half, &CONFIG_OF(0, 1, .hooks.misuse = hear)), LFPOOL_OK);
	assert_int_equal(half_release(half, (struct crumb *)&calls), LFPOOL_E_FOREIGN);
	assert_int_equal(told.count, 1);
	half_pool_destroy(half);
}

/* ---- Hidden pools ------------------------------------------------------------------------------------------ */

static bool add_weight(void *context, struct widget *widget)
{
	*(unsigned *)context += widget_weight(widget);
	return true;
}

TEST(hidden_pools)
{
	unsigned weight = 0;

	for (int round = 0; round < 2; round++) {
		assert_int_equal(widgets_open(2), LFPOOL_OK);
		struct widget *a = widget_acquire(), *b = widget_acquire();
		widget_handle_t handle = widget_handle_of(b);

		assert_null(widget_acquire());
		widget_weigh(a, 40);
		widget_weigh(b, 2);
		weight = 0;
		assert_int_equal(widget_for_each_active(add_weight, &weight), 2);
		assert_int_equal(weight, 42);
		assert_int_equal(widget_active_count(), 2);
		assert_ptr_equal(widget_resolve(handle), b);
		assert_int_equal(widget_release_handle(handle), LFPOOL_OK);
		assert_null(widget_resolve(handle));
		assert_int_equal(widget_release(a), LFPOOL_OK);
		assert_int_equal(widget_active_count(), 0);

		assert_int_equal(gadgets_built(), 0);
		struct gadget *gadget = gadget_acquire();
		assert_non_null(gadget);
		assert_int_equal(gadgets_built(), 1);
		assert_int_equal(gadget_release(gadget), LFPOOL_OK);
		assert_int_equal(widgets_close(), 0);
		assert_int_equal(gadgets_taken_down(), 1);
	}
}

RUN_TESTS()
