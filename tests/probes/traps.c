/* SPDX-License-Identifier: MIT */
/*
 * traps.c - see traps.h.
 *
 * Concurrency  One thread: what the handler writes, the thread that it interrupted reads afterwards.
 */
#include "traps.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#define TRAPS_MAX 100
#define HITS_MAX 100000
#define NOP 0x90
#define INT3 0xcc

struct trap {
	const char *probe, *arguments; /* in the file, which stays mapped */
	uintptr_t at;
};

static struct trap traps[TRAPS_MAX];
static size_t trap_count;
static struct hit hits[HITS_MAX];
static size_t hit_count;

#define REQUIRE(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static _Noreturn void fail(const char *condition, int line)
{
	fprintf(stderr, "traps.c:%d: required: %s\n", line, condition);
	abort();
}

/* ---- Arguments: "8@%rax 8@%rcx -8@$1" --------------------------------------------------------------------- */

static int64_t value_of(const char *operand, const gregset_t registers)
{
	static const struct {
		const char *name;
		int number;
	} known[] = {{"%rax", REG_RAX}, {"%rbx", REG_RBX}, {"%rcx", REG_RCX}, {"%rdx", REG_RDX},
		     {"%rsi", REG_RSI}, {"%rdi", REG_RDI}, {"%rbp", REG_RBP}, {"%rsp", REG_RSP},
		     {"%r8", REG_R8},   {"%r9", REG_R9},   {"%r10", REG_R10}, {"%r11", REG_R11},
		     {"%r12", REG_R12}, {"%r13", REG_R13}, {"%r14", REG_R14}, {"%r15", REG_R15}};
	const size_t bytes = strcspn(operand, " ");

	if (*operand == '$')
		return strtoll(operand + 1, NULL, 0);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strlen(known[i].name) == bytes && memcmp(operand, known[i].name, bytes) == 0)
			return registers[known[i].number];
	fprintf(stderr, "traps.c: what is %s?\n", operand);
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
	/* And on behind the int3, in place of a nop as long as it. */
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

/* The notes of one section, of a file that was loaded `moved` bytes from where it says. */
static void read_notes(const char *notes, size_t bytes, uintptr_t moved)
{
	for (const char *end = notes + bytes; notes < end;) {
		const Elf64_Nhdr *head = (const void *)notes;
		const char *name = notes + sizeof(*head), *body = name + ((head->n_namesz + 3) & ~3U);
		uint64_t at;

		notes = body + ((head->n_descsz + 3) & ~3U);
		if (head->n_type != 3 || strcmp(name, "stapsdt") != 0)
			continue;

		const char *provider = body + 3 * sizeof(at), *probe = provider + strlen(provider) + 1;

		if (strcmp(provider, "lfpool") != 0)
			continue;
		memcpy(&at, body, sizeof(at));
		REQUIRE(trap_count < TRAPS_MAX);
		traps[trap_count] = (struct trap){probe, probe + strlen(probe) + 1, moved + at};
		set_trap(traps[trap_count++].at);
	}
}

static int read_file(struct dl_phdr_info *info, size_t bytes, void *context)
{
	/* This program has no name here, nor has what the kernel brings along a file. */
	const int file = open(*info->dlpi_name ? info->dlpi_name : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat status;

	(void)bytes;
	(void)context;
	if (file < 0)
		return 0;
	REQUIRE(fstat(file, &status) == 0);

	const char *image = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);

	REQUIRE(image != MAP_FAILED);
	close(file);

	const Elf64_Ehdr *head = (const void *)image;
	const Elf64_Shdr *sections = (const void *)(image + head->e_shoff);
	const char *names = image + sections[head->e_shstrndx].sh_offset;

	for (unsigned i = 0; i < head->e_shnum; i++)
		if (strcmp(names + sections[i].sh_name, ".note.stapsdt") == 0)
			read_notes(image + sections[i].sh_offset, sections[i].sh_size, info->dlpi_addr);
	return 0;
}

size_t traps_set(void)
{
	const struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

	REQUIRE(sigaction(SIGTRAP, &action, NULL) == 0);
	dl_iterate_phdr(read_file, NULL);
	return trap_count;
}

const struct hit *traps_hits(size_t *count_out)
{
	*count_out = hit_count;
	return hits;
}

void traps_forget(void)
{
	hit_count = 0;
}
