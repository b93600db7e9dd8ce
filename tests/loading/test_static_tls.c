/* SPDX-License-Identifier: MIT */
/*
 * test_static_tls.c - lfpool is loaded when other libraries have used up the static TLS block.
 *
 * Idea         Copies of eater.c, under other names, are loaded until even the one that needs least is refused.  That it is
 *              used up, the libraries with thread-local variables show: they must be refused too.
 */
#include "../../common/test.h"
#include "loading.h"

#include <semaphore.h>
#include <string.h>
#include <unistd.h>

/* How many copies found room. */
static size_t eat(const char *eater)
{
	static unsigned number;
	char folder[] = "/tmp/lfpool-eater-XXXXXX", path[100], command[1000];
	size_t count = 0;
	bool found_room;

	REQUIRE(mkdtemp(folder));
	do {
		snprintf(path, sizeof(path), "%s/%u.so", folder, number++);
		snprintf(command, sizeof(command), "cp '%s' '%s'", eater, path);
		REQUIRE(system(command) == 0);
		found_room = dlopen(path, RTLD_NOW) != NULL;
		count += found_room;
		REQUIRE(unlink(path) == 0 && count < 10000);
	} while (found_room);
	REQUIRE(strstr(dlerror(), "static TLS"));
	REQUIRE(rmdir(folder) == 0);
	return count;
}

static struct loaded with_key;
static lfpool_t *pool;
static sem_t start;

static void *there_before(void *nothing)
{
	(void)nothing;
	while (sem_wait(&start))
		;
	use(with_key.plug_in, pool, 0);
	return NULL;
}

TEST(with_a_key_lfpool_needs_no_static_tls)
{
	const char *const refused[] = {PLUG_IN_STATIC, PLUG_IN_SHARED};
	pthread_t before, later;

	REQUIRE(sem_init(&start, 0, 0) == 0);
	REQUIRE(pthread_create(&before, NULL, there_before, NULL) == 0);

	const size_t large = eat(EATER_256), small = eat(EATER_8);

	printf("    %zu libraries of 256 bytes and %zu of 8 found room\n", large, small);
	for (size_t i = 0; i < 2; i++) {
		assert_null(dlopen(refused[i], RTLD_NOW));
		assert_non_null(strstr(dlerror(), "static TLS"));
	}
	with_key = load(PLUG_IN_KEY, RTLD_LOCAL);
	pool = with_key.plug_in->open();
	assert_non_null(pool);
	use(with_key.plug_in, pool, 0);
	/* One after the other: each finds all objects free. */
	REQUIRE(sem_post(&start) == 0 && pthread_join(before, NULL) == 0);
	REQUIRE(pthread_create(&later, NULL, there_before, NULL) == 0);
	REQUIRE(sem_post(&start) == 0 && pthread_join(later, NULL) == 0);
	assert_int_equal(with_key.plug_in->destroy(pool), 0);
}

RUN_TESTS()
