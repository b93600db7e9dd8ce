/* SPDX-License-Identifier: MIT */
/*
 * consumer.cpp - a C++11 program on the C library: constructs objects in pooled memory from two threads.  Exit status 0 is success.
 */
#include <lfpool/lfpool.h>

#include <new>
#include <string>
#include <thread>

struct job {
	std::string text;
	int number;
};

static int run(lfpool_t *pool, int salt)
{
	int wrong = 0;

	for (int i = 0; i < 1000; i++) {
		void *memory = lfpool_acquire(pool);

		if (!memory)
			return 1;
		job *j = new (memory) job{std::string(40, static_cast<char>('a' + i % 26)), i * salt};
		wrong += j->number != i * salt || j->text.size() != 40;
		j->~job();
		wrong += lfpool_release(pool, j) != LFPOOL_OK;
	}
	return wrong;
}

int main()
{
	lfpool_config_t config;
	lfpool_t *pool;
	int wrong = 0;

	lfpool_config_init(&config);
	config.object_size = sizeof(job);
	config.object_alignment = alignof(job);
	config.capacity = 2;
	if (lfpool_create(&pool, &config) != LFPOOL_OK)
		return 2;
	std::thread other([&] { wrong = run(pool, 3); });
	int mine = run(pool, 7);
	other.join();
	return mine || wrong || lfpool_active_count(pool) != 0 || lfpool_destroy(pool) != 0;
}
