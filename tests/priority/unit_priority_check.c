/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * unit_priority_check.c - lfpool_priority_check(): each thing that can be wrong is made wrong once, and the right invariant is
 * named.  lfpool_priority_dump(): what it says, every beginning of it, and whether a strict reader takes the JSON.
 */
#include "../support/priority_support.h"
#include "../support/told.h"

#include "core/arena.h"
#include "priority/evicting.h"

/* Slots 1 .. 34 of 40 are active, of priorities 101 .. 134; then one is new, one pinned twice, one released and still pinned.  Slots
 * 1 and 2 have records of the pool. */
enum { SIZE = 24, CAPACITY = 40, ACTIVE = 34, FRESH, PINNED, RELEASED, FREE };

#define LOAD(p) atomic_load_explicit((p), memory_order_relaxed)
#define STORE(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)

static bool on_create(void *context, void *object)
{
	(void)context;
	return object;
}

/* As if another call were using the slot's second record. */
static void update_with_a_spare(lfpool_priority_t *pool, lfpool_handle_t handle, uint64_t priority)
{
	struct place *place = place_of(pool, (uint32_t)handle % (1u << HANDLE_SLOT_BITS) + 1);

	STORE(&place->used[1], 1);
	REQUIRE(lfpool_priority_update(pool, handle, priority) == LFPOOL_OK);
	STORE(&place->used[1], 0);
}

static lfpool_priority_t *scene_open(void)
{
	lfpool_priority_t *pool = PRIORITY_WITH(.name = "voices", .object_size = SIZE, .capacity = CAPACITY,
						.flags = LFPOOL_EVICT_EQUAL, .hooks.create = on_create);
	lfpool_handle_t handle;
	size_t where = 12345;

	for (uint64_t slot = 1; slot <= ACTIVE; slot++) {
		handle = priority_put(pool, 100 + slot);
		if (slot <= 2)
			update_with_a_spare(pool, handle, 90 + slot);
	}
	REQUIRE(lfpool_priority_acquire(pool, 1, NULL, &handle));
	handle = priority_put(pool, 2);
	REQUIRE(lfpool_priority_pin(pool, handle) && lfpool_priority_pin(pool, handle));
	handle = priority_put(pool, 3);
	REQUIRE(lfpool_priority_pin(pool, handle) && lfpool_priority_release(pool, handle) == LFPOOL_OK);
	assert_null(lfpool_priority_check(pool, &where));
	assert_true(where == SIZE_MAX);
	return pool;
}

/* ---- The check ---- */

static _Atomic(uint64_t) *word_of(lfpool_priority_t *pool, uint32_t slot)
{
	return &place_of(pool, slot)->word;
}

/* Puts `bits` in the place of those of the mask. */
static void set_bits(_Atomic(uint64_t) *word, uint64_t mask, uint64_t bits)
{
	STORE(word, (LOAD(word) & ~mask) | bits);
}

static struct place *node(lfpool_priority_t *pool, uint32_t level, uint32_t index)
{
	return &pool->tournament.nodes[pool->tournament.level_at[level] + index];
}

static struct record *record_of(lfpool_priority_t *pool, struct place *place, bool is_node)
{
	const uint64_t word = LOAD(&place->word);

	return place_record(&pool->tournament.spares, place, is_node ? tagged_number(word) : state_record(word));
}

static void name_nobody(struct place *place)
{
	STORE(&place->used[tagged_number(LOAD(&place->word)) - 1], 0);
	STORE(&place->word, 0);
}

static void require_named(lfpool_priority_t *pool, size_t expected, const char *named)
{
	size_t where = 12345;
	const char *violated = lfpool_priority_check(pool, &where);

	if (!violated || where != expected || strncmp(violated, named, strlen(named)) != 0)
		fail_msg("expected \"%s\" at %zu, got \"%s\" at %zu", named, expected, violated ? violated : "nothing", where);
	(void)lfpool_priority_destroy(pool);
}

/* A test: the statements change `pool`, `where` and `named` are what the check says then. */
#define DAMAGE(name, where, named, ...)                 \
	TEST(name)                                      \
	{                                               \
		lfpool_priority_t *pool = scene_open(); \
                                                        \
		__VA_ARGS__;                            \
		require_named(pool, (where), (named));  \
	}

#define SLOT(n) place_of(pool, (n))
#define LINK(n) (&pool->free.links[(n) - 1])
#define LOW (UINT64_MAX >> (64 - NAME_SLOT_BITS))

DAMAGE(stack_names_none, CAPACITY, "FS2: the stack of free slots names", STORE(&pool->free.head, CAPACITY + 1))
DAMAGE(stack_in_a_circle, FREE - 1, "FS2: a slot is on the stack twice", STORE(LINK(FREE + 1), link_to(2, FREE)))
DAMAGE(stack_cut, FREE, "FS2: a slot on the stack does not say", STORE(LINK(FREE + 1), link_to(2, 0)))
DAMAGE(in_use_on_the_stack, 4, "P4: a slot that is in use is on the stack", free_slots_push(&pool->free, 5))
DAMAGE(free_slot_lost, FREE - 1, "P4: a free slot is not on the stack", STORE(&pool->free.head, FREE + 1))
DAMAGE(taken, FRESH - 1, "P4: a slot is taken", set_bits(word_of(pool, FRESH), STATE_PINS_MASK, STATE_TAKEN))
DAMAGE(pinned_too_often, PINNED - 1, "P4: an object has more pins", set_bits(word_of(pool, PINNED), 0, STATE_PINS_MASK))
DAMAGE(no_record, FRESH - 1, "P4: a slot that is in use has no record", set_bits(word_of(pool, FRESH), STATE_RECORD_MASK, 0);
       STORE(&SLOT(FRESH)->used[0], 0))
DAMAGE(stamp_to_come, 6, "P4: an object has a stamp", STORE(&SLOT(7)->own[0].stamp, LOAD(&pool->stamps) + 1))
DAMAGE(record_unused, 4, "PL1: a record of a place is in use and", STORE(&SLOT(5)->used[0], 0))
DAMAGE(record_of_a_node, 1, "PL1: a record of a place is in use and", STORE(&node(pool, 0, 1)->used[0], 1);
       STORE(&node(pool, 0, 1)->used[1], 1))
DAMAGE(record_beyond, 0, "PL2:", set_bits(word_of(pool, 1), 0, STATE_RECORD_MASK))
DAMAGE(record_not_in_use, 0, "PL1: a word names a record that is not in use", set_bits(word_of(pool, 1), STATE_RECORD_MASK, 50))
DAMAGE(record_named_twice, 1, "PL1: two words name one record",
       set_bits(word_of(pool, 2), STATE_RECORD_MASK, state_record(LOAD(word_of(pool, 1)))))
DAMAGE(record_lost, SIZE_MAX, "PL1: a record is in use, and no word names it",
       REQUIRE(lfpool_acquire(pool->tournament.spares.pool)))
DAMAGE(pool_of_records, SIZE_MAX, "A1: slot 0", STORE(&pool->tournament.spares.pool->core.arena.face.state[0], LFPOOL_ACTIVE_))
DAMAGE(not_built, 4, "K2:", lifecycle_destroy(pool->lifecycle, 5, object_of(pool, 5), false))
DAMAGE(name_of_none, 1, "F6: a node names a slot that is not below it",
       set_bits(&record_of(pool, node(pool, 0, 1), true)->name, LOW, 0))
DAMAGE(name_with_another_priority, 3, "F6: a node has a current name", STORE(&record_of(pool, node(pool, 1, 0), true)->key, 90))
DAMAGE(node_empty, 16, "F4:", name_nobody(node(pool, 0, 1)))
DAMAGE(not_offered, 19, "F4:", STORE(&record_of(pool, SLOT(20), false)->key, 1))
/* The root's name is stale, and what it names came first: that is as it may be (F4), and then no more. */
DAMAGE(stale_name_late, 1, "F4:", REQUIRE(lfpool_priority_release_min(pool, 1) == 1);
       STORE(&record_of(pool, node(pool, 1, 0), true)->name, name_of(1, 0));
       STORE(&record_of(pool, node(pool, 1, 0), true)->key, 90); REQUIRE(!lfpool_priority_check(pool, NULL));
       STORE(&record_of(pool, node(pool, 1, 0), true)->key, 93))

/* In quarantine and on the stack: of two slots there one is lost, one doubled. */
TEST(in_quarantine_and_free)
{
	lfpool_priority_t *pool = PRIORITY_WITH(.object_size = SIZE, .capacity = CAPACITY, .debug = "quarantine=2,no-tools");

	free_slots_push(&pool->free, CAPACITY + 1);
	require_named(pool, CAPACITY, "Q2:");
}

/* The mode check says the same in the end. */
TEST(told_at_destroy)
{
	lfpool_priority_t *pool = PRIORITY_WITH(.object_size = SIZE, .capacity = CAPACITY, .debug = "check",
						.hooks.misuse = hear);

	told_forget();
	STORE(&pool->free.head, 3);
	assert_int_equal(lfpool_priority_destroy(pool), 2);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.misuse.status, LFPOOL_E_INVARIANT);
	assert_true(told.misuse.index == SIZE_MAX);
	assert_string_equal(told.detail, "P4: a free slot is not on the stack, at 0.");
}

/* ---- The dump ---- */

static void require_dumped(FILE *reader, lfpool_priority_t *pool, const char *text_part, const char *json_part)
{
	char *text = whole_dump(priority_dump, pool, LFPOOL_TEXT), *json = whole_dump(priority_dump, pool, LFPOOL_JSON);

	require_in(text, text_part);
	require_in(json, json_part);
	read_json(reader, json);
	free(text);
	free(json);
}

TEST(what_it_says)
{
	FILE *reader = popen(JSON_READER, "w");
	lfpool_priority_t *pool = scene_open();

	REQUIRE(reader);
	require_dumped(reader, pool,
		       " bytes apart\nflags       evict_equal\nhooks       create\n"
		       "identity    40 = 35 active + 1 new + 1 released + 3 free\npinned      1 of the active ones; 3 pins\n"
		       "least       priority 91, handle 0x100000\n"
		       "calls       37 acquired, 0 evicted, 0 refused\nrecords     2 of ",
		       ",\"active\":35,\"new\":1,\"released\":1,\"free\":3,\"unaccounted\":0,\"pinned\":1,\"pins\":3,"
		       "\"least\":{\"priority\":91,\"handle\":\"0x100000\"},\"acquired\":37,\"evicted\":0,\"refused\":0,");
	require_every_beginning(priority_dump, pool, LFPOOL_TEXT);
	require_every_beginning(priority_dump, pool, LFPOOL_JSON);
	REQUIRE(lfpool_priority_dump(pool, (lfpool_format_t)2, NULL, 0) == 0);
	/* One lost. */
	STORE(&pool->free.head, FREE + 1);
	require_dumped(reader, pool, " + 2 free, +1 unaccounted\n", ",\"free\":2,\"unaccounted\":1,");
	REQUIRE(lfpool_priority_release_min(pool, CAPACITY) == ACTIVE);
	require_dumped(reader, pool, "least       none that can be evicted\n", ",\"least\":null,");
	(void)lfpool_priority_destroy(pool);
	REQUIRE(pclose(reader) == 0);
}

RUN_TESTS()
