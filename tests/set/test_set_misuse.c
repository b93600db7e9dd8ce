/* SPDX-License-Identifier: MIT */
/* test: misuse once */
/*
 * test_set_misuse.c - what is given back to a set and is none of its active objects is refused and told, by the pool
 * whose object it might be, or by the set; and nothing is changed.
 */
#include "../support/set_support.h"

enum { SIZE = 100, CAPACITY = 20 };

/* What the hook was told last. */
struct told {
	size_t times;
	lfpool_misuse_t misuse;
	char name[64];
};

static void listen(void *context, const lfpool_misuse_t *misuse)
{
	struct told *t = context;

	t->times++;
	t->misuse = *misuse;
	REQUIRE(misuse->detail);
	(void)snprintf(t->name, sizeof(t->name), "%s", misuse->pool_name);
}

static lfpool_set_t *listening_set(lfpool_backend_t backend, struct told *told)
{
	lfpool_set_config_t config = set_config_of(backend, 1000, CAPACITY);

	memset(told, 0, sizeof(*told));
	config.name = "trays";
	config.hooks.context = told;
	config.hooks.misuse = listen;
	return set_with(&config);
}

static void expect(lfpool_set_t *set, struct told *told, void *object, lfpool_status_t expected, const lfpool_t *pool)
{
	const size_t before = told->times;

	assert_int_equal(lfpool_set_release(set, object), expected);
	assert_int_equal(told->times, before + 1);
	assert_int_equal(told->misuse.status, expected);
	assert_ptr_equal(told->misuse.object, object);
	assert_ptr_equal(told->misuse.pool, pool);
	assert_string_equal(told->name, pool ? "trays/112" : "trays");
}

TEST(each_kind_is_refused_by_whom_it_concerns)
{
	static const lfpool_backend_t backends[] = {LFPOOL_BACKEND_LOCKFREE, LFPOOL_BACKEND_MUTEX};

	for (size_t b = 0; b < COUNT(backends); b++) {
		struct told told;
		lfpool_set_t *set = listening_set(backends[b], &told);
		lfpool_t *pool = lfpool_set_pool(set, lfpool_set_class_of(set, SIZE));
		unsigned char *object = lfpool_set_acquire(set, SIZE), *free_one = lfpool_set_acquire(set, SIZE);
		int stranger;

		assert_int_equal(lfpool_set_release(set, free_one), LFPOOL_OK);
		expect(set, &told, free_one, LFPOOL_E_NOT_IN_USE, pool);
		for (ptrdiff_t offset = 1; offset < 112; offset++)
			expect(set, &told, moved(object, offset), LFPOOL_E_INTERIOR, pool);
		/* In the window, behind the objects. */
		const ptrdiff_t stride = (ptrdiff_t)stride_of(pool, object);

		expect(set, &told, moved(object, stride * CAPACITY), LFPOOL_E_FOREIGN, pool);
		expect(set, &told, &stranger, LFPOOL_E_FOREIGN, NULL);
		expect(set, &told, set, LFPOOL_E_FOREIGN, NULL);
		assert_false(lfpool_set_owns(set, &stranger));
		assert_false(lfpool_set_owns(set, moved(object, 1)));
		assert_int_equal(lfpool_set_usable_size(set, &stranger), 0);
		assert_int_equal(lfpool_set_usable_size(set, moved(object, 16)), 0);
		/* Nothing has changed. */
		assert_int_equal(lfpool_active_count(pool), 1);
		assert_int_equal(lfpool_set_release(set, object), LFPOOL_OK);
		require_whole(pool, SIZE);
		/* Of the set's own refusals, and of its pools'. */
		lfpool_stats_t stats = LFPOOL_STATS_INIT;

		assert_int_equal(lfpool_set_stats(set, &stats), LFPOOL_OK);
		assert_int_equal(stats.misuses, told.times);
		assert_int_equal(told.times, 2 + 111 + 3 - 1);
		assert_int_equal(lfpool_misuse_count(pool), told.times - 2);
		lfpool_set_destroy(set);
	}
}

/* Every address from before the first window to behind the last is refused, whether there is a pool or not. */
TEST(addresses_around_and_between)
{
	struct told told;
	lfpool_set_t *set = listening_set(LFPOOL_BACKEND_LOCKFREE, &told);
	unsigned char *object = lfpool_set_acquire(set, SIZE);
	const size_t range = 2 * lfpool_set_class_count(set) * CAPACITY * 1024;
	size_t refused = 0;

	for (ptrdiff_t distance = 1; distance < (ptrdiff_t)range; distance += 16)
		for (int sign = -1; sign <= 1; sign += 2) {
			void *pointer = moved(object, sign * distance);

			assert_false(lfpool_set_owns(set, pointer));
			assert_int_not_equal(lfpool_set_release(set, pointer), LFPOOL_OK);
			refused++;
		}
	assert_int_equal(told.times, refused);
	for (unsigned bit = 0; bit < 64; bit++)
		assert_int_not_equal(lfpool_set_release(set, (void *)((uintptr_t)1 << bit)), LFPOOL_OK);
	assert_int_equal(lfpool_set_release(set, (void *)UINTPTR_MAX), LFPOOL_E_FOREIGN);
	/* No pool was made for any of that. */
	for (size_t i = 0; i < lfpool_set_class_count(set); i++)
		assert_true(!lfpool_set_peek(set, i) == (i != lfpool_set_class_of(set, SIZE)));
	assert_int_equal(lfpool_set_release(set, object), LFPOOL_OK);
	assert_int_equal(lfpool_set_destroy(set), 0);
}

TEST(another_sets_objects)
{
	EACH_BACKEND(backend) {
		struct told told, other_told;
		lfpool_set_t *set = listening_set(backend, &told), *other = listening_set(backend, &other_told);
		lfpool_config_t config = config_of(112, 1);

		config.backend = backend;
		lfpool_t *single = pool_with(&config);

		/* Of a size that no class has. */
		config.object_size = 100000;
		lfpool_t *huge = pool_with(&config);
		void *huge_one = lfpool_acquire(huge);
		void *object = lfpool_set_acquire(set, SIZE), *others = lfpool_set_acquire(other, SIZE);
		void *singles = lfpool_acquire(single);

		expect(set, &told, others, LFPOOL_E_FOREIGN, NULL);
		expect(set, &told, singles, LFPOOL_E_FOREIGN, NULL);
		expect(set, &told, huge_one, LFPOOL_E_FOREIGN, NULL);
		assert_int_equal(lfpool_release(huge, huge_one), LFPOOL_OK);
		assert_int_equal(lfpool_destroy(huge), 0);
		expect(other, &other_told, object, LFPOOL_E_FOREIGN, NULL);
		assert_int_equal(lfpool_set_usable_size(set, others), 0);
		assert_int_equal(lfpool_set_usable_size(set, object), 112);
		assert_int_equal(lfpool_set_release(set, object), LFPOOL_OK);
		assert_int_equal(lfpool_set_release(other, others), LFPOOL_OK);
		assert_int_equal(lfpool_release(single, singles), LFPOOL_OK);
		assert_int_equal(lfpool_destroy(single), 0);
		assert_int_equal(lfpool_set_destroy(set), 0);
		assert_int_equal(lfpool_set_destroy(other), 0);
	}
}

TEST(in_bulk_the_rest_is_released)
{
	struct told told;
	lfpool_set_t *set = listening_set(LFPOOL_BACKEND_LOCKFREE, &told);
	void *objects[8];
	int stranger;

	for (size_t i = 0; i < COUNT(objects); i++)
		objects[i] = lfpool_set_acquire(set, i < 4 ? 20 : 200);
	void *const given[] = {
		objects[0], &stranger, objects[1], objects[0], moved(objects[2], 3), objects[2], objects[4],
		objects[3], NULL, moved(&stranger, 1), objects[5], objects[6], objects[6], objects[7],
	};

	assert_int_equal(lfpool_set_release_bulk(set, given, COUNT(given)), COUNT(objects));
	assert_int_equal(told.times, 5);
	require_set_intact(set);
	assert_int_equal(lfpool_set_destroy(set), 0);
}

/* Runs with stderr sent to a file; returns what was written there. */
static void stderr_of_two(lfpool_set_t *set, char *text_out, size_t room)
{
	FILE *file = tmpfile();
	const int kept = dup(STDERR_FILENO);

	assert_non_null(file);
	fflush(stderr);
	assert_true(kept >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
	(void)lfpool_set_release(set, set);
	(void)lfpool_set_release(set, set);
	fflush(stderr);
	assert_true(dup2(kept, STDERR_FILENO) >= 0);
	close(kept);
	rewind(file);
	text_out[fread(text_out, 1, room - 1, file)] = '\0';
	fclose(file);
}

TEST(without_a_hook_one_line)
{
	lfpool_set_config_t config = set_config_of(LFPOOL_BACKEND_LOCKFREE, 100, 1);
	char text[1000];

	config.name = "trays";
	lfpool_set_t *set = set_with(&config);

	stderr_of_two(set, text, sizeof(text));
	assert_non_null(strstr(text, "set \"trays\""));
	assert_non_null(strstr(text, "refused"));
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	lfpool_set_destroy(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_is_refused_by_whom_it_concerns),
		cmocka_unit_test(addresses_around_and_between),
		cmocka_unit_test(another_sets_objects),
		cmocka_unit_test(in_bulk_the_rest_is_released),
		cmocka_unit_test(without_a_hook_one_line),
	};

	return cmocka_run_group_tests_name("set: misuse", tests, NULL, NULL);
}
