/* SPDX-License-Identifier: MIT */
/*
 * test_cache.c - what memcached expects of its cache, of ours: limits, counts, red zones (in a build without NDEBUG),
 * reports.
 *
 * memcached's own tests (check runs them) need the whole of it; these need nothing.
 */
#include "cache.h"

#include "require.h"

#include <lfpool/lfpool.h>

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void counts(void)
{
	cache_t *cache = cache_create("counts", 100, 8);
	void *held[50];

	REQUIRE(cache);
	for (int i = 0; i < 50; i++) {
		REQUIRE((held[i] = i % 2 ? cache_alloc(cache) : do_cache_alloc(cache)));
		REQUIRE((uintptr_t)held[i] % 8 == 0);
		memset(held[i], i, 100);
		REQUIRE(cache_total(cache) == i + 1 && cache_free_total(cache) == 0);
	}
	for (int i = 0; i < 50; i++) {
		for (int byte = 0; byte < 100; byte++)
			REQUIRE(((char *)held[i])[byte] == i);
		/* By the other one: an object may go back either way. */
		i % 2 ? do_cache_free(cache, held[i]) : cache_free(cache, held[i]);
		REQUIRE(cache_total(cache) == 50 && cache_free_total(cache) == i + 1);
	}
	cache_destroy(cache);
}

static void limits(void)
{
	cache_t *cache = cache_create("limits", 16, 8);
	void *held[10];

	cache_set_limit(cache, 5);
	for (int i = 0; i < 5; i++)
		REQUIRE((held[i] = do_cache_alloc(cache)));
	REQUIRE(!do_cache_alloc(cache) && !cache_alloc(cache));
	/* Higher, and none. */
	cache_set_limit(cache, 6);
	REQUIRE((held[5] = cache_alloc(cache)) && !cache_alloc(cache));
	cache_set_limit(cache, 0);
	for (int i = 6; i < 10; i++)
		REQUIRE((held[i] = cache_alloc(cache)));
	/* Lower: what is in use goes when it comes back; the last limit counts. */
	cache_set_limit(cache, 2);
	cache_set_limit(cache, 8);
	for (int i = 0; i < 4; i++) {
		REQUIRE(cache_total(cache) == (i < 2 ? 10 - i : 8));
		do_cache_free(cache, held[i]);
	}
	REQUIRE(cache_total(cache) == 8 && cache_free_total(cache) == 2);
	/* What is free goes at once. */
	cache_set_limit(cache, 7);
	REQUIRE(cache_total(cache) == 7 && cache_free_total(cache) == 1);
	REQUIRE(cache_alloc(cache) && !cache_alloc(cache));
	cache_destroy(cache);
}

static void reports(void)
{
	cache_t *first = cache_create("rbuf", 16, 8), *second = cache_create("rbuf", 16, 8);
	int length = 0;
	char *text = cache_report(NULL, &length);

	REQUIRE(text && (size_t)length == strlen(text) && strstr(text, "rbuf-") && !strcmp(text + length - 5, "END\r\n"));
	char *name = strtok(strstr(text, "rbuf-"), " "), *one = cache_report(name, &length);
	REQUIRE(one && strstr(one, name) && strstr(one, "identity"));
	free(one);
	free(text);
	REQUIRE((text = cache_report("none", &length)) && !strcmp(text, "END\r\n") && length == 5);
	free(text);
	cache_destroy(first);
	cache_destroy(second);
	/* What lfpool refuses is no cache. */
	REQUIRE(!cache_create("empty", (size_t)1 << 30, 8));
}

#ifndef NDEBUG
static void red_zones(void)
{
	cache_t *cache = cache_create("zones", 4, 8);
	char *object = cache_alloc(cache);
	const char before = object[-1], behind = object[4];

	/* It is said with this signal, which ends a program. */
	REQUIRE(signal(SIGABRT, SIG_IGN) != SIG_ERR);
	object[-1] = (char)~before;
	cache_free(cache, object);
	REQUIRE(cache_error == -1 && cache_free_total(cache) == 0);
	object[-1] = before;
	object[4] = (char)~behind;
	do_cache_free(cache, object);
	REQUIRE(cache_error == 1 && cache_free_total(cache) == 0);
	object[4] = behind;
	cache_free(cache, object);
	REQUIRE(cache_free_total(cache) == 1);
	cache_destroy(cache);
}
#endif

int main(void)
{
	counts();
	limits();
	reports();
#ifndef NDEBUG
	red_zones();
#endif
	return 0;
}
