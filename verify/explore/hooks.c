/* SPDX-License-Identifier: MIT */
/*
 * hooks.c - the hooks of a scenario's pool, and the rules for them.
 *
 * Idea         Each object goes through its life one step at a time: create; then validate, activate and deactivate,
 *              repeatedly; then destroy.  A hook lets the other threads run while it works on an object, and writes
 *              the object: two hooks at once on an object, or without order between them, are failures.
 */
#include "scenario.h"

#include "oracle.h"
#include "verbs.h"

#include <string.h>

enum step { RAW, READY, USED, BUSY };

static const char *letters;

static struct {
	enum step at[OBJECTS_MAX];
	unsigned refused[4];           /* refused creates, activates, deactivates, validates so far */
	void *refused_to[THREADS_MAX]; /* the object that the thread's call did not get because of a hook */
	bool nested[THREADS_MAX];
} life;

/* Moves the object from one step to the next, while other threads run. */
static void go(void *object, enum step from, enum step to, const char *hook)
{
	const unsigned number = scenario_object_number(object);

	if (number == OBJECTS_MAX)
		engine_fail("%s of an address that is no object", hook);
	if (life.at[number] != from)
		engine_fail("%s of object %u at the wrong time", hook, number);
	life.at[number] = BUSY;
	if (engine_running())
		engine_point(true);
	explore_plain(object, true);
	life.at[number] = to;
}

/* True the first time, if the scenario has the hook's letter. */
static bool refuses(unsigned hook)
{
	return engine_running() && strchr(letters, "CADV"[hook]) && !life.refused[hook]++;
}

static bool on_create(void *context, void *object)
{
	(void)context;
	if (refuses(0)) {
		go(object, RAW, RAW, "create");
		life.refused_to[engine_thread()] = object;
		return false;
	}
	go(object, RAW, READY, "create");
	return true;
}

static bool on_validate(void *context, void *object)
{
	(void)context;
	go(object, READY, READY, "validate");
	return !refuses(3);
}

static bool on_activate(void *context, void *object)
{
	const unsigned thread = engine_thread();

	(void)context;
	if (refuses(1)) {
		go(object, READY, READY, "activate");
		life.refused_to[thread] = object;
		return false;
	}
	go(object, READY, USED, "activate");
	/* This object replaces the refused one. */
	life.refused_to[thread] = NULL;
	if (engine_running() && strchr(letters, 'n') && !life.nested[thread]) {
		life.nested[thread] = true;
		scenario_nested(thread);
		life.nested[thread] = false;
	}
	return true;
}

static bool on_deactivate(void *context, void *object)
{
	(void)context;
	go(object, USED, READY, "deactivate");
	return !refuses(2);
}

static void on_destroy(void *context, void *object)
{
	(void)context;
	go(object, READY, RAW, "destroy");
}

void hooks_open(const char *kind, lfpool_config_t *config)
{
	letters = kind ? kind : "";
	memset(&life, 0, sizeof(life));
	os_play_keep(&life, sizeof(life));
	if (!kind)
		return;
	config->hooks.create = on_create;
	config->hooks.validate = on_validate;
	config->hooks.activate = on_activate;
	config->hooks.deactivate = on_deactivate;
	config->hooks.destroy = on_destroy;
}

void *hooks_refused(unsigned thread)
{
	void *object = life.refused_to[thread];

	life.refused_to[thread] = NULL;
	return object;
}

void hooks_check(unsigned objects)
{
	if (!*letters)
		return;
	for (unsigned i = 0; i < objects; i++)
		if (oracle_held(i) != (life.at[i] == USED))
			engine_fail("object %u is%s held, but its hooks show otherwise", i,
				    oracle_held(i) ? "" : " not");
}
