/* SPDX-License-Identifier: MIT */
/*
 * where.c - where() of stepper.h.
 *
 * Idea         dladdr() knows exported symbols only, and most of the library's functions are static; so the program's
 *              own symbol table is read from its file.  In a shared library dladdr() must do.
 */
#include "stepper.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern const char __executable_start[], etext[];

/* The program's file, mapped once. */
static const char *image(void)
{
	static const char *mapped;
	struct stat status;
	int file;

	if (mapped || (file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)) < 0)
		return mapped;
	if (fstat(file, &status) == 0) {
		void *address = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);

		mapped = address == MAP_FAILED ? NULL : address;
	}
	(void)close(file);
	return mapped;
}

/* The function in `table` that holds file address `address`, or NULL. */
static const Elf64_Sym *symbol_at(const char *file, const Elf64_Shdr *table, uintptr_t address)
{
	const Elf64_Sym *symbols = (const Elf64_Sym *)(const void *)(file + table->sh_offset);

	for (size_t i = 0; i < table->sh_size / sizeof(*symbols); i++)
		if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && address - symbols[i].st_value < symbols[i].st_size)
			return &symbols[i];
	return NULL;
}

static void in_program(char *text, size_t room, uintptr_t place)
{
	const char *file = image();
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)file;
	/* A position-independent program's file addresses count from its start. */
	uintptr_t address = file && head->e_type == ET_DYN ? place - (uintptr_t)__executable_start : place;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(file + (file ? head->e_shoff : 0));
	char path[512] = "";

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		path[0] = '\0';
	for (int i = 0; file && i < head->e_shnum; i++) {
		const Elf64_Sym *s = sections[i].sh_type == SHT_SYMTAB ? symbol_at(file, &sections[i], address) : NULL;

		if (s) {
			(void)snprintf(text, room, "%s+0x%zx (addr2line -fie %s 0x%zx)",
				       file + sections[sections[i].sh_link].sh_offset + s->st_name,
				       (size_t)(address - s->st_value), path, (size_t)address);
			return;
		}
	}
	(void)snprintf(text, room, "addr2line -fie %s 0x%zx", path, (size_t)address);
}

void where(char *text, size_t room, uintptr_t place)
{
	Dl_info info;

	if (place - (uintptr_t)__executable_start < (uintptr_t)etext - (uintptr_t)__executable_start)
		in_program(text, room, place);
	else if (dladdr((void *)place, &info) && info.dli_sname)
		(void)snprintf(text, room, "%s+0x%zx in %s", info.dli_sname, (size_t)(place - (uintptr_t)info.dli_saddr),
			       info.dli_fname);
	else
		(void)snprintf(text, room, "address 0x%zx", (size_t)place);
}
