/* SPDX-License-Identifier: MIT */
/* test: threads once wrap=lfpool_set_acquire_slow_ wrap=lfpool_set_release_slow_ */
/*
 * unit_set_inlined.c - the inlined fast paths of a set: they serve every small size from the right class without the
 * library, call it for everything else, and refuse the same pointers as the library's functions.
 *
 * Idea         The linker puts counters in front of the two slow paths.  Other tests of sets run again with inlined
 *              calls (tests/CMakeLists.txt).
 */
#include "../support/child.h"
#include "../support/set_support.h"
#include "../support/told.h"
#include "../support/workers.h"

#include "lfpool/set_inline.h"

enum { LARGEST = 4096, CAPACITY = 40, THREADS = 3, TABLE = 64 };

static __thread unsigned slow;

void *__real_lfpool_set_acquire_slow_(lfpool_set_t *set, size_t size);
void *__wrap_lfpool_set_acquire_slow_(lfpool_set_t *set, size_t size);
void *__wrap_lfpool_set_acquire_slow_(lfpool_set_t *set, size_t size)
{
	slow++;
	return __real_lfpool_set_acquire_slow_(set, size);
}

lfpool_status_t __real_lfpool_set_release_slow_(lfpool_set_t *set, void *object, bool if_owned);
lfpool_status_t __wrap_lfpool_set_release_slow_(lfpool_set_t *set, void *object, bool if_owned);
lfpool_status_t __wrap_lfpool_set_release_slow_(lfpool_set_t *set, void *object, bool if_owned)
{
	slow++;
	return __real_lfpool_set_release_slow_(set, object, if_owned);
}

/* The calls of slow paths since the last question.  Where nothing is inlined the question is not answered. */
static void require_slow(unsigned calls)
{
#ifdef LFPOOL_INLINES_POOLS_
	if (slow != calls)
		fprintf(stderr, "%u slow calls instead of %u\n", slow, calls);
	REQUIRE(slow == calls);
#endif
	(void)calls;
	slow = 0;
}

/* The library's functions, which no compiler can inline here. */
static void *(*volatile acquire_called)(lfpool_set_t *set, size_t size) = lfpool_set_acquire;
static lfpool_status_t (*volatile release_called)(lfpool_set_t *set, void *object) = lfpool_set_release;
static lfpool_status_t (*volatile release_owned_called)(lfpool_set_t *set, void *object) = lfpool_set_release_if_owned;

/* Acquires by the inlined path; the object has the size of its class, and is in its pool. */
static void *take(lfpool_set_t *set, size_t size)
{
	void *object = lfpool_set_acquire_inline_(set, size);

	REQUIRE(object && lfpool_of(object) == lfpool_set_class(set, size, false, NULL));
	REQUIRE(lfpool_in_use(lfpool_of(object), object));
	memset(object, 1, lfpool_set_class_size(set, size));
	return object;
}

/* By one inlined release and the other, in turns. */
static void give(lfpool_set_t *set, void *object)
{
	static __thread unsigned turn;
	lfpool_t *pool = lfpool_of(object);
	const lfpool_status_t status = turn++ % 2 ? lfpool_set_release_inline_(set, object)
						  : lfpool_set_release_if_owned_inline_(set, object);

	REQUIRE(status == LFPOOL_OK && !lfpool_in_use(pool, object));
}

/* ---- Which calls are slow ---- */

/* Every size of a small number of units, after the first call of its class; then the larger ones. */
static void use_each_size(lfpool_set_t *set, size_t alignment, size_t most)
{
	const size_t small = alignment * 64 < most ? alignment * 64 : most;

	for (size_t size = 1; size <= small; size++)
		give(set, take(set, size));
	slow = 0;
	for (size_t size = 1; size <= small; size++) {
		void *objects[] = {take(set, size), take(set, size), take(set, size)};

		for (size_t i = 0; i < COUNT(objects); i++)
			give(set, objects[i]);
	}
	require_slow(0);
	if (small == most)
		return;
	/* The acquire is slow. */
	give(set, take(set, small + 1));
	slow = 0;
	give(set, take(set, small + 1));
	require_slow(1);
}

TEST(small_sizes_are_inlined)
{
	for (size_t alignment = 1; alignment <= 64; alignment *= 4)
		for (size_t steps = 4; steps <= 16; steps *= 2) {
			lfpool_set_t *set = SET_WITH(.largest = LARGEST, .steps = steps, .pool.capacity = 3,
						     .pool.object_alignment = alignment);

			use_each_size(set, alignment, LARGEST);
			set_close(set);
		}
}

TEST(size_0_is_a_slow_acquire)
{
	lfpool_set_t *set = set_of(LFPOOL_BACKEND_LOCKFREE, LARGEST, CAPACITY);

	give(set, take(set, 1));
	slow = 0;
	give(set, take(set, 0));
	require_slow(1);
	assert_null(lfpool_set_acquire_inline_(set, SIZE_MAX));
	assert_null(lfpool_set_acquire_inline_(set, LARGEST + 1));
	require_slow(2);
	set_close(set);
}

/* Threads have no caches, or the objects are in no windows. */
TEST(modes_without_a_fast_path_call_the_library)
{
	const struct {
		lfpool_backend_t backend;
		size_t cache_capacity;
		unsigned slow; /* calls of each pair */
	} modes[] = {
		{LFPOOL_BACKEND_MUTEX, 0, 2},
		{LFPOOL_BACKEND_MALLOC, 0, 1},
		{LFPOOL_BACKEND_LOCKFREE, LFPOOL_CACHE_NONE, 2},
	};

	for (size_t i = 0; i < COUNT(modes); i++) {
		lfpool_set_t *set = SET_WITH(.largest = LARGEST, .pool.capacity = CAPACITY,
					     .pool.backend = modes[i].backend,
					     .pool.cache_capacity = modes[i].cache_capacity);

		for (size_t size = 1; size <= 1024; size += 11) {
			give(set, take(set, size));
			slow = 0;
			give(set, take(set, size));
			require_slow(modes[i].slow);
		}
		set_close(set);
	}
}

TEST(acquires_that_may_use_larger_classes_are_slow)
{
	void *objects[2 * CAPACITY + 1];
	lfpool_set_t *set = SET_WITH(.largest = LARGEST, .larger = 1, .pool.capacity = CAPACITY);
	size_t count = 0;

	while (count < COUNT(objects) && (objects[count] = lfpool_set_acquire_inline_(set, 40)))
		count++;
	assert_int_equal(count, 2 * CAPACITY);
	require_slow(2 * CAPACITY + 1);
	while (count-- > 0)
		assert_int_equal(lfpool_set_release_inline_(set, objects[count]), LFPOOL_OK);
	require_slow(0);
	set_close(set);
}

/* The pools of a debug mode or a flag switch off the fast path of their caches. */
TEST(debug_modes_see_every_call)
{
	static const char *const modes[] = {"poison", "guard", "check", "owner", "quarantine=3"};

	for (size_t i = 0; i <= COUNT(modes); i++) {
		lfpool_set_t *set = i < COUNT(modes) ? SET_WITH(.largest = LARGEST, .pool.capacity = CAPACITY,
								.pool.debug = modes[i])
						     : SET_WITH(.largest = LARGEST, .pool.capacity = CAPACITY,
								.pool.flags = LFPOOL_ZERO);

		for (size_t size = 1; size <= 1024; size += 13) {
			unsigned char *object = take(set, size);

			give(set, object);
			object = lfpool_set_acquire_inline_(set, size);
			REQUIRE(i < COUNT(modes) || all_bytes_are(object, size, 0));
			give(set, object);
		}
		set_close(set);
	}
}

/* A write to a free object is found by the next acquire of it, which is inlined. */
TEST(poison_finds_a_write_to_a_free_object)
{
	lfpool_set_t *set;
	char *object;

	told_forget();
	set = SET_WITH(.largest = 100, .pool.capacity = 1, .pool.debug = "poison,no-tools", .pool.hooks.misuse = hear);
	object = take(set, 48);
	give(set, object);
	*(volatile char *)(object + 20) = 7;
	object = lfpool_set_acquire_inline_(set, 48);
	assert_int_equal(told.count, 1);
	if (object)
		give(set, object);
	lfpool_set_destroy(set);
}

/* ---- Exhaustion ---- */

TEST(null_means_that_the_class_is_exhausted)
{
	void *objects[CAPACITY + 1];
	lfpool_set_t *set = set_of(LFPOOL_BACKEND_LOCKFREE, LARGEST, CAPACITY);

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < CAPACITY; i++)
			objects[i] = take(set, 100);
		assert_true(sort_disjoint(objects, CAPACITY, 112));
		assert_null(lfpool_set_acquire_inline_(set, 100));
		assert_null(acquire_called(set, 100));
		for (size_t i = 0; i < CAPACITY; i++)
			give(set, objects[i]);
	}
	set_close(set);
}

/* ---- Refusals ---- */

/* The inlined and the called release refuse it, with the same report. */
static void refuse(lfpool_set_t *set, void *pointer)
{
	const size_t before = told.count;
	const lfpool_status_t status = lfpool_set_release_inline_(set, pointer);

	REQUIRE(status != LFPOOL_OK && told.count == before + 1 && told.misuse.status == status);
	REQUIRE(told.misuse.object == pointer);

	const lfpool_t *pool = told.misuse.pool;

	REQUIRE(release_called(set, pointer) == status && told.count == before + 2);
	REQUIRE(told.misuse.pool == pool && told.misuse.object == pointer);
	/* No report about a pointer outside the objects. */
	for (int i = 0; i < 2; i++) {
		const size_t reports = told.count;
		const lfpool_status_t owned = i ? release_owned_called(set, pointer)
						: lfpool_set_release_if_owned_inline_(set, pointer);

		REQUIRE(owned == status && told.count == reports + (owned != LFPOOL_E_FOREIGN));
	}
}

/* Around an active object, around a free one, and across all windows; `cached`: this thread has a cache. */
static void refuse_all(lfpool_set_t *set, lfpool_set_t *other, unsigned char *active, struct random *random)
{
	unsigned char *free_one = take(set, 100), *others = take(other, 100);
	const size_t bytes = lfpool_set_class_size(set, 100);
	int stranger;

	give(set, free_one);
	refuse(set, free_one);
	refuse(set, others);
	refuse(set, &stranger);
	refuse(set, set);
	refuse(set, (void *)UINTPTR_MAX);
	assert_int_equal(lfpool_set_release_inline_(set, NULL), LFPOOL_OK);
	assert_int_equal(lfpool_set_release_if_owned_inline_(set, NULL), LFPOOL_OK);
	for (ptrdiff_t offset = 1; offset < (ptrdiff_t)bytes; offset++)
		refuse(set, moved(active, offset));
	for (ptrdiff_t distance = 16; distance < (ptrdiff_t)MIB; distance += 16 * (1 + random_below(random, 100)))
		for (int sign = -1; sign <= 1; sign += 2)
			refuse(set, moved(active, sign * distance));
	for (unsigned bit = 0; bit < 64; bit++)
		refuse(set, (void *)((uintptr_t)1 << bit));
	for (int i = 0; i < 1000; i++)
		refuse(set, (void *)(uintptr_t)(random_next(random) | 1));
	REQUIRE(lfpool_in_use(lfpool_of(active), active));
	give(other, others);
}

static lfpool_set_t *listening_set(void)
{
	return SET_WITH(.largest = 1000, .pool.capacity = CAPACITY, .pool.name = "trays", .pool.hooks.misuse = hear);
}

TEST(inlined_releases_refuse_what_the_library_refuses)
{
	struct random random = random_for(test_seed("inlined_releases_refuse_what_the_library_refuses"), 0);
	lfpool_set_t *set = listening_set(), *other = listening_set();
	void *active = take(set, 100);

	told_forget();
	refuse_all(set, other, active, &random);
	/* With pools in all windows too. */
	EACH_CLASS(set, size)
	give(set, take(set, size));
	refuse_all(set, other, active, &random);
	give(set, active);
	set_close(set);
	set_close(other);
}

static void release_twice(void *set)
{
	void *object = take(set, 100);

	(void)lfpool_set_release_inline_(set, object);
	(void)lfpool_set_release_inline_(set, object);
}

TEST(a_double_release_prints_one_line)
{
	lfpool_set_t *set = SET_WITH(.largest = 100, .pool.capacity = 1, .pool.name = "trays");
	char text[TEXT_BYTES];

	stderr_of(release_twice, set, text);
	require_in(text, "pool \"trays/112\"");
	require_in(text, "refused");
	set_close(set);
}

/* ---- Threads ---- */

struct scene {
	lfpool_set_t *set;
	void *given[THREADS]; /* an object of each thread, released by the next one */
	pthread_barrier_t all_given;
};

/* A thread's first calls of a class are slow: an acquire, and the release of another thread's object. */
static void first_calls(struct worker *me)
{
	struct scene *scene = me->scene;
	const size_t size = 16 * (1 + me->number), next = 16 * (1 + (me->number + 1) % THREADS);

	slow = 0;
	scene->given[me->number] = take(scene->set, size);
	require_slow(1);
	give(scene->set, take(scene->set, size));
	require_slow(0);
	pthread_barrier_wait(&scene->all_given);
	give(scene->set, scene->given[(me->number + 1) % THREADS]);
	require_slow(1);
	give(scene->set, take(scene->set, next));
	require_slow(0);
}

TEST(the_first_call_of_a_thread_is_slow)
{
	struct scene scene = {.set = set_of(LFPOOL_BACKEND_LOCKFREE, LARGEST, CAPACITY)};

	REQUIRE(pthread_barrier_init(&scene.all_given, NULL, THREADS) == 0);
	workers_run(THREADS, first_calls, &scene, 0);
	pthread_barrier_destroy(&scene.all_given);
	set_close(scene.set);
}

/* Objects of random sizes, in random order, some released by another call. */
static void use_at_random(struct worker *me)
{
	enum { HELD = CAPACITY / THREADS };
	lfpool_set_t *set = me->scene;
	struct {
		unsigned char *object;
		size_t size;
	} held[HELD] = {{0}};

	for (int i = 0; i < TIMES(200000, 20000); i++) {
		const size_t at = random_below(&me->random, HELD), size = random_below(&me->random, 1200);
		const uint32_t draw = random_below(&me->random, 4);

		if (held[at].object) {
			REQUIRE(stamp_holds(held[at].object, held[at].size, me->number));
			REQUIRE((draw & 1 ? release_called(set, held[at].object)
					  : lfpool_set_release_inline_(set, held[at].object)) == LFPOOL_OK);
		}
		held[at].object = draw & 2 ? acquire_called(set, size) : lfpool_set_acquire_inline_(set, size);
		held[at].size = size;
		REQUIRE(held[at].object);
		stamp_write(held[at].object, size, me->number);
	}
	for (size_t i = 0; i < HELD; i++)
		REQUIRE(!held[i].object || lfpool_set_release_inline_(set, held[i].object) == LFPOOL_OK);
}

TEST(called_and_inlined_calls_mix)
{
	lfpool_set_t *set = set_of(LFPOOL_BACKEND_LOCKFREE, LARGEST, CAPACITY);

	workers_run(THREADS, use_at_random, set, test_seed("called_and_inlined_calls_mix"));
	set_close(set);
}

/* A destructor of the thread's that runs after the library's clean-up. */
static pthread_key_t late_key;

static void late_use(void *argument)
{
	static __thread int returns;
	lfpool_set_t *set = argument;

	slow = 0;
	give(set, take(set, 48));
	if (++returns < 3) {
		REQUIRE(pthread_setspecific(late_key, set) == 0);
		return;
	}
	/* The clean-up has run. */
	require_slow(2);
}

static void *exit_with_a_destructor(void *set)
{
	REQUIRE(pthread_setspecific(late_key, set) == 0);
	give(set, take(set, 48));
	return NULL;
}

TEST(exited_threads_leave_their_objects_to_others)
{
	lfpool_set_t *set = set_of(LFPOOL_BACKEND_LOCKFREE, LARGEST, CAPACITY);
	void *objects[CAPACITY];

	REQUIRE(pthread_key_create(&late_key, late_use) == 0);
	for (int round = 0; round < 20; round++)
		threads_run(THREADS, exit_with_a_destructor, set, 0);
	for (size_t i = 0; i < CAPACITY; i++)
		objects[i] = take(set, 48);
	for (size_t i = 0; i < CAPACITY; i++)
		give(set, objects[i]);
	REQUIRE(pthread_key_delete(late_key) == 0);
	set_close(set);
}

static void use_in_child(void *set)
{
	slow = 0;
	for (size_t size = 1; size <= 1024; size += 9)
		give(set, take(set, size));
	require_slow(0);
	REQUIRE(lfpool_set_destroy(set) == 1);
}

TEST(a_forked_child_keeps_its_caches)
{
	lfpool_set_t *set = set_of(LFPOOL_BACKEND_LOCKFREE, LARGEST, CAPACITY);
	void *kept = take(set, 64);

	for (size_t size = 1; size <= 1024; size += 9)
		give(set, take(set, size));
	child_run(use_in_child, set);
	give(set, kept);
	set_close(set);
}

/* ---- The tables ---- */

/* A set in the place of a destroyed one: the thread's entries for the old pools never match. */
TEST(a_new_set_is_not_mistaken_for_a_destroyed_one)
{
	uintptr_t last = 0;
	int same_place = 0;

	for (int round = 0; round < 50; round++) {
		lfpool_set_t *set = set_of(LFPOOL_BACKEND_LOCKFREE, LARGEST, CAPACITY);

		same_place += (uintptr_t)set == last;
		last = (uintptr_t)set;
		slow = 0;
		give(set, take(set, 200));
		require_slow(1);
		give(set, take(set, 200));
		require_slow(0);
		set_close(set);
	}
	assert_int_not_equal(same_place, 0);
}

/* More pools than a thread's table has offsets: the later ones share the offset of an earlier pool. */
TEST(pools_beyond_the_table_are_slow)
{
	lfpool_set_t *set = SET_WITH(.largest = 4096, .steps = 16, .pool.object_alignment = 8, .pool.capacity = 8);
	size_t sizes[100] = {0}, count = 0;

	EACH_CLASS(set, size)
	sizes[count++] = size;
	assert_in_range(count, TABLE + 10, COUNT(sizes));
	/* The smallest class is the first, then the largest ones. */
	for (size_t i = count; i-- > 0;)
		give(set, take(set, sizes[i]));
	slow = 0;
	give(set, take(set, sizes[0]));
	require_slow(0);
	for (size_t i = 1; i <= count - TABLE; i++) {
		give(set, take(set, sizes[i]));
		require_slow(2);
	}
	set_close(set);
}

#ifdef LFPOOL_INLINES_POOLS_
/* Y4: a call that reads a pool's offset and not its id finds nothing in any table of a thread. */
static void find_no_id_0(void)
{
	const uint64_t ids[TABLE] = {0};
	uintptr_t offsets[TABLE];
	lfpool_cache_t *cache;

	for (uintptr_t i = 0; i < TABLE; i++)
		offsets[i] = i * sizeof(struct lfpool_entry_);
	for (uintptr_t i = 0; i < TABLE; i++)
		REQUIRE(!lfpool_set_find_((const LFPOOL_ATOMIC_(uint64_t) *)ids,
					  (const LFPOOL_ATOMIC_(uintptr_t) *)offsets, i, &cache));
}

static pthread_key_t last_key;

static void find_none_at_exit(void *set)
{
	static __thread int returns;

	find_no_id_0();
	if (++returns < 3)
		REQUIRE(pthread_setspecific(last_key, set) == 0);
}

static void *find_none(void *set)
{
	find_no_id_0();
	give(set, take(set, 32));
	find_no_id_0();
	REQUIRE(pthread_setspecific(last_key, set) == 0);
	return NULL;
}

TEST(no_entry_of_a_thread_has_the_id_0)
{
	lfpool_set_t *set = set_of(LFPOOL_BACKEND_LOCKFREE, LARGEST, CAPACITY);

	REQUIRE(pthread_key_create(&last_key, find_none_at_exit) == 0);
	threads_run(THREADS, find_none, set, 0);
	REQUIRE(pthread_key_delete(last_key) == 0);
	set_close(set);
}
#endif

/* The most classes that a set can have. */
TEST(the_tables_have_room_for_every_set)
{
	lfpool_set_t *set = NULL;
	lfpool_set_config_t config = LFPOOL_SET_CONFIG_INIT;

	config.largest = (size_t)1 << 30;
	config.steps = 16;
	config.pool.object_alignment = 1;
	config.pool.capacity = 1;

	const lfpool_status_t status = lfpool_set_create(&set, &config);

	/* Sanitizers and limits may leave too few addresses. */
	if (status == LFPOOL_E_NO_MEMORY)
		skip();
	assert_int_equal(status, LFPOOL_OK);
	assert_int_equal(class_count(set), LFPOOL_SET_CLASSES_);
	give(set, take(set, 1));
	set_close(set);
}

RUN_TESTS()
