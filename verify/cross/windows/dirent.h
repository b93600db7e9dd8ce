/* SPDX-License-Identifier: MIT */
/* dirent.h - scandir(), and what examples/jobs calls beside it, where there are no links and no fork. */
#ifndef LFPOOL_VERIFY_DIRENT_H
#define LFPOOL_VERIFY_DIRENT_H

#include_next <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#define O_NOFOLLOW 0
/* Bytes as they are in the file. */
#define O_CLOEXEC O_BINARY

static inline int lstat(const char *path, struct stat *entry_out)
{
	return stat(path, entry_out);
}

static inline char *realpath(const char *path, char *none)
{
	char full[_MAX_PATH], *copy;

	(void)none;
	if (!_fullpath(full, path, sizeof(full)) || !(copy = malloc(strlen(full) + 1)))
		return NULL;
	return strcpy(copy, full);
}

/* Unsorted. */
static inline int scandir(const char *path, struct dirent ***entries_out, int (*wanted)(const struct dirent *), const void *order)
{
	DIR *directory = opendir(path);
	struct dirent **entries = NULL, *entry;
	int count = 0;

	(void)order;
	if (!directory)
		return -1;
	while ((entry = readdir(directory))) {
		if (!wanted(entry))
			continue;
		entries = realloc(entries, (size_t)(count + 1) * sizeof(*entries));
		if (!entries || !(entries[count] = malloc(sizeof(*entry))))
			abort();
		*entries[count++] = *entry;
	}
	(void)closedir(directory);
	*entries_out = entries;
	return count;
}

#endif
