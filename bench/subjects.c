/* SPDX-License-Identifier: MIT */
/*
 * subjects.c - the list, see subjects.h.
 */
#include "subjects.h"

/* All subjects, in the order of the tables.  OWN(id) always exists.  peers.cmake compiles the file of a PEER(id, name,
 * package) if the package is installed; otherwise the weak reference to it is NULL. */
/* clang-format off */
#define ALL_SUBJECTS(OWN, PEER)                                                                                        \
	OWN(limit) OWN(ring) OWN(inlined) OWN(typed) OWN(library) OWN(thread) OWN(thread_inlined) OWN(set)             \
	OWN(set_inlined) PEER(shared, "lfpool-shared", "built in preset release only") OWN(races) OWN(hooks)           \
	OWN(depot) OWN(mutex)                                                                                          \
	OWN(free_list) OWN(cached_list) OWN(treiber) OWN(malloc) OWN(mimalloc) OWN(jemalloc) OWN(tcmalloc)             \
	PEER(ck_stack, "ck-stack", "libck-dev")                                                                        \
	PEER(dpdk_ring, "dpdk-ring", "libdpdk-dev") PEER(dpdk_stack, "dpdk-stack", "libdpdk-dev")                      \
	PEER(boost_stack_dynamic, "boost-stack-dynamic", "libboost-dev")                                               \
	PEER(snmalloc, "snmalloc-inlined", "its source, -DLFPOOL_PEER_SNMALLOC=DIR")           \
	PEER(snmalloc_thread, "snmalloc-thread", "its source, -DLFPOOL_PEER_SNMALLOC=DIR")                             \
	PEER(snmalloc_called, "snmalloc-called", "its source, -DLFPOOL_PEER_SNMALLOC=DIR")                             \
	PEER(rpmalloc, "rpmalloc-inlined", "its source, -DLFPOOL_PEER_RPMALLOC=DIR")                                   \
	PEER(rpmalloc_called, "rpmalloc-called", "its source, -DLFPOOL_PEER_RPMALLOC=DIR")                             \
	/* Evicting pools: evicting.h. */                                                                            \
	OWN(evicting) OWN(heap_mutex)                                                                                  \
	/* Subjects that defer: retiring.h. */                                                                   \
	OWN(released_at_once) PEER(retire_rcu, "lfpool-rcu", "liburcu-dev")                                            \
	PEER(call_rcu_malloc, "call-rcu-malloc", "liburcu-dev") PEER(call_rcu_mutex, "call-rcu-mutex", "liburcu-dev")  \
	PEER(call_rcu_lfpool, "call-rcu-lfpool", "liburcu-dev") PEER(retire_epoch, "lfpool-epoch", "libck-dev")        \
	PEER(ck_epoch_malloc, "ck-epoch-malloc", "libck-dev")
/* clang-format on */

#define DECLARE_OWN(id) extern const struct subject subject_##id;
#define DECLARE_PEER(id, name, package) extern const struct subject subject_##id __attribute__((weak));
ALL_SUBJECTS(DECLARE_OWN, DECLARE_PEER)

#define LIST_OWN(id) {&subject_##id, NULL, NULL},
#define LIST_PEER(id, name, package) {&subject_##id, name, "missing: " package},
static const struct {
	const struct subject *subject;
	const char *name, *missing;
} all[] = {ALL_SUBJECTS(LIST_OWN, LIST_PEER)};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
const struct subject *subjects[COUNT(all)];
size_t subject_count;
struct missing missing[COUNT(all)];
size_t missing_count;

void subjects_find(void)
{
	for (size_t i = 0; i < COUNT(all); i++) {
		const struct subject *subject = all[i].subject;
		const char *why = subject && subject->absent ? subject->absent() : NULL;

		if (!subject)
			missing[missing_count++] = (struct missing){all[i].name, all[i].missing};
		else if (why)
			missing[missing_count++] = (struct missing){subject->name, why};
		else
			subjects[subject_count++] = subject;
	}
}
