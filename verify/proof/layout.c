/* SPDX-License-Identifier: MIT */
/*
 * layout.c - the lines of the table about an unused pool, evaluated on pools.
 *
 * Idea         layout.inc is the table's lines `axiom` and `birth` in C (generate.py).  Its words are functions here,
 *              and read the pool as the library does.  If the table has one fact twice, two sources are compared: the
 *              n-th chunk of a region follows from shard_carve(), the size and the entries of a magazine from the
 *              readings of a collect, and the cold slots from the bits.
 * Controls     A name from `wrong`: that line must be found false.
 */
#include "pool/pool.h"

#include "lfpool/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGAZINES (1 << 17)
#define SLOTS (1 << 17)
#define CACHES 2  /* of each pool; the magazines of the others are alike */
#define PAIRS 100 /* magazines of a pool whose pairs are compared       */
#define CONFIGURATIONS 6000

static struct {
	int32_t magazines, slots, stacks;
} size_now;
static const lfpool_t *pool;
static const struct core *core;
static struct {
	int32_t region, nth;
} born[MAGAZINES];
static struct {
	int32_t inside;
	int64_t pos;
	bool cold, allowed;
} slot_now[SLOTS];
static int64_t natives, missing;

#undef COLD
#include "layout.inc"

/* ---- The words ---- */

static int64_t now_slots(void)
{
	return core->magazines.slots;
}

static int64_t now_chunks(void)
{
	return core->magazines.chunks;
}

static int64_t now_spares(void)
{
	return core->magazines.spares;
}

static int64_t now_objects(void)
{
	return (int64_t)core->arena.slots;
}

static int64_t now_natives(void)
{
	return natives;
}

static int64_t now_short_at_first(void)
{
	return missing;
}

static int64_t now_num(int32_t m)
{
	return m;
}

static int32_t now_region(int32_t m)
{
	return born[m].region;
}

static int64_t now_nth(int32_t m)
{
	return born[m].nth;
}

static int64_t now_extent(int32_t g)
{
	return core->depot.shard[g].chunks;
}

static const struct lfpool_magazine *magazine(int32_t m)
{
	return magazines_at(&core->magazines, (uint32_t)m);
}

static bool now_made(int32_t m)
{
	return m && load_relaxed(&magazine(m)->number);
}

static int64_t now_top(int32_t m)
{
	return m ? (int64_t)magazine_top(load_relaxed(&magazine(m)->top)) : 0;
}

/* A magazine that is born empty is made before any thread reads it. */
static int64_t now_bottom(int32_t m)
{
	return now_top(m) +
	       (m && (m <= now_chunks() || now_made(m)) ? magazines_count(&core->magazines, (uint32_t)m) : 0);
}

static int64_t now_ceil(int32_t m)
{
	return now_bottom(m);
}

static int64_t now_size(int32_t m)
{
	return now_bottom(m) - now_top(m);
}

static int32_t now_entry(int32_t m, int64_t p)
{
	const uint32_t place = magazine_place_of((uint64_t)p, core->magazines.slots);

	return (int32_t)arena_slot(&core->arena, magazines_born(&core->magazines, (uint32_t)m, place));
}

static bool now_native(int32_t o)
{
	return !slot_now[o].cold;
}

static int32_t now_kind(int32_t o)
{
	return slot_now[o].cold ? COLD : IN;
}

static int32_t now_lot(int32_t o)
{
	return slot_now[o].allowed ? ALLOWED : KEPT;
}

static int32_t now_inside(int32_t o)
{
	return slot_now[o].inside;
}

static int64_t now_pos(int32_t o)
{
	return slot_now[o].pos;
}

/* The stacks of a shard: full, partial and empty; then the stacks of a cache: full and empty. */
static int32_t now_sort(int32_t s)
{
	return s < 3 ? s : s == 3 ? FULL : EMPTY;
}

/* ---- A pool ---- */

/* The region of each chunk, as shard_carve() takes it.  NULL, or the violated rule. */
static const char *carve_all(void)
{
	int32_t carved = 0;

	memset(born, 0, sizeof(born[0]) * (size_t)size_now.magazines);
	for (uint32_t g = 0; g < core->depot.shards; g++)
		for (uint32_t i = 0; i < core->depot.shard[g].chunks; i++, carved++) {
			const uint32_t m = core->depot.shard[g].before + i + 1;

			if (m > core->magazines.chunks || born[m].nth)
				return "a chunk in one region";
			born[m].region = (int32_t)g;
			born[m].nth = (int32_t)i + 1;
		}
	return carved == now_chunks() ? NULL : "each chunk in a region";
}

/* Also the magazines of caches. */
static const char *apart(void)
{
	for (int32_t m = 1; m + 1 < size_now.magazines; m++) {
		const char *at = (const char *)magazine(m), *after = (const char *)magazine(m + 1);

		/* The extra ones are elsewhere. */
		if (m != now_chunks() + now_spares() &&
		    after < at + sizeof(struct lfpool_magazine) + core->magazines.slots * sizeof(uintptr_t))
			return "magazines that do not overlap";
	}
	return NULL;
}

static const char *look(const lfpool_t *new)
{
	pool = new;
	core = &pool->core;
	size_now.magazines = (int32_t)(now_chunks() + now_spares()) + EXTRA_PER_CACHE * CACHES + 1;
	size_now.slots = (int32_t)now_objects() + 1;
	size_now.stacks = 5;
	if (size_now.magazines > MAGAZINES || size_now.slots > SLOTS)
		return "few enough to look at";

	const char *wrong = carve_all();
	size_t allowed = cold_allowed(&core->cold);

	memset(slot_now, 0, sizeof(slot_now[0]) * (size_t)size_now.slots);
	natives = missing = 0;
	slot_now[0].cold = true;
	for (int32_t o = 1; o < size_now.slots; o++) {
		slot_now[o].cold = cold_look(&core->cold, (uint64_t)(o - 1) / 64) >> (o - 1) % 64 & 1;
		natives += !slot_now[o].cold;
		slot_now[o].allowed = allowed && slot_now[o].cold && (size_t)o <= cold_opened(&core->cold);
		allowed -= slot_now[o].allowed;
	}
	for (int32_t m = 1; m <= now_chunks(); m++) {
		missing += now_slots() - now_size(m);
		for (int64_t p = now_top(m); p < now_bottom(m); p++) {
			const int32_t o = now_entry(m, p);

			if (o < 1 || o >= size_now.slots)
				return "slots that there are";
			slot_now[o].inside = m;
			slot_now[o].pos = p;
		}
	}
	return allowed ? "as many cold slots as are allowed" : wrong ? wrong : apart();
}

/* ---- Configurations ---- */

static uint64_t random_state = 1;

/* 0 .. below - 1 */
static size_t any(size_t below)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (size_t)((random_state >> 33) % below);
}

static bool create(__attribute__((unused)) void *context, __attribute__((unused)) void *object)
{
	return true;
}

static lfpool_config_t choose(unsigned number)
{
	/* Growth beyond a short last chunk. */
	static const size_t listed[][3] = {{100, 128, 128},    {100, 128, 0},   {100, 1000, 128}, {100, 4096, 128},
					   {100, 100000, 128}, {1, 1, 2},       {1, 2, 4},        {65, 128, 128},
					   {127, 128, 128},    {100, 100000, 0}};
	lfpool_config_t config = LFPOOL_CONFIG_INIT;

	config.object_size = 1 + any(200);
	if (number < sizeof(listed) / sizeof(listed[0])) {
		config.capacity = listed[number][0];
		config.max_capacity = listed[number][1];
		config.cache_capacity = listed[number][2];
		return config;
	}
	config.capacity = 1 + any((size_t)1 << any(12));
	config.max_capacity = any(3) ? config.capacity + any((size_t)1 << any(13)) : 0;
	config.cache_capacity = any(4) ? (size_t)2 << any(12) : any(2) ? LFPOOL_CACHE_NONE : 0;
	config.depot_shards = any(3) ? any(SHARDS_MAX + 1) : 0;
	if (!any(4))
		config.hooks.create = create;
	if (any(2))
		config.flags = LFPOOL_CREATE_ALL;
	return config;
}

static lfpool_t *make(unsigned number, lfpool_config_t *config, char **memory_out)
{
	lfpool_t *made = NULL;

	*memory_out = NULL;
	if (number % 5 == 4) {
		config->buffer_caches = 1 + any(20);
		config->depot_shards = 0;

		const size_t bytes = lfpool_buffer_bytes(config);

		*memory_out = bytes ? aligned_alloc(4096, (bytes + 4095) / 4096 * 4096) : NULL;
		if (*memory_out && lfpool_create_in(&made, config, *memory_out, bytes) != LFPOOL_OK)
			made = NULL;
	} else if (lfpool_create(&made, config) != LFPOOL_OK) {
		made = NULL;
	}
	return made;
}

int main(int argc, char **argv)
{
	unsigned looked = 0, refused = 0;
	const char *broken = NULL;

	for (unsigned number = 0; number < CONFIGURATIONS && !broken; number++) {
		lfpool_config_t config = choose(number);
		char *memory;
		lfpool_t *new = make(number, &config, &memory);

		if (new) {
			looked++;
			broken = look(new);
			if (!broken)
				broken = argc > 1 ? wrong_broken(argv[1]) : layout_broken(size_now.magazines <= PAIRS);
			(void)lfpool_destroy(new);
		}
		refused += !new;
		free(memory);
		if (broken)
			printf("not as the table: %s: capacity %zu, max_capacity %zu, cache_capacity %zu%s\n", broken,
			       config.capacity, config.max_capacity, config.cache_capacity,
			       config.hooks.create ? ", hooks.create" : "");
	}
	printf("%u configurations, %u refused\n", looked, refused);
	return broken || looked < CONFIGURATIONS / 2;
}
