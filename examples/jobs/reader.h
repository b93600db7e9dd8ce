/* SPDX-License-Identifier: MIT */
/*
 * reader.h - what the example counts, for one path at a time.  Knows nothing of jobs, threads or pools.
 */
#ifndef EXAMPLE_READER_H
#define EXAMPLE_READER_H

#include "tree.h"
#include "words.h"

struct counts {
	uint64_t files;
	uint64_t directories;
	uint64_t others;     /* links, pipes, devices, sockets                       */
	uint64_t unreadable; /* what could not be opened, or not read to the end     */
	uint64_t lines;
	uint64_t words;
	uint64_t bytes;
};

void counts_add(struct counts *sum, const struct counts *counts);
bool counts_equal(const struct counts *a, const struct counts *b);

/* What one thread needs to read files. */
struct reader {
	unsigned char *buffer;
	size_t buffer_bytes;
	unsigned char class_of[256]; /* of each byte value, see reader.c             */
	struct words names;          /* how often each name occurs in the files read */
};

void reader_init(struct reader *reader);
void reader_free(struct reader *reader);

/*
 * Counts what is at `path`: a file by its contents, anything else as one of its kind.  Lines and words are those of
 * `LC_ALL=C wc`.  The names, longest runs of ASCII letters, digits and underscores, go to reader->names.
 *
 * below_out   What to visit next: the entries if `path` is a directory, else nothing.  The caller frees it.
 */
struct counts reader_visit(struct reader *reader, const char *path, struct listing *below_out);

#endif
