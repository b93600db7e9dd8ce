/* SPDX-License-Identifier: MIT */
/* life.c - creating and closing pools: their configurations, and the misuse hook.  (Configurations that must be
 * refused: tests/pool/test_config.c.) */
#include "model.h"

#include "lfpool/resize.h"
#include "lfpool/wait.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const size_t sizes[] = {8,  1,   2,   3,   7,   12,   16,   24,   31,    48,     64,
			       65, 100, 128, 200, 256, 1000, 4096, 5000, 65536, 1 << 20};
static const size_t alignments[] = {0, 1, 2, 4, 8, 16, 32, 64, 128, 512, 4096};
static const size_t capacities[] = {8,  1,  2,  3,  4,  5,   6,   7,   9,   12,  16, 17,
				    24, 31, 33, 40, 64, 100, 129, 256, 300, 513, 600};
static const size_t cache_capacities[] = {2, 0, 1, 3, 4, 5, 8, 9, 16, 64, 100, 512, 8192, LFPOOL_CACHE_NONE};
static const char longest_name[] = "123456789012345678901234567890123456789012345678901234567890123";

#define BYTES_MAX ((size_t)4 << 20) /* of all objects; more would only be slower */

/* ---- The hook ---------------------------------------------------------------------------------------------- */

static void hear(void *context, const lfpool_misuse_t *misuse)
{
	struct model *m = context;

	if (m->closing && m->plan.tells_active && misuse->status == LFPOOL_E_STILL_ACTIVE) {
		const struct cell *cell = model_cell(m, misuse->object);

		REQUIRE(cell && cell->held && ++m->told <= m->held);
		return;
	}
	REQUIRE(m->reported_count < m->expected_count);

	const struct refusal *expected = &m->expected[m->reported_count++];

	REQUIRE(misuse->pool == m->pool && misuse->object == expected->object);
	REQUIRE(strcmp(misuse->pool_name, m->config.name ? m->config.name : "unnamed") == 0);
	REQUIRE(misuse->count == m->misuses + m->reported_count);
	model_require_status(misuse->status, expected->status);
	if (m->plan.hook_calls_pool) {
		void *object = lfpool_acquire(m->pool);

		REQUIRE(!object || lfpool_in_use(m->pool, object));
		REQUIRE(lfpool_release(m->pool, object) == LFPOOL_OK);
	}
}

/* ---- Good configurations ----------------------------------------------------------------------------------- */

static lfpool_config_t config_read(struct input *in)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	uint32_t backend = input_below(in, 8);

	config.backend = backend == 6   ? LFPOOL_BACKEND_MUTEX
			 : backend == 7 ? LFPOOL_BACKEND_MALLOC
					: LFPOOL_BACKEND_LOCKFREE;
	config.object_size = sizes[input_below(in, COUNT(sizes))];
	config.object_alignment = alignments[input_below(in, COUNT(alignments))];
	config.capacity = capacities[input_below(in, COUNT(capacities))];
	config.cache_capacity = cache_capacities[input_below(in, COUNT(cache_capacities))];
	config.flags = input_below(in, 8);
	while (config.capacity > 1 && config.capacity * (config.object_size + config.object_alignment) > BYTES_MAX)
		config.capacity /= 2;
	return config;
}

/* Room to grow, and the step, from `growing` = 0 .. 15; 0: no growth. */
static void config_grow(lfpool_config_t *config, uint32_t growing)
{
	static const size_t rooms[] = {0, 1, 7, 64, 500}, steps[] = {0, 1, 5, 300};
	const size_t room = rooms[(growing + 3) / 4], most = config->capacity + room;

	config->growth_step = steps[growing % 4];
	config->max_capacity = most < MODEL_CAPACITY_MAX ? most : MODEL_CAPACITY_MAX;
	if (config->max_capacity * (config->object_size + config->object_alignment) > 2 * BYTES_MAX)
		config->max_capacity = config->capacity;
}

void model_start(struct model *m, const struct plan *plan)
{
	memset(m, 0, sizeof(*m));
	m->plan = *plan;
	m->config = plan->config;
	m->config.hooks.context = m;
	m->config.hooks.misuse = hear;
	if (m->config.evict)
		m->config.hooks.evict = model_evicted;
	if (m->config.scheme.ready || m->config.scheme.begin)
		m->config.scheme.context = m;
	m->capacity = m->config.capacity;
	m->maximum = m->reserved = m->config.max_capacity;
	m->exact = m->config.backend != LFPOOL_BACKEND_MALLOC;
	REQUIRE((plan->way ? plan->way->make(m) : lfpool_create(&m->pool, &m->config)) == LFPOOL_OK && m->pool);
	for (unsigned i = 0; plan->explicit_caches && i < 2; i++)
		model_cache_create(m);
	model_check_counts(m);
}

void model_open(struct model *m, struct input *in)
{
	struct plan plan = {.config = config_read(in)};
	lfpool_config_t *config = &plan.config;
	uint32_t hook = input_byte(in);

	config_grow(config, hook >> 4);
	config->name = hook & 2 ? longest_name : NULL;
	/* If that made it grow, the model could not know when. */
	plan.hook_calls_pool = hook & 1 && !config->growth_step;
	/* Under AddressSanitizer a pool reports free objects to it, and then has no inlined hits: only sometimes. */
	config->debug = (hook & 12) == 12 ? NULL : "no-tools";
	plan.zeroes = config->flags & LFPOOL_ZERO;
	model_start(m, &plan);
}

/* Closes the pool: it hands out nothing, waiting calls have been told, and released objects leave it. */
static void shut(struct model *m)
{
	struct cell *const cell = model_pick(m, (size_t)m->stamps, true);
	void *object;

	REQUIRE(lfpool_close(m->pool, 0) == m->held && m->waiters == 0);
	REQUIRE(!lfpool_acquire(m->pool) && lfpool_acquire_bulk(m->pool, &object, 1) == 0 &&
		lfpool_grow(m->pool, 1) == 0);
	REQUIRE(lfpool_acquire_bulk_wait(m->pool, NULL, &object, 1, 0) == LFPOOL_E_CLOSED);
	if (cell) {
		REQUIRE(lfpool_release(m->pool, (void *)cell->address) == LFPOOL_OK);
		model_released(m, cell);
	}
	REQUIRE(lfpool_close(m->pool, 0) == m->held && lfpool_capacity(m->pool) == m->held);
}

void model_close(struct model *m)
{
	model_check_contents(m);
	/* Before the end retired objects become free, and serve waiters. */
	m->ready = true;
	model_reclaimed(m);
	m->closing = true;
	/* Sometimes closes it first.  (Not if a scheme may still have retired objects.) */
	if (m->stamps % 2 && !m->config.scheme.begin && !m->config.scheme.ready)
		shut(m);
	REQUIRE((m->plan.way ? m->plan.way->destroy(m) : lfpool_destroy(m->pool)) == m->held);
	REQUIRE(m->waiters == 0 && m->called == m->awaited);
	REQUIRE(!m->plan.tells_active || m->told == m->held);
	/* With malloc they live on.  A block begins a label before its object: 16 bytes, or the alignment. */
	const size_t alignment = m->config.object_alignment;

	for (size_t i = 0; i < m->cells && !m->exact; i++)
		free((void *)(m->cell[i].address - (alignment < 16 ? 16 : alignment)));
	m->pool = NULL;
}
