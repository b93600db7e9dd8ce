/* SPDX-License-Identifier: MIT */
/*
 * dpdk.c - DPDK's rte_mempool: an array of pointers per lcore as a cache, in front of a ring or a lock-free stack.
 * No checks.
 *
 * Documented   rte_mempool.h and the Programmer's Guide, "Mempool Library". The default driver is "ring_mp_mc"; the
 *              other one for any number of threads is "lf_stack". The cache makes the pool fast: 256 objects, as in
 *              DPDK's own examples.  A cache belongs to an lcore: threads that EAL did not start call
 *              rte_thread_register() first.  A cache grows up to one and a half times its size, and stays with its
 *              lcore.  So the pool has extra objects for all caches: otherwise an acquire could fail while objects are
 *              in other caches.  Objects are aligned to a line; each has a line before it for the pool's data, and
 *              often one after it: 16 bytes take 192.
 * EAL          EAL starts when a pool is first opened, because it changes the process: a thread for interrupts, the
 *              affinity of the calling thread, open files.  One lcore, no huge pages, no devices.  Its memory holds
 *              the caches, the ring or the stack; the objects are in our memory, like other subjects' objects.
 * Progress     "Note: the mempool implementation is not preemptible": with more threads than CPUs, threads wait in
 *              the ring for a thread that does not run.  The lock-free stack does not wait.
 */
#include "../subject.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mempool.h>
#include <rte_version.h>

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>

#define CACHE 256
#define CACHE_MOST (CACHE * 3 / 2)
/* Of virtual memory, for 16 million objects with either driver; touched on use. */
#define EAL_MEGABYTES "1024"

static inline void *acquire(void *hand)
{
	void *object;

	return rte_mempool_get((struct rte_mempool *)hand, &object) == 0 ? object : NULL;
}

static inline void release(void *hand, void *object)
{
	rte_mempool_put((struct rte_mempool *)hand, object);
}

#define SUBJECT_HAS_BULK

static inline bool acquire_bulk(void *hand, void **objects, size_t count)
{
	return rte_mempool_get_bulk((struct rte_mempool *)hand, objects, (unsigned)count) == 0;
}

static inline void release_bulk(void *hand, void **objects, size_t count)
{
	rte_mempool_put_bulk((struct rte_mempool *)hand, objects, (unsigned)count);
}

#include "../loops.h"

/* Ends the program unless `right`. */
static void must_be(bool right, const char *what)
{
	char why[128];

	if (right)
		return;
	(void)snprintf(why, sizeof(why), "%s: %s", what, rte_strerror(rte_errno));
	give_up("dpdk", why);
}

/* Starts EAL, once; the calling thread becomes lcore 0, on whatever processor it runs. */
static void eal_start(void)
{
	static bool started;
	char lcore[32];
	/* clang-format off */
	char *arguments[] = {"lfpool-bench", "--no-huge",     "--no-shconf", "--no-pci", "--no-telemetry", "--iova-mode=va",
			     "--log-level=error", "-m",	      EAL_MEGABYTES, "--lcores", lcore,		   NULL};
	/* clang-format on */
	cpu_set_t affinity;
	int processor = sched_getcpu();

	if (started)
		return;
	started = true;
	(void)snprintf(lcore, sizeof(lcore), "0@%d", processor < 0 ? 0 : processor);

	bool known = sched_getaffinity(0, sizeof(affinity), &affinity) == 0;

	must_be(rte_eal_init(sizeof(arguments) / sizeof(*arguments) - 1, arguments) >= 0, "rte_eal_init()");
	if (known)
		(void)sched_setaffinity(0, sizeof(affinity), &affinity);
}

static void unmap(struct rte_mempool_memhdr *header, void *nothing)
{
	(void)nothing;
	(void)munmap(header->addr, header->len);
}

/* The objects, each with its header, and a trailer if there is one. */
static void populate(struct rte_mempool *pool)
{
	const size_t page_bytes = 4096; /* without effect: no device needs contiguous memory */
	const size_t each = pool->header_size + pool->elt_size + pool->trailer_size;
	const size_t bytes = (each * pool->size + page_bytes - 1) & ~(page_bytes - 1);
	char *memory = (char *)mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	rte_errno = errno;
	must_be(memory != MAP_FAILED, "memory for the objects");
	must_be(rte_mempool_populate_virt(pool, memory, bytes, page_bytes, unmap, NULL) == (int)pool->size,
		"rte_mempool_populate_virt()");
}

static struct rte_mempool *open_with(const struct plan *plan, const char *driver)
{
	/* Each thread may be replaced by another, and lcore 0 may be idle. */
	const size_t in_caches = (size_t)(2 * plan->threads + 1) * CACHE_MOST;
	const size_t count = (plan->capacity + in_caches + CACHE - 1) / CACHE * CACHE;
	struct rte_mempool *pool;

	eal_start();
	pool = rte_mempool_create_empty("bench", (unsigned)count, (unsigned)plan->object_bytes, CACHE, 0, SOCKET_ID_ANY,
					RTE_MEMPOOL_F_NO_IOVA_CONTIG);
	must_be(pool, "rte_mempool_create_empty()");
	rte_errno = -rte_mempool_set_ops_byname(pool, driver, NULL);
	must_be(rte_errno == 0, driver);
	populate(pool);
	return pool;
}

static void *open_ring(const struct plan *plan)
{
	return open_with(plan, "ring_mp_mc");
}

static void *open_stack(const struct plan *plan)
{
	return open_with(plan, "lf_stack");
}

static void close_pool(void *shared)
{
	rte_mempool_free((struct rte_mempool *)shared);
}

/* The thread that started EAL is already registered, and stays so. */
static void *join(void *shared)
{
	if (rte_lcore_id() == LCORE_ID_ANY)
		must_be(rte_thread_register() == 0, "rte_thread_register()");
	return shared;
}

static void leave(void *hand)
{
	(void)hand;
	if (rte_eal_lcore_role(rte_lcore_id()) == ROLE_NON_EAL)
		rte_thread_unregister();
}

const struct subject subject_dpdk_ring = {
	SUBJECT("dpdk-ring", "lock-free",
		"DPDK: rte_mempool, a cache of 256 for each lcore, before a ring (ring_mp_mc)", rte_version,
		TRAIT_POOL | TRAIT_NOT_PREEMPTIBLE),
	FOR_EACH_THREAD(open_ring, close_pool, join, leave, SUBJECT_LOOPS),
};
const struct subject subject_dpdk_stack = {
	SUBJECT("dpdk-stack", "lock-free",
		"DPDK: rte_mempool, a cache of 256 for each lcore, before a stack (lf_stack)", rte_version, TRAIT_POOL),
	FOR_EACH_THREAD(open_stack, close_pool, join, leave, SUBJECT_LOOPS),
};
