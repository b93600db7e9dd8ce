/* SPDX-License-Identifier: MIT */
/*
 * tree.h - what is at a path, and what is directly below it.  Symbolic links are not followed.
 */
#ifndef EXAMPLE_TREE_H
#define EXAMPLE_TREE_H

#include <stdbool.h>
#include <stddef.h>

enum entry_kind { ENTRY_FILE, ENTRY_DIRECTORY, ENTRY_OTHER, ENTRY_UNREADABLE };

enum entry_kind entry_kind(const char *path);

/* A regular file for reading, or -1. */
int open_file(const char *path);

/*
 * The paths of what is in a directory.  The directory is read and closed at once and the names kept, so that a walk
 * needs one file descriptor per thread however deep the tree is.  A zeroed struct is an empty listing.
 */
struct listing {
	char *names; /* name, zero byte, name, zero byte ...      */
	size_t name_bytes;
	size_t name_room;
	size_t next;       /* where the next name starts                */
	char *path;        /* the directory, a slash, room for a name   */
	size_t path_bytes; /* up to and with the slash                  */
};

/* False if the directory cannot be read to the end; what was read is in the listing. */
bool listing_read(struct listing *listing_out, const char *path);

/* The next path, valid until the next call; NULL after the last. */
const char *listing_next(struct listing *listing);

void listing_free(struct listing *listing);

#endif
