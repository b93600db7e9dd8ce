/* SPDX-License-Identifier: MIT */
/* test: threads once no-tsan wrap=pthread_mutex_lock wrap=pthread_mutex_unlock */
/*
 * unit_callbacks.c - no callback of the user's runs under a lock of the library.
 *
 * Idea         The test counts the mutexes that the library holds: in every callback there must be none.  And every
 *              kind of callback calls every public function, on new pools, on the pool whose call it runs in, on
 *              the registry and on the set.  If one of them waited for a lock that the thread holds, the test would not
 *              end.  The names come from the headers: a new function fails the test until everything() calls it.
 */
#include "../support/registry_support.h"
#include "../support/set_support.h"

#include "lfpool/evict.h"

#include <glob.h>
#include <pthread.h>
#include <signal.h>

enum { SIZE = 48, CAPACITY = 6, MOST = 12, NAMES = 200, NAME = 64 };

/* ---- Locks of the library ---- */

static size_t held;

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	held++;
	return __real_pthread_mutex_lock(mutex);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	held--;
	return __real_pthread_mutex_unlock(mutex);
}

/* ---- The functions that the headers declare ---- */

static char names[NAMES][NAME];
static size_t name_count;

/* The name in front of the first ( from `at` on, before the next ;. */
static void add_name(const char *at)
{
	const char *open = at + strcspn(at, "(;"), *start;

	for (start = open; start > at && (strchr("_", start[-1]) || (start[-1] >= '0' && start[-1] <= '9') ||
					  (start[-1] >= 'a' && start[-1] <= 'z'));)
		start--;
	/* Names that end in _ are parts of inlined functions. */
	if (*open != '(' || open[-1] == '_')
		return;
	REQUIRE(name_count < NAMES && open - start < NAME);
	(void)snprintf(names[name_count++], NAME, "%.*s", (int)(open - start), start);
}

static void read_names(void)
{
	static char text[1 << 17];
	char pattern[1000];
	glob_t files;

	header_path(pattern, "*.h");
	REQUIRE(glob(pattern, 0, NULL, &files) == 0);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		/* Those of optional components. */
		if (strstr(files.gl_pathv[i], "/rcu.h") || strstr(files.gl_pathv[i], "/epoch.h"))
			continue;
		FILE *header = fopen(files.gl_pathv[i], "r");

		REQUIRE(header);
		text[fread(text, 1, sizeof(text) - 1, header)] = 0;
		(void)fclose(header);
		for (const char *at = text; (at = strstr(at, "\nLFPOOL_API ")); at++)
			add_name(at + 12);
	}
	globfree(&files);
	REQUIRE(name_count > 50);
}

/* ---- Kinds of callbacks, and the functions that each has called ---- */

static const char *const kinds[] = {"create",    "validate", "activate",     "deactivate", "destroy",
				    "exhausted", "misuse",   "evict",        "before",     "begin",
				    "ready",     "wait",     "continuation", "plan",       "visit"};
/* A new hook takes the place of a reserved field.  It needs a callback here. */
_Static_assert(sizeof(lfpool_hooks_t) == 10 * sizeof(void *) &&
		       sizeof(((lfpool_hooks_t *)0)->reserved) == sizeof(void *) &&
		       sizeof(lfpool_scheme_t) == 7 * sizeof(void *) &&
		       sizeof(((lfpool_scheme_t *)0)->reserved) == 3 * sizeof(void *),
	       "the test does not know a hook");
static bool called[COUNT(kinds)][NAMES];
static size_t kind, depth;
static const char *scene = "", *during = "", *calling = "";

static void note(const char *name)
{
	size_t i = 0;

	while (i < name_count && strcmp(names[i], name) != 0)
		i++;
	REQUIRE(i < name_count);
	called[kind][i] = true;
	calling = name;
}

#define CALL(function) (note(#function), function)

static void too_late(int signal)
{
	(void)signal;
	fprintf(stderr, "a deadlock in mode %s, %s: hook %s called %s\n", scene, during, kinds[kind], calling);
	abort();
}

/* ---- Every function ---- */

static lfpool_registry_t *registry;
static lfpool_set_t *shared_set;
static lfpool_t *own; /* whose call runs; NULL: it is being made or destroyed */
static bool draining; /* not again */
static lfpool_batch_t *kept;

static void keep(void *context, lfpool_batch_t *batch)
{
	(void)context;
	REQUIRE(held == 0);
	kept = batch;
}

static void reclaim(void)
{
	uint32_t cursor = 0;
	lfpool_batch_t *batch = kept;

	kept = NULL;
	while (CALL(lfpool_batch_next)(batch, &cursor))
		;
	CALL(lfpool_batch_reclaim)(batch);
}

static bool reclaim_kept(void *context)
{
	(void)context;
	while (kept)
		reclaim();
	return true;
}

static void give_back(void *context, lfpool_t *pool, void *object)
{
	(void)context;
	REQUIRE(held == 0);
	if (object)
		(void)lfpool_release(pool, object);
}

static bool look(void *context, void *object)
{
	(void)context, (void)object;
	REQUIRE(held == 0);
	return true;
}

static void hear_misuse(void *context, const lfpool_misuse_t *misuse)
{
	(void)context, (void)misuse;
	REQUIRE(held == 0);
}

static void use_objects(lfpool_t *pool)
{
	void *objects[3], *object = CALL(lfpool_acquire)(pool);
	const lfpool_handle_t handle = CALL(lfpool_handle_of)(pool, object);

	(void)CALL(lfpool_resolve)(pool, handle);
	(void)CALL(lfpool_pin)(pool, handle);
	(void)CALL(lfpool_unpin)(pool, handle);
	(void)CALL(lfpool_release_handle)(pool, handle);
	object = lfpool_acquire(pool);
	(void)CALL(lfpool_label)(pool, object, "test");
	(void)CALL(lfpool_owns)(pool, object);
	(void)CALL(lfpool_in_use)(pool, object);
	(void)CALL(lfpool_object_at)(pool, CALL(lfpool_index_of)(pool, object));
	(void)CALL(lfpool_object_start)(pool, object);
	(void)CALL(lfpool_of)(object);
	(void)CALL(lfpool_release)(pool, object);
	(void)CALL(lfpool_release)(pool, objects); /* foreign */
	(void)CALL(lfpool_release_if_owned)(pool, lfpool_acquire(pool));
	const size_t count = CALL(lfpool_acquire_bulk)(pool, objects, COUNT(objects));

	(void)CALL(lfpool_release_bulk)(pool, objects, count);
	if (CALL(lfpool_acquire_bulk_wait)(pool, NULL, objects, 1, 1000) == LFPOOL_OK)
		(void)lfpool_release(pool, objects[0]);

	lfpool_cache_t *cache = CALL(lfpool_cache_create)(pool);

	if (cache) {
		(void)CALL(lfpool_cache_release)(cache, CALL(lfpool_cache_acquire)(cache));
		(void)CALL(lfpool_cache_release_if_owned)(cache, lfpool_cache_acquire(cache));
		(void)CALL(lfpool_cache_release_bulk)(cache, objects,
						      CALL(lfpool_cache_acquire_bulk)(cache, objects, 2));
		CALL(lfpool_cache_flush)(pool, cache);
		CALL(lfpool_cache_destroy)(cache);
	}
	CALL(lfpool_cache_flush)(pool, NULL);
}

static void use_policies(lfpool_t *pool)
{
	lfpool_ticket_t ticket;
	lfpool_handle_t handle;
	lfpool_cursor_t cursor;
	uint64_t priority;
	void *object = CALL(lfpool_acquire_evicting)(pool, 5, &handle);

	(void)CALL(lfpool_set_priority)(pool, handle, 6);
	(void)CALL(lfpool_get_priority)(pool, handle, &priority);
	if (object)
		(void)lfpool_unpin(pool, handle);
	(void)CALL(lfpool_least)(pool, &priority);
	(void)CALL(lfpool_release_least)(pool, 1);
	if (CALL(lfpool_acquire_async)(pool, give_back, NULL, &ticket) == LFPOOL_OK)
		(void)CALL(lfpool_cancel)(pool, ticket);
	CALL(lfpool_cursor_open)(&cursor, pool);
	(void)CALL(lfpool_cursor_next)(&cursor);
	(void)lfpool_for_each_active(pool, look, NULL);
	(void)CALL(lfpool_retire)(pool, lfpool_acquire(pool));
	object = lfpool_acquire(pool);
	(void)CALL(lfpool_retire_bulk)(pool, &object, 1);
	(void)CALL(lfpool_retire_poll)(pool);
	if (!draining || pool != own)
		(void)CALL(lfpool_drain)(pool);
}

static void use_numbers(lfpool_t *pool)
{
	lfpool_advice_t advice;
	lfpool_stats_t stats;
	char text[4000];
	size_t where;

	(void)CALL(lfpool_stats_sized)(pool, &stats, sizeof(stats));
	(void)CALL(lfpool_advise_sized)(pool, &advice, sizeof(advice));
	CALL(lfpool_high_water_reset)(pool);
	(void)CALL(lfpool_dump)(pool, LFPOOL_TEXT, text, sizeof(text));
	(void)CALL(lfpool_check)(pool, &where);
	(void)CALL(lfpool_grow)(pool, 1);
	(void)CALL(lfpool_shrink)(pool, 1);
	(void)CALL(lfpool_shrink_cancel)(pool);
	(void)CALL(lfpool_limit)(pool, MOST);
	(void)CALL(lfpool_trim)(pool, 0, SIZE_MAX);
	(void)CALL(lfpool_active_count)(pool);
	(void)CALL(lfpool_capacity)(pool);
}

static void use_pool(lfpool_t *pool)
{
	use_objects(pool);
	use_policies(pool);
	use_numbers(pool);
}

static void live_and_end(lfpool_backend_t backend)
{
	const lfpool_config_t config = CONFIG_OF(SIZE, CAPACITY, .max_capacity = MOST, .backend = backend,
						 .hooks.misuse = hear_misuse, .evict = LFPOOL_EVICT_LESS,
						 .scheme = {.begin = keep, .wait = reclaim_kept});
	lfpool_t *pool = NULL;

	(void)CALL(lfpool_memory_bytes)(&config);
	REQUIRE(CALL(lfpool_create)(&pool, &config) == LFPOOL_OK);
	use_pool(pool);
	while (kept)
		reclaim();
	(void)lfpool_acquire(pool);
	(void)CALL(lfpool_release_all)(pool);
	(void)CALL(lfpool_close)(pool, 0);
	REQUIRE(CALL(lfpool_destroy)(pool) == 0);
}

static void use_registry(lfpool_registry_t *used)
{
	const lfpool_config_t config = config_of(SIZE, CAPACITY);
	lfpool_t *pool = NULL;
	char text[4000];

	REQUIRE(CALL(lfpool_registry_create_pool)(used, "inner", &config, &pool) == LFPOOL_OK);
	REQUIRE(CALL(lfpool_registry_find)(used, "inner") == pool);
	(void)CALL(lfpool_registry_dump)(used, LFPOOL_TEXT, text, sizeof(text));
	REQUIRE(CALL(lfpool_registry_switch_sized)(used, NULL, "inner", NULL, 0) == LFPOOL_OK);
	REQUIRE(lfpool_capacity(pool) == 3);
	REQUIRE(CALL(lfpool_registry_destroy_pool)(used, pool) == 0);
}

static void use_set(lfpool_set_t *set, size_t size)
{
	lfpool_stats_t stats;
	char text[4000];
	void *object = CALL(lfpool_set_acquire)(set, size);

	REQUIRE(object);
	(void)CALL(lfpool_set_class)(set, 2 * size, true, NULL);
	(void)CALL(lfpool_set_pool_of)(set, object, NULL);
	(void)CALL(lfpool_set_stats_sized)(set, &stats, sizeof(stats));
	(void)CALL(lfpool_set_dump)(set, LFPOOL_TEXT, text, sizeof(text));
	REQUIRE(CALL(lfpool_set_release)(set, object) == LFPOOL_OK);
	REQUIRE(CALL(lfpool_set_release_if_owned)(set, lfpool_set_acquire(set, size)) == LFPOOL_OK);
	(void)lfpool_set_release(set, text);
}

#define INNER "[inner]\ninner capacity=3\n"

static void everything(void)
{
	lfpool_registry_t *another = NULL;
	lfpool_set_t *set = NULL;
	/* Each time a class of the shared set that has no pool yet. */
	static size_t size = 16;

	(void)CALL(lfpool_status_string)(LFPOOL_OK);
	for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++)
		live_and_end((lfpool_backend_t)backend);
	REQUIRE(CALL(lfpool_registry_create)(&another, INNER, NULL) == LFPOOL_OK);
	use_registry(another);
	lfpool_set_config_t config = LFPOOL_SET_CONFIG_INIT;

	config.largest = 256;
	config.pool.name = "s";
	config.pool.hooks.misuse = hear_misuse;
	config.registry = another;
	REQUIRE(CALL(lfpool_set_create)(&set, &config) == LFPOOL_OK);
	use_set(set, 32);
	REQUIRE(CALL(lfpool_set_destroy)(set) == 0);
	REQUIRE(CALL(lfpool_registry_destroy)(another) == 0);
	if (registry)
		use_registry(registry);
	if (shared_set)
		use_set(shared_set, size += 16);
	if (own)
		use_pool(own);
}

/* ---- The callbacks ---- */

/* Every function, at the first callback of each kind during each step. */
static void callback(const char *name)
{
	static const char *steps[COUNT(kinds)], *scenes[COUNT(kinds)];

	for (kind = depth ? kind : 0; !depth && strcmp(kinds[kind], name) != 0;)
		kind++;
	if (held)
		fprintf(stderr, "%s is called under %zu locks, during %s of mode %s\n", name, held, during, scene);
	REQUIRE(held == 0);
	if (depth || (steps[kind] == during && scenes[kind] == scene))
		return;
	steps[kind] = during;
	scenes[kind] = scene;
	depth++;
	everything();
	depth--;
	REQUIRE(held == 0);
}

#define HOOK(name)                                         \
	static bool on_##name(void *context, void *object) \
	{                                                  \
		(void)context, (void)object;               \
		callback(#name);                           \
		return true;                               \
	}
HOOK(create)
HOOK(validate)
HOOK(activate)
HOOK(deactivate)
HOOK(visit)

static void on_destroy(void *context, void *object)
{
	(void)context, (void)object;
	callback("destroy");
}

static void on_misuse(void *context, const lfpool_misuse_t *misuse)
{
	(void)context, (void)misuse;
	callback("misuse");
}

static bool on_exhausted(void *context, lfpool_t *pool, uint32_t attempt, int64_t *wait_ns)
{
	(void)context, (void)pool, (void)attempt, (void)wait_ns;
	callback("exhausted");
	return false;
}

static void on_evict(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	(void)context, (void)object, (void)handle, (void)priority;
	callback("evict");
}

static bool on_before(void *context, uint64_t a, uint64_t b)
{
	(void)context;
	callback("before");
	return a < b;
}

static void on_begin(void *context, lfpool_batch_t *batch)
{
	(void)context, (void)batch;
	callback("begin");
}

static bool on_ready(void *context, const lfpool_batch_t *batch)
{
	(void)batch;
	callback("ready");
	return *(bool *)context;
}

static bool on_wait(void *context)
{
	callback("wait");
	return *(bool *)context = true;
}

static void on_continuation(void *context, lfpool_t *pool, void *object)
{
	(void)context;
	callback("continuation");
	if (object)
		(void)lfpool_release(pool, object);
}

static void on_plan(void *context, lfpool_config_t *config)
{
	(void)context, (void)config;
	callback("plan");
}

/* ---- Steps ---- */

static lfpool_config_t scene_config; /* of this mode, with every hook */

static lfpool_t *hooked_pool(uint32_t flags)
{
	lfpool_config_t config = scene_config;

	config.flags = flags;
	own = NULL;
	during = "create";
	own = pool_with(&config);
	return own;
}

/* In malloc mode active objects stay allocated when their pool is destroyed. */
static void free_objects(lfpool_t *pool)
{
	if (scene_config.backend == LFPOOL_BACKEND_MALLOC)
		(void)lfpool_release_all(pool);
}

static void end_pool(lfpool_t *pool)
{
	own = NULL;
	free_objects(pool);
	during = "destroy";
	(void)lfpool_destroy(pool);
}

/* Acquires all objects; returns their number. */
static size_t take_all(lfpool_t *pool, void **objects)
{
	size_t count = 0;

	while (count < 3 * MOST && (objects[count] = lfpool_acquire(pool)))
		count++;
	return count;
}

static void step_objects(uint32_t flags)
{
	void *objects[3 * MOST];
	lfpool_t *pool = hooked_pool(flags);

	during = "acquire";
	size_t count = take_all(pool, objects);

	during = "release";
	release_all(pool, objects, count);
	during = "acquire again";
	count = take_all(pool, objects);
	during = "release of one twice";
	for (int i = 0; i < 2; i++)
		(void)lfpool_release(pool, objects[0]);
	during = "release_all";
	(void)lfpool_release_all(pool);
	during = "bulk";
	(void)lfpool_release_bulk(pool, objects, lfpool_acquire_bulk(pool, objects, 4));
	during = "walk";
	objects[0] = lfpool_acquire(pool);
	(void)lfpool_for_each_active(pool, on_visit, NULL);
	during = "shrink";
	(void)lfpool_shrink(pool, 2);
	during = "trim";
	(void)lfpool_trim(pool, 0, SIZE_MAX);
	end_pool(pool);
}

static void *use_and_exit(void *pool)
{
	void *objects[4];
	const size_t count = lfpool_acquire_bulk(pool, objects, COUNT(objects));

	(void)lfpool_release_bulk(pool, objects, count);
	during = "thread exit";
	return NULL;
}

/* The exit of a thread that has free objects in its cache. */
static void step_exit(void)
{
	lfpool_t *pool = hooked_pool(0);
	pthread_t thread;

	during = "another thread";
	thread_start(&thread, use_and_exit, pool);
	REQUIRE(pthread_join(thread, NULL) == 0);
	end_pool(pool);
}

static void step_waiting(void)
{
	static const char *const ends[] = {"release to a waiter", "grow for a waiter", "close"};
	void *objects[3 * MOST];

	for (size_t i = 0; i < COUNT(ends); i++) {
		lfpool_t *pool = own = POOL_OF(SIZE, CAPACITY, .max_capacity = MOST, .backend = scene_config.backend,
					       .cache_capacity = scene_config.cache_capacity,
					       .hooks.misuse = on_misuse);
		lfpool_ticket_t ticket;
		const size_t count = take_all(pool, objects);

		during = ends[i];
		REQUIRE(count && lfpool_acquire_async(pool, on_continuation, NULL, &ticket) == LFPOOL_OK);
		if (i == 0)
			(void)lfpool_release(pool, objects[0]);
		else if (i == 1)
			(void)lfpool_grow(pool, 1);
		else
			(void)lfpool_close(pool, 0);
		end_pool(pool);
	}
}

static void step_eviction(void)
{
	lfpool_config_t config = CONFIG_OF(SIZE, CAPACITY, .backend = scene_config.backend,
					   .cache_capacity = scene_config.cache_capacity, .evict = LFPOOL_EVICT_LESS,
					   .before = on_before, .hooks.evict = on_evict, .hooks.misuse = on_misuse);
	lfpool_handle_t handle;

	own = NULL;
	during = "create an evicting pool";
	lfpool_t *pool = own = pool_with(&config);

	during = "acquire_evicting";
	for (uint64_t priority = 1; priority <= 2 * CAPACITY; priority++)
		if (lfpool_acquire_evicting(pool, priority, &handle))
			(void)lfpool_unpin(pool, handle);
	during = "set_priority";
	(void)lfpool_set_priority(pool, handle, 1);
	during = "least";
	(void)lfpool_least(pool, NULL);
	during = "release_least";
	for (uint64_t priority = 1; priority <= 2 * CAPACITY; priority++)
		if (lfpool_acquire_evicting(pool, priority, &handle))
			(void)lfpool_unpin(pool, handle);
	(void)lfpool_release_least(pool, 2);
	end_pool(pool);
}

static void step_retire(void)
{
	bool ready = false;
	lfpool_config_t config = scene_config;

	config.scheme = (lfpool_scheme_t){&ready, on_begin, on_ready, on_wait, {NULL}};
	config.flags = 0;
	draining = true;
	during = "create";
	lfpool_t *pool = own = pool_with(&config);

	during = "retire";
	(void)lfpool_retire(pool, lfpool_acquire(pool));
	during = "poll";
	(void)lfpool_retire_poll(pool);
	during = "drain";
	(void)lfpool_drain(pool);
	during = "acquire after retire";
	ready = false;
	(void)lfpool_retire(pool, lfpool_acquire(pool));
	end_pool(pool);
	draining = false;
}

static void step_set(void)
{
	lfpool_set_config_t config = LFPOOL_SET_CONFIG_INIT;
	lfpool_set_t *set = NULL;
	lfpool_ticket_t ticket;
	void *objects[4];

	config.largest = 128;
	config.plan = on_plan;
	config.registry = registry;
	config.pool = CONFIG_OF(0, 2, .name = "planned", .backend = scene_config.backend,
				.cache_capacity = scene_config.cache_capacity, .hooks.misuse = on_misuse,
				.hooks.exhausted = on_exhausted);
	own = NULL;
	during = "set_create";
	REQUIRE(lfpool_set_create(&set, &config) == LFPOOL_OK);
	during = "set_acquire";
	for (size_t i = 0; i < COUNT(objects); i++)
		objects[i] = lfpool_set_acquire(set, 64);
	REQUIRE(objects[1] && !objects[2]);
	during = "set_release to a waiter";
	REQUIRE(lfpool_acquire_async(lfpool_set_pool(set, 64), on_continuation, NULL, &ticket) == LFPOOL_OK);
	(void)lfpool_set_release(set, objects[0]);
	during = "set_release, foreign";
	(void)lfpool_set_release(set, &config);
	free_objects(lfpool_set_pool(set, 64));
	during = "set_destroy";
	(void)lfpool_set_destroy(set);
}

static void step_registry(void)
{
	lfpool_config_t config = scene_config, plain;
	lfpool_t *built, *waited;
	lfpool_ticket_t ticket;
	void *objects[3 * MOST];

	own = NULL;
	config.flags = LFPOOL_CREATE_ALL;
	during = "registry_create_pool";
	REQUIRE(lfpool_registry_create_pool(registry, "built", &config, &built) == LFPOOL_OK);
	plain = CONFIG_OF(SIZE, CAPACITY, .backend = config.backend, .cache_capacity = config.cache_capacity,
			  .hooks.misuse = on_misuse);
	REQUIRE(lfpool_registry_create_pool(registry, "waited", &plain, &waited) == LFPOOL_OK);
	release_all(built, objects, take_all(built, objects));
	REQUIRE(take_all(waited, objects) == CAPACITY);
	REQUIRE(lfpool_acquire_async(waited, on_continuation, NULL, &ticket) == LFPOOL_OK);
	during = "registry_switch, destroy";
	own = built;
	REQUIRE(lfpool_registry_switch(registry, NULL, "low", NULL) == LFPOOL_OK);
	/* The last switch counts: the hook has made one, except in malloc mode. */
	REQUIRE(lfpool_capacity(built) == (config.backend == LFPOOL_BACKEND_MALLOC ? 2 : CAPACITY));
	during = "registry_switch, grow";
	own = waited;
	REQUIRE(lfpool_registry_switch(registry, NULL, "high", NULL) == LFPOOL_OK);
	own = NULL;
	free_objects(built);
	free_objects(waited);
	during = "registry_destroy_pool";
	(void)lfpool_registry_destroy_pool(registry, built);
	(void)lfpool_registry_destroy_pool(registry, waited);
}

static void play(const char *name, lfpool_backend_t backend, size_t cache_capacity)
{
	scene = name;
	scene_config = CONFIG_OF(SIZE, CAPACITY, .max_capacity = MOST, .backend = backend,
				 .cache_capacity = cache_capacity,
				 .hooks = {.create = on_create,
					   .validate = on_validate,
					   .activate = on_activate,
					   .deactivate = on_deactivate,
					   .destroy = on_destroy,
					   .misuse = on_misuse,
					   .exhausted = on_exhausted});
	registry = registry_of("[low]\nbuilt capacity=2 trim=yes\n[high]\nwaited capacity=8\n" INNER);
	lfpool_set_config_t config = set_config_of(backend, 1 << 20, CAPACITY);

	config.pool.hooks.misuse = hear_misuse;
	config.registry = registry;
	config.pool.name = "shared";
	config.pool.cache_capacity = cache_capacity;
	config.class_bytes = 1 << 12;
	shared_set = set_with(&config);
	step_objects(0);
	step_objects(LFPOOL_CREATE_ALL);
	step_exit();
	step_waiting();
	step_eviction();
	step_retire();
	step_set();
	step_registry();
	REQUIRE(lfpool_set_destroy(shared_set) == 0);
	REQUIRE(lfpool_registry_destroy(registry) == 0);
	shared_set = NULL;
	registry = NULL;
}

TEST(no_callback_runs_under_a_lock)
{
	size_t missing = 0;

	read_names();
	(void)signal(SIGALRM, too_late);
	(void)alarm(200);
	play("lockfree", LFPOOL_BACKEND_LOCKFREE, 0);
	play("lockfree, no caches", LFPOOL_BACKEND_LOCKFREE, LFPOOL_CACHE_NONE);
	play("mutex", LFPOOL_BACKEND_MUTEX, 0);
	play("malloc", LFPOOL_BACKEND_MALLOC, 0);
	(void)alarm(0);
	for (size_t k = 0; k < COUNT(kinds); k++)
		for (size_t i = 0; i < name_count; i++)
			if (!called[k][i] && missing++ < 20)
				print_message("%s did not call %s\n", kinds[k], names[i]);
	assert_int_equal(missing, 0);
	print_message("%zu functions, %zu kinds of callbacks\n", name_count, COUNT(kinds));
}

RUN_TESTS()
