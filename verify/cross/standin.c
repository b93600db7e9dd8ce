/* SPDX-License-Identifier: MIT */
/* standin.c - the replacement for cmocka can fail: each assertion holds where it should and fails where it should. */
#include <stddef.h>

#include <cmocka.h>

#define UNUSED __attribute__((unused))
static const char a[] = "a", b[] = "b";
static int torn_down;

/* X(name, an assertion that must fail) */
#define ASSERTIONS(X)                                      \
	X(is_true, assert_true(0))                         \
	X(is_false, assert_false(1))                       \
	X(is_null, assert_null(a))                         \
	X(is_non_null, assert_non_null(NULL))              \
	X(int_equal, assert_int_equal(1, 2))               \
	X(int_not_equal, assert_int_not_equal(1, 1))       \
	X(below_range, assert_in_range(1, 2, 3))           \
	X(above_range, assert_in_range(4, 2, 3))           \
	X(ptr_equal, assert_ptr_equal(a, b))               \
	X(ptr_not_equal, assert_ptr_not_equal(a, a))       \
	X(message, fail_msg("%d", 1))                      \
	X(string_equal, assert_string_equal(a, b))         \
	X(string_not_equal, assert_string_not_equal(a, a)) \
	X(memory_equal, assert_memory_equal(a, b, 1))

#define FAILS(name, assertion)                \
	static void name(UNUSED void **state) \
	{                                     \
		assertion;                    \
	}
ASSERTIONS(FAILS)

static int refuse(UNUSED void **state)
{
	return -1;
}

static int note(UNUSED void **state)
{
	torn_down++;
	return 0;
}

static void everything_holds(UNUSED void **state)
{
	assert_true(1);
	assert_false(0);
	assert_null(NULL);
	assert_non_null(a);
	assert_int_equal(-1, (long)-1);
	assert_int_not_equal(1, 2);
	assert_in_range(2, 2, 3);
	assert_in_range(3, 2, 3);
	assert_ptr_equal(a, a);
	assert_ptr_not_equal(a, b);
	assert_string_equal(a, "a");
	assert_string_not_equal(a, b);
	assert_memory_equal(a, "a", 2);
}

static void skipped(UNUSED void **state)
{
	skip();
	assert_true(0);
}

int main(void)
{
	const struct CMUnitTest fail[] = {
#define ROW(name, assertion) cmocka_unit_test(name),
		ASSERTIONS(ROW) cmocka_unit_test_setup_teardown(everything_holds, refuse, NULL),
		cmocka_unit_test_setup_teardown(is_true, NULL, note),
	};
	const struct CMUnitTest hold[] = {
		cmocka_unit_test(everything_holds),
		cmocka_unit_test(skipped),
		cmocka_unit_test_setup_teardown(everything_holds, note, note),
	};
	const int count = (int)(sizeof(fail) / sizeof(fail[0]));
	int wrong = count - cmocka_run_group_tests_name("all of these must fail", fail, NULL, NULL);

	wrong += cmocka_run_group_tests_name("all of these must pass", hold, NULL, NULL);
	wrong += torn_down != 3;
	printf("%d passed, %d failed\n", count + 4 - wrong, wrong);
	return wrong != 0;
}
