/* SPDX-License-Identifier: MIT */
/* unit_classes.c - size classes: every size, alignment and spacing, compared with a list built step by step. */
#include "../support/support.h"

#include "base/classes.h"

#define LARGEST MIB
#define CLASSES_MAX 400

static const size_t all_steps[] = {4, 8, 16};

/* The list: each class is one step above the last.  A step is 1/steps of the power of two below, but at least the
 * alignment.  Returns the number of classes up to `largest`. */
static size_t list_classes(size_t *list, size_t alignment, size_t steps, size_t largest)
{
	size_t count = 1, power = alignment;

	list[0] = alignment;
	while (list[count - 1] < largest) {
		const size_t last = list[count - 1];

		while (power * 2 <= last)
			power *= 2;
		assert_in_range(count, 1, CLASSES_MAX - 1);
		list[count++] = last + (power / steps > alignment ? power / steps : alignment);
	}
	return count;
}

/* X1 and X2, for each size. */
static void check_sizes(const struct classes *c, const size_t *list, size_t alignment, size_t steps)
{
	size_t expected = 0;

	for (size_t size = 1; size <= LARGEST; size++) {
		while (list[expected] < size)
			expected++;
		const size_t number = class_of(c, size), unused = list[expected] - size;

		/* cmocka's own assertions are slow for forty million. */
		REQUIRE(number == expected);
		if (size <= steps * alignment)
			REQUIRE(unused <= alignment - 1);
		else
			REQUIRE(unused * (steps + 1) < list[expected]);
	}
}

TEST(every_size_has_the_least_class_that_holds_it)
{
	size_t list[CLASSES_MAX];

	for (size_t alignment = 1; alignment <= 4096; alignment *= 2)
		for (size_t s = 0; s < COUNT(all_steps); s++) {
			const struct classes c = classes_for(alignment, all_steps[s], LARGEST);
			const size_t count = list_classes(list, alignment, all_steps[s], LARGEST);

			assert_int_equal(c.count, count);
			/* An object size that is a power of two, so the largest class is no larger than an object may
			 * be. */
			assert_int_equal(class_size(&c, count - 1), LARGEST);
			for (size_t i = 0; i < count; i++) {
				assert_int_equal(class_size(&c, i), list[i]);
				assert_int_equal(list[i] % alignment, 0);
			}
			check_sizes(&c, list, alignment, all_steps[s]);
		}
}

/* Size 0 is served as one byte. */
TEST(sizes_beyond_the_largest_have_no_class)
{
	const struct classes c = classes_for(16, 8, 65536);

	assert_int_equal(c.count, 80);
	assert_int_equal(class_of(&c, 65537), 80);
	for (unsigned bit = 17; bit < 8 * sizeof(size_t); bit++) {
		assert_true(class_of(&c, (size_t)1 << bit) >= c.count);
		assert_true(class_of(&c, ((size_t)1 << bit) + 1) >= c.count);
	}
	assert_true(class_of(&c, SIZE_MAX) >= c.count);
	assert_int_equal(class_of(&c, 0), 0);
}

RUN_TESTS()
