/* SPDX-License-Identifier: MIT */
/*
 * setup.c - setup() of scene.h.
 */
#include "scene.h"

#include "words.h"

#include "pool/pool.h"

#include "lfpool/handle.h"
#include "lfpool/resize.h"
#include "lfpool/retire.h"
#include "lfpool/wait.h"

#define KIB 1024

static void acquire_some(struct scene *s, lfpool_cache_t *cache, size_t count)
{
	while (count--)
		s->held[s->held_count++] = cache ? lfpool_cache_acquire(cache) : lfpool_acquire(s->pool);
}

static void release_some(struct scene *s, lfpool_cache_t *cache, size_t count)
{
	while (count--) {
		void *object = s->held[--s->held_count];

		if (cache)
			(void)lfpool_cache_release(cache, object);
		else
			(void)lfpool_release(s->pool, object);
	}
}

/* Moves the last `count` held objects elsewhere. */
static void move(struct scene *s, void **to, size_t *to_count, size_t count)
{
	while (count--)
		to[(*to_count)++] = s->held[--s->held_count];
}

static void renew_other(struct scene *s)
{
	lfpool_cache_destroy(s->other);
	s->other = lfpool_cache_create(s->pool);
}

/* Words about objects; false: a different word. */
static bool arrange_objects(struct scene *s, const char *word, size_t count)
{
	if (strcmp(word, "want") == 0) {
		s->wanted = count;
	} else if (strcmp(word, "hand") == 0) {
		move(s, s->given, &s->given_count, count);
	} else if (strcmp(word, "older") == 0) {
		/* So that the entry it is written to changes. */
		s->given[s->given_count++] = s->held[0];
		s->held[0] = s->held[--s->held_count];
	} else if (strcmp(word, "lend") == 0) {
		move(s, s->lent, &s->lent_count, count);
	} else if (strcmp(word, "retire") == 0) {
		while (count--)
			(void)lfpool_retire(s->pool, s->held[--s->held_count]);
	} else if (strcmp(word, "bundle") == 0) {
		s->held_count -= count;
		(void)lfpool_retire_bulk(s->pool, s->held + s->held_count, count);
	} else if (strcmp(word, "handle") == 0) {
		s->handle = lfpool_handle_of(s->pool, s->given_count ? s->given[0] : s->held[0]);
	} else if (strcmp(word, "ask") == 0) {
		(void)lfpool_cache_acquire(s->mine);
	} else {
		return false;
	}
	return true;
}

/* Words about the pool, its caches and its neighbours. */
static bool arrange_pool(struct scene *s, const char *word, size_t count)
{
	if (strcmp(word, "renew") == 0) {
		renew_other(s);
	} else if (strcmp(word, "spread") == 0) {
		for (; count; count--) {
			release_some(s, s->other, 1);
			renew_other(s);
		}
	} else if (strcmp(word, "caches") == 0) {
		while (count--)
			(void)lfpool_cache_create(s->pool);
	} else if (strcmp(word, "leave") == 0) {
		lfpool_cache_destroy(s->mine);
		s->mine = NULL;
	} else if (strcmp(word, "beside") == 0) {
		s->beside = scene_pool();
	} else if (strcmp(word, "made") == 0) {
		s->made = scene_pool();
	} else if (strcmp(word, "active") == 0) {
		(void)lfpool_acquire(s->made);
	} else {
		return false;
	}
	return true;
}

/* Words about the number of objects, and waiters. */
static bool arrange_size(struct scene *s, const char *word, size_t count)
{
	if (strcmp(word, "grow") == 0)
		(void)lfpool_grow(s->pool, count);
	else if (strcmp(word, "shrink") == 0)
		(void)lfpool_shrink(s->pool, count);
	else if (strcmp(word, "limit") == 0)
		(void)lfpool_limit(s->pool, lfpool_capacity(s->pool));
	else if (strcmp(word, "trim") == 0)
		(void)lfpool_trim(s->pool, 0, count * KIB);
	else if (strcmp(word, "async") == 0)
		(void)lfpool_acquire_async(s->pool, keep_object, s, &s->ticket);
	else if (strcmp(word, "crowd") == 0)
		for (; count; count--)
			(void)cell_claim(&s->pool->waiters);
	else if (strcmp(word, "call") == 0)
		caller_begin(s);
	else if (strcmp(word, "end") == 0)
		s->capacity_at_end = lfpool_capacity(s->pool) - count;
	else
		return false;
	return true;
}

static void arrange(struct scene *s, lfpool_cache_t *cache, const struct word *word)
{
	const size_t count = word->number;

	if (strcmp(word->name, "+") == 0)
		acquire_some(s, cache, count);
	else if (strcmp(word->name, "-") == 0)
		release_some(s, cache, count);
	else if (strcmp(word->name, "all") == 0)
		acquire_some(s, cache, lfpool_capacity(s->pool));
	else if (!arrange_objects(s, word->name, count) && !arrange_pool(s, word->name, count) &&
		 !arrange_size(s, word->name, count) && !evictions_arrange(s, word->name, count))
		word_unknown(word);
}

void setup(struct scene *s, const char *text)
{
	lfpool_cache_t *cache = NULL;
	struct word word;

	while ((text = word_read(text, &word))) {
		if (strcmp(word.name, "mine") == 0)
			cache = s->mine;
		else if (strcmp(word.name, "other") == 0)
			cache = s->other;
		else if (strcmp(word.name, "own") == 0)
			cache = NULL;
		else
			arrange(s, cache, &word);
	}
}
