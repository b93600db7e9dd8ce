/* SPDX-License-Identifier: MIT */
/*
 * subjects.c - the list, see subjects.h.  CMakeLists.txt defines BENCH_HAS_... for each peer that is installed.
 */
#include "subjects.h"

/* What is there goes into the one list, what is not into the other. */
#if defined(BENCH_HAS_CK)
#define CK_SUBJECTS(X) X(subject_spin) X(subject_ck_stack) X(subject_ck_ring)
#define CK_MISSING(X)
#else
#define CK_SUBJECTS(X)
#define CK_MISSING(X) X("spin", "libck-dev") X("ck-stack", "libck-dev") X("ck-ring", "libck-dev")
#endif
#if defined(BENCH_HAS_URCU)
#define URCU_SUBJECTS(X) X(subject_urcu_lfstack) X(subject_urcu_wfstack)
#define URCU_MISSING(X)
#else
#define URCU_SUBJECTS(X)
#define URCU_MISSING(X) X("urcu-lfstack", "liburcu-dev") X("urcu-wfstack", "liburcu-dev")
#endif
#if defined(BENCH_HAS_DPDK)
#define DPDK_SUBJECTS(X) X(subject_dpdk_ring) X(subject_dpdk_stack)
#define DPDK_MISSING(X)
#else
#define DPDK_SUBJECTS(X)
#define DPDK_MISSING(X) X("dpdk-ring", "libdpdk-dev") X("dpdk-stack", "libdpdk-dev")
#endif
#if defined(BENCH_HAS_BOOST)
#define BOOST_SUBJECTS(X) X(subject_boost_stack_fixed) X(subject_boost_stack_dynamic) X(subject_boost_pool_mutex)
#define BOOST_MISSING(X)
#else
#define BOOST_SUBJECTS(X)
#define BOOST_MISSING(X) \
	X("boost-stack-fixed", "libboost-dev") X("boost-stack-dynamic", "libboost-dev") X("boost-pool-mutex", "libboost-dev")
#endif
#if defined(BENCH_HAS_MOODYCAMEL)
#define MOODYCAMEL_SUBJECTS(X) X(subject_moodycamel)
#define MOODYCAMEL_MISSING(X)
#else
#define MOODYCAMEL_SUBJECTS(X)
#define MOODYCAMEL_MISSING(X) X("moodycamel", "libconcurrentqueue-dev")
#endif
#if defined(BENCH_HAS_TBB)
#define TBB_SUBJECTS(X) X(subject_tbb_scalable) X(subject_tbb_fixed)
#define TBB_MISSING(X)
#else
#define TBB_SUBJECTS(X)
#define TBB_MISSING(X) X("tbb-scalable", "libtbb-dev") X("tbb-fixed", "libtbb-dev")
#endif
#if defined(BENCH_HAS_TBB_QUEUE)
#define TBB_QUEUE_SUBJECTS(X) X(subject_tbb_queue)
#define TBB_QUEUE_MISSING(X)
#else
#define TBB_QUEUE_SUBJECTS(X)
#define TBB_QUEUE_MISSING(X) X("tbb-queue", "libtbb-dev")
#endif
#if defined(BENCH_HAS_RETIRE_RCU)
#define RCU_SUBJECTS(X)                                                                                                \
	X(subject_retire_rcu) X(subject_retire_rcu_mutex) X(subject_retire_rcu_malloc) X(subject_retire_qsbr)             \
	X(subject_call_rcu_malloc) X(subject_call_rcu_mutex) X(subject_call_rcu_lfpool) X(subject_synchronize_rcu)
#define RCU_MISSING(X)
#else
#define RCU_SUBJECTS(X)
#define RCU_MISSING(X)                                                                                                 \
	X("lfpool-rcu", "liburcu-dev") X("lfpool-rcu-mutex", "liburcu-dev") X("lfpool-rcu-malloc", "liburcu-dev")          \
	X("lfpool-rcu-qsbr", "liburcu-dev") X("call-rcu-malloc", "liburcu-dev") X("call-rcu-mutex", "liburcu-dev")         \
	X("call-rcu-lfpool", "liburcu-dev") X("synchronize-rcu", "liburcu-dev")
#endif
#if defined(BENCH_HAS_RETIRE_CK)
#define EPOCH_SUBJECTS(X) X(subject_retire_epoch) X(subject_ck_epoch_malloc)
#define EPOCH_MISSING(X)
#else
#define EPOCH_SUBJECTS(X)
#define EPOCH_MISSING(X) X("lfpool-epoch", "libck-dev") X("ck-epoch-malloc", "libck-dev")
#endif
#if defined(BENCH_HAS_SNMALLOC)
#define SNMALLOC_SUBJECTS(X) X(subject_snmalloc) X(subject_snmalloc_thread) X(subject_snmalloc_called)
#define SNMALLOC_MISSING(X)
#else
#define SNMALLOC_SUBJECTS(X)
#define SNMALLOC_MISSING(X) \
	X("snmalloc-inlined", "its source, -DLFPOOL_PEER_SNMALLOC=DIR")                                                    \
	X("snmalloc-thread", "its source, -DLFPOOL_PEER_SNMALLOC=DIR") X("snmalloc-called", "its source, -DLFPOOL_PEER_SNMALLOC=DIR")
#endif
#if defined(BENCH_HAS_RPMALLOC)
#define RPMALLOC_SUBJECTS(X) X(subject_rpmalloc) X(subject_rpmalloc_called)
#define RPMALLOC_MISSING(X)
#else
#define RPMALLOC_SUBJECTS(X)
#define RPMALLOC_MISSING(X) X("rpmalloc-inlined", "its source, -DLFPOOL_PEER_RPMALLOC=DIR") X("rpmalloc-called", "its source, -DLFPOOL_PEER_RPMALLOC=DIR")
#endif
#if defined(BENCH_HAS_SHARED)
#define SHARED_SUBJECTS(X) X(subject_shared)
#define SHARED_MISSING(X)
#else
#define SHARED_SUBJECTS(X)
#define SHARED_MISSING(X) X("lfpool-shared", "built in preset release only")
#endif
#if defined(BENCH_HAS_GLIB)
#define GLIB_SUBJECTS(X) X(subject_glib_slice)
#define GLIB_MISSING(X)
#else
#define GLIB_SUBJECTS(X)
#define GLIB_MISSING(X) X("glib-slice", "libglib2.0-dev")
#endif
#if defined(BENCH_HAS_PMR)
#define PMR_SUBJECTS(X) X(subject_pmr)
#define PMR_MISSING(X)
#else
#define PMR_SUBJECTS(X)
#define PMR_MISSING(X) X("pmr", "g++")
#endif

#define OWN_SUBJECTS(X)                                                                                                \
	X(subject_limit) X(subject_ring) X(subject_inlined) X(subject_typed) X(subject_library)      \
	X(subject_thread) SHARED_SUBJECTS(X)                                                                         \
	X(subject_races) X(subject_hooks) X(subject_depot) X(subject_mutex) X(subject_free_list) X(subject_treiber) \
	X(subject_malloc) X(subject_mimalloc) X(subject_jemalloc) X(subject_tcmalloc)
/* Pools that evict: priority/evicting.h. */
#define EVICTING_SUBJECTS(X)                                                                                           \
	X(subject_priority) X(subject_loop_alone) X(subject_heap_unlocked) X(subject_heap_mutex) X(subject_scan_mutex)           \
	TBB_QUEUE_SUBJECTS(X)
/* Those that defer: retire/retiring.h. */
#define RETIRING_SUBJECTS(X) X(subject_released_at_once) RCU_SUBJECTS(X) EPOCH_SUBJECTS(X)

#define ALL_SUBJECTS(X)                                                                                                \
	OWN_SUBJECTS(X) CK_SUBJECTS(X) URCU_SUBJECTS(X) DPDK_SUBJECTS(X) BOOST_SUBJECTS(X) MOODYCAMEL_SUBJECTS(X)         \
	TBB_SUBJECTS(X) GLIB_SUBJECTS(X) PMR_SUBJECTS(X) SNMALLOC_SUBJECTS(X) RPMALLOC_SUBJECTS(X)                      \
	EVICTING_SUBJECTS(X) RETIRING_SUBJECTS(X)
#define ALL_MISSING(X)                                                                                                 \
	CK_MISSING(X) URCU_MISSING(X) DPDK_MISSING(X) BOOST_MISSING(X) MOODYCAMEL_MISSING(X) TBB_MISSING(X)               \
	GLIB_MISSING(X) PMR_MISSING(X) TBB_QUEUE_MISSING(X)                                                              \
	RCU_MISSING(X) EPOCH_MISSING(X) SHARED_MISSING(X) SNMALLOC_MISSING(X) RPMALLOC_MISSING(X)

#define DECLARE(name) extern const struct subject name;
ALL_SUBJECTS(DECLARE)

#define ADDRESS(name) &name,
static const struct subject *const compiled[] = {ALL_SUBJECTS(ADDRESS)};

#define MISSING(name, package) {name, "missing: " package},
/* The last one keeps the array from being empty. */
static const struct missing left_out[] = {ALL_MISSING(MISSING){NULL, NULL}};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
const struct subject *subjects[COUNT(compiled)];
size_t subject_count;
struct missing missing[COUNT(compiled) + COUNT(left_out)];
size_t missing_count;

void subjects_find(void)
{
	for (size_t i = 0; i + 1 < COUNT(left_out); i++)
		missing[missing_count++] = left_out[i];
	for (size_t i = 0; i < COUNT(compiled); i++) {
		const char *why = compiled[i]->absent ? compiled[i]->absent() : NULL;

		if (why)
			missing[missing_count++] = (struct missing){compiled[i]->name, why};
		else
			subjects[subject_count++] = compiled[i];
	}
}

/* ---- What subjects have in common ---- */

void *must(void *pointer)
{
	if (!pointer) {
		fprintf(stderr, "lfpool-bench: out of memory\n");
		exit(3);
	}
	return pointer;
}

void give_up(const char *subject, const char *why)
{
	fprintf(stderr, "lfpool-bench: %s: %s\n", subject, why);
	exit(3);
}

void *join_shared(void *shared)
{
	return shared;
}

void leave_nothing(void *hand)
{
	(void)hand;
}
