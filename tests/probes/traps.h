/* SPDX-License-Identifier: MIT */
/*
 * traps.h - finds this program's own probes by their notes, and catches their hits: a tracer without a tracer.
 *
 * Idea         The notes of the ELF file contain the address of each probe's nop, and the registers of its arguments.
 *              The nop is replaced by an int3, and a handler of SIGTRAP records the hit.  This needs no right to
 *              trace, no debugger, and no kernel with uprobes.  For x86-64.
 * Concurrency  One thread: the interrupted thread later reads the handler's records.
 */
#ifndef PROBES_TRAPS_H
#define PROBES_TRAPS_H

#include "../../common/require.h"

#include <inttypes.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { TRAPS_MAX = 100, HITS_MAX = 100000, TRAP_ARGUMENTS = 4, NOP = 0x90, INT3 = 0xcc };

/* A probe was hit. */
struct hit {
	const char *probe;
	unsigned arguments;
	int64_t argument[TRAP_ARGUMENTS];
};

struct trap {
	char probe[32], arguments[128];
	uintptr_t at;
};

static struct trap traps[TRAPS_MAX];
static size_t trap_count;
/* The hits, in order, since the count was last set to 0. */
static struct hit hits[HITS_MAX];
static size_t hit_count;

/* ---- Arguments: "8@%rax 8@%rcx -8@$1" --------------------------------------------------------------------- */

static int64_t value_of(const char *operand, const gregset_t registers)
{
	static const char *const names[] = {
		[REG_RAX] = "%rax", [REG_RBX] = "%rbx", [REG_RCX] = "%rcx", [REG_RDX] = "%rdx",
		[REG_RSI] = "%rsi", [REG_RDI] = "%rdi", [REG_RBP] = "%rbp", [REG_RSP] = "%rsp",
		[REG_R8] = "%r8",   [REG_R9] = "%r9",   [REG_R10] = "%r10", [REG_R11] = "%r11",
		[REG_R12] = "%r12", [REG_R13] = "%r13", [REG_R14] = "%r14", [REG_R15] = "%r15"};
	const size_t bytes = strcspn(operand, " ");

	if (*operand == '$')
		return strtoll(operand + 1, NULL, 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == bytes && memcmp(operand, names[i], bytes) == 0)
			return registers[i];
	fprintf(stderr, "traps.h: what is %s?\n", operand);
	abort();
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	const ucontext_t *interrupted = context;
	const uintptr_t at = (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP] - 1;
	struct hit *hit = &hits[hit_count++];
	const struct trap *trap = traps;

	(void)number;
	(void)info;
	REQUIRE(hit_count < HITS_MAX);
	while (trap->at != at)
		REQUIRE(++trap < traps + trap_count);
	*hit = (struct hit){.probe = trap->probe};
	for (const char *next = strchr(trap->arguments, '@'); next; next = strchr(next + 1, '@')) {
		REQUIRE(hit->arguments < TRAP_ARGUMENTS);
		hit->argument[hit->arguments++] = value_of(next + 1, interrupted->uc_mcontext.gregs);
	}
	/* Continue behind the int3; it replaces a nop of the same length. */
}

/* ---- Notes ------------------------------------------------------------------------------------------------- */

static void set_trap(uintptr_t at)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = at & -page;
	unsigned char *code = (unsigned char *)at;

	REQUIRE(*code == NOP);
	REQUIRE(mprotect((void *)from, page, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
	*code = INT3;
	REQUIRE(mprotect((void *)from, page, PROT_READ | PROT_EXEC) == 0);
}

/* The notes of a file that was loaded at an offset of `moved`, as printed by readelf. */
static void read_notes(FILE *notes, uintptr_t moved)
{
	bool is_ours = false;
	uintptr_t at = 0;
	char line[512];

	while (fgets(line, sizeof(line), notes)) {
		struct trap *trap = &traps[trap_count];

		REQUIRE(trap_count < TRAPS_MAX);
		if (strstr(line, "Provider: "))
			is_ours = strstr(line, "Provider: lfpool\n");
		(void)sscanf(line, " Name: %31s", trap->probe);
		(void)sscanf(line, " Location: %" SCNxPTR, &at);
		if (sscanf(line, " Arguments: %127[^\n]", trap->arguments) == 1 && is_ours) {
			trap->at = moved + at;
			set_trap(traps[trap_count++].at);
		}
	}
}

static int read_file(struct dl_phdr_info *info, size_t bytes, void *context)
{
	char command[4200];

	(void)bytes;
	(void)context;
	/* This program has an empty name here; the kernel's own object is not a file. */
	if (*info->dlpi_name)
		snprintf(command, sizeof(command), "readelf --notes --wide '%s' 2>&1", info->dlpi_name);
	else
		snprintf(command, sizeof(command), "readelf --notes --wide /proc/%d/exe", (int)getpid());

	FILE *notes = popen(command, "r");

	REQUIRE(notes);
	read_notes(notes, info->dlpi_addr);
	(void)pclose(notes);
	return 0;
}

/* Finds all probes of the provider lfpool and puts a trap on each.  Returns their number; ends the program if a note
 * cannot be read. */
static size_t traps_set(void)
{
	const struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

	REQUIRE(sigaction(SIGTRAP, &action, NULL) == 0);
	dl_iterate_phdr(read_file, NULL);
	return trap_count;
}

#endif
