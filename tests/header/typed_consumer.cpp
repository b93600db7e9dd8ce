// SPDX-License-Identifier: MIT
//
// typed_consumer.cpp - a C++11 program on typed pools: a class in pooled memory, hooks that construct and destroy,
// walks and handles.  Exit status 0 is success, else the line of what failed.
//
#include <lfpool/typed.h>

#include <new>
#include <string>

struct job {
	std::string text = std::string(40, 'j');
	int number = 7;
};

static int alive;

LFPOOL_HOOKS(job, job);

// What is pooled is the constructed object: its string keeps its memory from use to use.
static bool construct(void *, job *place)
{
	new (place) job;
	alive++;
	return true;
}

static void destruct(void *, job *j)
{
	j->~job();
	alive--;
}

static const job_hooks table = {construct, nullptr, nullptr, destruct, nullptr};
LFPOOL_DEFINE_WITH(job, job, table);

static bool add(void *sum, job *j)
{
	*static_cast<int *>(sum) += j->number;
	return true;
}

#define REQUIRE(condition)                     \
	do                                     \
		if (!(condition))              \
			return __LINE__ % 256; \
	while (0)

int main()
{
	lfpool_config_t config;
	job_pool_t pool;
	job *jobs[3];
	int sum = 0;

	lfpool_config_init(&config);
	config.capacity = 3;
	REQUIRE(job_pool_create(&pool, &config) == LFPOOL_OK);
	REQUIRE(job_acquire_bulk(pool, jobs, 3) == 3 && alive == 3);
	REQUIRE(!job_acquire(pool));
	REQUIRE(job_for_each_active(pool, add, &sum) == 3 && sum == 21);
	job_handle_t handle = job_handle_of(pool, jobs[1]);
	jobs[1]->text += "!";
	REQUIRE(job_resolve(pool, handle) == jobs[1] && job_release_self(jobs[1]) == LFPOOL_OK);
	REQUIRE(!job_resolve(pool, handle) && alive == 3);
	REQUIRE(job_acquire(pool) == jobs[1] && jobs[1]->text.size() == 41);
	REQUIRE(job_release_all(pool) == 3);
	REQUIRE(job_pool_destroy(pool) == 0 && alive == 0);
	return 0;
}
