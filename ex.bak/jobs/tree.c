/* SPDX-License-Identifier: MIT */
/*
 * tree.c - files and directories by path, see tree.h.
 */
#include "tree.h"

#include "must.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum entry_kind entry_kind(const char *path)
{
	struct stat entry;

	if (lstat(path, &entry) != 0)
		return ENTRY_UNREADABLE;
	if (S_ISREG(entry.st_mode))
		return ENTRY_FILE;
	return S_ISDIR(entry.st_mode) ? ENTRY_DIRECTORY : ENTRY_OTHER;
}

int open_file(const char *path)
{
	/* Should the file have become something else since entry_kind(): no link is followed, no pipe waited for. */
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat entry;

	if (fd >= 0 && (fstat(fd, &entry) != 0 || !S_ISREG(entry.st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void keep_name(struct listing *listing, const char *name)
{
	size_t bytes = strlen(name) + 1;

	if (listing->name_room - listing->name_bytes < bytes) {
		listing->name_room = 2 * (listing->name_bytes + bytes);
		listing->names = must_grow(listing->names, listing->name_room, 1);
	}
	memcpy(listing->names + listing->name_bytes, name, bytes);
	listing->name_bytes += bytes;
}

bool listing_read(struct listing *listing_out, const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	*listing_out = (struct listing){0};
	if (!directory) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	/* readdir() says by errno alone whether NULL is the end or an error. */
	while (errno = 0, (entry = readdir(directory)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			keep_name(listing_out, entry->d_name);

	bool complete = errno == 0;

	closedir(directory);
	listing_out->path_bytes = strlen(path);
	listing_out->path = must_grow(NULL, listing_out->path_bytes + 1 + sizeof(entry->d_name), 1);
	memcpy(listing_out->path, path, listing_out->path_bytes);
	if (path[listing_out->path_bytes - 1] != '/')
		listing_out->path[listing_out->path_bytes++] = '/';
	return complete;
}

const char *listing_next(struct listing *listing)
{
	if (listing->next == listing->name_bytes)
		return NULL;

	const char *name = listing->names + listing->next;
	size_t bytes = strlen(name) + 1;

	listing->next += bytes;
	memcpy(listing->path + listing->path_bytes, name, bytes);
	return listing->path;
}

void listing_free(struct listing *listing)
{
	free(listing->names);
	free(listing->path);
	*listing = (struct listing){0};
}
