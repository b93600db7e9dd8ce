/* SPDX-License-Identifier: MIT */
/* ways.c - a row as a plan: its configuration, the consequences for the model, and the five ways to make the pool. */
#include "row.h"

#include "lfpool/buffer.h"
#include "lfpool/registry.h"
#include "lfpool/set.h"

#include <string.h>

#define GROWS_BY 70
#define STEP 5
#define NAME "pairs"

/* ---- lfpool_create, lfpool_create_in ----------------------------------------------------------------------- */

static lfpool_status_t make_plainly(struct model *m)
{
	return lfpool_create(&m->pool, &m->config);
}

/* `made` is the buffer, or NULL. */
static size_t destroy_plainly(struct model *m)
{
	const size_t active = lfpool_destroy(m->pool);

	free(m->made);
	return active;
}

static bool lives(const struct model *m)
{
	return lfpool_capacity(m->pool) == m->capacity;
}

static lfpool_status_t make_in_buffer(struct model *m)
{
	/* 1 to 3, or the maximum. */
	m->config.buffer_caches = m->config.capacity % 5;

	const size_t bytes = lfpool_buffer_bytes(&m->config), room = bytes ? bytes : 65536;

	/* Its contents do not matter. */
	m->made = aligned_alloc(LFPOOL_BUFFER_ALIGNMENT,
				(room + LFPOOL_BUFFER_ALIGNMENT - 1) & -(size_t)LFPOOL_BUFFER_ALIGNMENT);
	REQUIRE(m->made);
	memset(m->made, 0xa5, room);

	const lfpool_status_t status = lfpool_create_in(&m->pool, &m->config, m->made, room);

	REQUIRE((status == LFPOOL_OK) == (bytes != 0));
	if (status != LFPOOL_OK)
		free(m->made);
	return status;
}

/* ---- lfpool_set_create ------------------------------------------------------------------------------------- */

static lfpool_status_t make_set(struct model *m)
{
	const lfpool_config_t *c = &m->config;
	lfpool_set_config_t config = LFPOOL_SET_CONFIG_INIT;
	lfpool_set_t *set;

	config.largest = c->object_size;
	config.pool = *c;
	config.pool.name = NAME;

	const lfpool_status_t status = lfpool_set_create(&set, &config);

	REQUIRE((status == LFPOOL_OK) == (set != NULL));
	if (set) {
		m->pool = lfpool_set_pool(set, c->object_size);
		REQUIRE(lfpool_set_class_size(set, c->object_size) == c->object_size);
	}
	m->made = set;
	return status;
}

static size_t destroy_set(struct model *m)
{
	return lfpool_set_destroy(m->made);
}

static void *acquire_of_set(struct model *m)
{
	return lfpool_set_acquire(m->made, m->config.object_size);
}

static lfpool_status_t release_to_set(struct model *m, void *object)
{
	/* Addresses outside of its windows are reported by the pool of the smallest class. */
	return lfpool_set_pool_of(m->made, object, NULL) ? lfpool_set_release(m->made, object)
							 : lfpool_release(m->pool, object);
}

/* ---- lfpool_registry_create_pool --------------------------------------------------------------------------- */

static lfpool_status_t make_in_registry(struct model *m)
{
	lfpool_registry_t *registry;

	REQUIRE(lfpool_registry_create(&registry, NULL, NULL) == LFPOOL_OK);
	m->made = registry;

	const lfpool_status_t status = lfpool_registry_create_pool(registry, NAME, &m->config, &m->pool);

	if (status != LFPOOL_OK)
		REQUIRE(!lfpool_registry_find(registry, NAME) && lfpool_registry_destroy(registry) == 0);
	return status;
}

static size_t destroy_in_registry(struct model *m)
{
	const size_t active = lfpool_registry_destroy_pool(m->made, m->pool);

	if (!lfpool_registry_find(m->made, NAME))
		(void)lfpool_registry_destroy(m->made);
	return active;
}

static bool in_registry(const struct model *m)
{
	return lfpool_registry_find(m->made, NAME) == m->pool && lives(m);
}

/* ---- lfpool::pool ------------------------------------------------------------------------------------------ */

static lfpool_status_t make_class(struct model *m)
{
	lfpool_status_t status;

	m->made = class_create(&m->config, &m->pool, &status);
	if (status != LFPOOL_OK)
		class_delete(m->made);
	return status;
}

static size_t destroy_class(struct model *m)
{
	const size_t active = class_close(m->made);

	if (!class_get(m->made))
		class_delete(m->made);
	return active;
}

static bool in_class(const struct model *m)
{
	return class_get(m->made) == m->pool && lives(m);
}

/* ---- All of them ------------------------------------------------------------------------------------------- */

static const struct way ways[] = {
	[MADE_CREATE] = {make_plainly, destroy_plainly, NULL, NULL, lives},
	[MADE_IN] = {make_in_buffer, destroy_plainly, NULL, NULL, lives},
	[MADE_SET] = {make_set, destroy_set, acquire_of_set, release_to_set, lives},
	[MADE_REGISTRY] = {make_in_registry, destroy_in_registry, NULL, NULL, in_registry},
	[MADE_CLASS] = {make_class, destroy_class, NULL, NULL, in_class},
};

/* Hooks never see the malloc backend's objects that are active at the end. */
static size_t destroy_and_forget(struct model *m)
{
	const size_t active = ways[m->plan.choice].destroy(m);

	for (size_t i = 0; m->closing && !m->exact && i < m->cells; i++)
		hooks_forget((const void *)m->cell[i].address);
	return active;
}

/* ---- The plan ---------------------------------------------------------------------------------------------- */

static const char environment_words[] = "poison,guard,quarantine=5,owner";

static void choose_debug(struct plan *plan, unsigned which)
{
	static const char *const words[VALUES_MAX] = {NULL,     "check",        "zero",  "no-tools", NULL,
						      "poison", "quarantine=7", "guard", "owner",    "backtrace=1/3"};
	const bool environment = which == DEBUG_ENVIRONMENT && !plan->in_buffer,
		   knows = plan->config.backend != LFPOOL_BACKEND_MALLOC;

	plan->config.debug = words[which];
	plan->overwrites = knows && (environment || which == DEBUG_POISON);
	plan->tells_active = knows && (environment || which >= DEBUG_OWNER);
	plan->zeroes = plan->zeroes || (which == DEBUG_ZERO && !plan->config.hooks.create);
}

const struct plan *row_plan(const struct row *row)
{
	static const size_t capacities[] = {1, 2, 33, 300}, sizes[] = {8, 48, 1024}, alignments[] = {8, 16, 64},
			    caches[] = {0, 2, 0, LFPOOL_CACHE_NONE};
	static const uint32_t flags[] = {LFPOOL_PREFAULT, LFPOOL_ZERO,       LFPOOL_CHECK_RACES,  LFPOOL_CREATE_ALL,
					 LFPOOL_LOCK,     LFPOOL_HUGE_PAGES, LFPOOL_PLAIN_STRIDE, LFPOOL_FENCED};
	static struct plan plan;
	static struct way way;
	const unsigned char *v = row->value;
	lfpool_config_t *c = &plan.config;

	plan = (struct plan){.config = LFPOOL_CONFIG_INIT};
	way = ways[v[of_made]];
	way.destroy = destroy_and_forget;
	plan.way = &way;
	plan.choice = v[of_made];
	plan.in_buffer = v[of_made] == MADE_IN;
	c->object_size = sizes[v[of_size]];
	c->object_alignment = alignments[v[of_size]];
	c->name = v[of_made] != MADE_SET ? NAME
		  : v[of_size] == 0      ? NAME "/8"
		  : v[of_size] == 1      ? NAME "/48"
					 : NAME "/1024";
	c->capacity = capacities[v[of_capacity]];
	c->max_capacity = c->capacity + (v[of_growth] == GROWTH_FIXED ? 0 : GROWS_BY);
	c->growth_step = v[of_growth] == GROWTH_BY_ITSELF ? STEP : 0;
	c->cache_capacity = caches[v[of_caches]];
	for (unsigned i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		c->flags |= v[of_prefault + i] ? flags[i] : 0;
	c->backend = (lfpool_backend_t)v[of_backend];
	c->evict = (lfpool_evict_t)v[of_evict];
	hooks_choose(&c->hooks, v[of_hooks]);
	if (v[of_scheme])
		c->scheme = model_scheme(v[of_scheme] == SCHEME_ASKED);
	plan.explicit_caches = v[of_caches] == CACHES_EXPLICIT;
	plan.refuses = v[of_hooks] == HOOKS_REFUSING;
	plan.zeroes = c->flags & LFPOOL_ZERO;
	choose_debug(&plan, v[of_debug]);
	return &plan;
}

void row_environment(const struct row *row)
{
	REQUIRE(unsetenv("LFPOOL_BACKEND") == 0 && unsetenv("LFPOOL_DEBUG") == 0);
	REQUIRE(setenv("LFPOOL_MEMBARRIER", value_names[of_membarrier][row->value[of_membarrier]], 1) == 0);
	if (row->value[of_debug] == DEBUG_ENVIRONMENT)
		REQUIRE(setenv("LFPOOL_DEBUG", environment_words, 1) == 0);
}

lfpool_status_t row_try(const struct row *row)
{
	static struct model m;

	m = (struct model){.plan = *row_plan(row)};
	m.config = m.plan.config;
	if (row->value[of_scheme])
		m.config.scheme.context = &m;

	const lfpool_status_t status = m.plan.way->make(&m);

	REQUIRE((status == LFPOOL_OK) == (m.pool != NULL));
	if (m.pool)
		REQUIRE(m.plan.way->destroy(&m) == 0);
	return status;
}
