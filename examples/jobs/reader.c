/* SPDX-License-Identifier: MIT */
/*
 * reader.c - counts lines, words, bytes and names, see reader.h.
 *
 * Words        As GNU wc counts them in the C locale: a longest run of bytes that are not white space, if at least
 *              one of them is printable.  A run of control or non-ASCII bytes alone is no word.
 * Names        A name may lie across two reads.  Its beginning is then moved to the front of the buffer and the next
 *              read appends to it; a name that fills the buffer makes the buffer grow.
 */
#include "reader.h"

#include "must.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { CLASS_SPACE = 1, CLASS_PRINTABLE = 2, CLASS_NAME = 4 };

void counts_add(struct counts *sum, const struct counts *counts)
{
	sum->files += counts->files;
	sum->directories += counts->directories;
	sum->others += counts->others;
	sum->unreadable += counts->unreadable;
	sum->lines += counts->lines;
	sum->words += counts->words;
	sum->bytes += counts->bytes;
}

bool counts_equal(const struct counts *a, const struct counts *b)
{
	return a->files == b->files && a->directories == b->directories && a->others == b->others &&
	       a->unreadable == b->unreadable && a->lines == b->lines && a->words == b->words && a->bytes == b->bytes;
}

void reader_init(struct reader *reader)
{
	*reader = (struct reader){.buffer_bytes = 64 << 10};
	reader->buffer = must_grow(NULL, reader->buffer_bytes, 1);
	/* A program that never calls setlocale() is in the C locale. */
	for (int byte = 0; byte < 256; byte++)
		reader->class_of[byte] = (unsigned char)((isspace(byte) ? CLASS_SPACE : 0) |
							 (isprint(byte) && byte != ' ' ? CLASS_PRINTABLE : 0) |
							 (isalnum(byte) || byte == '_' ? CLASS_NAME : 0));
}

void reader_free(struct reader *reader)
{
	free(reader->buffer);
	words_free(&reader->names);
}

/* Where in a file the reader is. */
struct position {
	bool in_word;      /* a printable byte since the last white space               */
	size_t name_start; /* in the buffer: the name that ends at the end of the buffer */
};

/* Counts the bytes from `start` to `end` of the buffer. */
static void scan(struct reader *reader, size_t start, size_t end, struct position *position, struct counts *counts)
{
	size_t name_start = position->name_start;
	bool in_word = position->in_word;
	uint64_t lines = 0, words = 0;

	for (size_t i = start; i < end; i++) {
		unsigned char byte = reader->buffer[i];
		unsigned class = reader->class_of[byte];

		lines += byte == '\n';
		if (class & CLASS_PRINTABLE) {
			words += !in_word;
			in_word = true;
		} else if (class & CLASS_SPACE) {
			in_word = false;
		}
		if (!(class & CLASS_NAME)) {
			if (name_start < i)
				words_count(&reader->names, (char *)reader->buffer + name_start, i - name_start);
			name_start = i + 1;
		}
	}
	counts->lines += lines;
	counts->words += words;
	counts->bytes += end - start;
	position->name_start = name_start;
	position->in_word = in_word;
}

/* False: an error before the end of the file. */
static bool read_contents(struct reader *reader, int fd, struct counts *counts)
{
	struct position position = {false, 0};
	size_t kept = 0; /* bytes at the front of the buffer: the beginning of a name */
	ssize_t got;

	for (;;) {
		if (kept == reader->buffer_bytes) {
			reader->buffer = must_grow(reader->buffer, reader->buffer_bytes, 2);
			reader->buffer_bytes *= 2;
		}
		got = read(fd, reader->buffer + kept, reader->buffer_bytes - kept);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;

		size_t end = kept + (size_t)got;

		scan(reader, kept, end, &position, counts);
		kept = end - position.name_start;
		memmove(reader->buffer, reader->buffer + position.name_start, kept);
		position.name_start = 0;
	}
	if (kept > 0)
		words_count(&reader->names, (char *)reader->buffer, kept);
	return got == 0;
}

static void visit_file(struct reader *reader, const char *path, struct counts *counts)
{
	int fd = open_file(path);

	if (fd < 0) {
		counts->unreadable = 1;
		return;
	}
	counts->files = 1;
	if (!read_contents(reader, fd, counts))
		counts->unreadable = 1;
	close(fd);
}

struct counts reader_visit(struct reader *reader, const char *path, struct listing *below_out)
{
	struct counts counts = {0};

	*below_out = (struct listing){0};
	switch (entry_kind(path)) {
	case ENTRY_FILE: visit_file(reader, path, &counts); break;
	case ENTRY_DIRECTORY:
		counts.directories = 1;
		if (!listing_read(below_out, path))
			counts.unreadable = 1;
		break;
	case ENTRY_OTHER: counts.others = 1; break;
	case ENTRY_UNREADABLE: counts.unreadable = 1; break;
	}
	return counts;
}
