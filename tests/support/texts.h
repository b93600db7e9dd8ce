/* SPDX-License-Identifier: MIT */
/* texts.h - the library's texts: on stderr, and in dumps. */
#ifndef LFPOOL_TESTS_TEXTS_H
#define LFPOOL_TESTS_TEXTS_H

#include "support.h"

#define TEXT_BYTES 16384

/* The text that `body` writes to stderr. */
static inline void stderr_of(void (*body)(void *argument), void *argument, char text_out[TEXT_BYTES])
{
	FILE *file = tmpfile();
	const int kept = dup(STDERR_FILENO);

	fflush(stderr);
	REQUIRE(file && kept >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
	body(argument);
	fflush(stderr);
	REQUIRE(dup2(kept, STDERR_FILENO) >= 0);
	close(kept);
	rewind(file);
	text_out[fread(text_out, 1, TEXT_BYTES - 1, file)] = '\0';
	fclose(file);
}

static inline void require_in(const char *text, const char *part)
{
	if (!strstr(text, part))
		fprintf(stderr, "not in it: %s\n%s\n", part, text);
	REQUIRE(strstr(text, part));
}

/* ---- Dumps: of a pool, of a set, of a registry ---- */

typedef size_t (*dump_t)(const void *of, lfpool_format_t format, char *text_out, size_t bytes);

static inline size_t pool_dump(const void *pool, lfpool_format_t format, char *text_out, size_t bytes)
{
	return lfpool_dump(pool, format, text_out, bytes);
}

/* The whole dump; the caller frees it. */
static inline char *whole_dump(dump_t dump, const void *of, lfpool_format_t format)
{
	/* In the second dump an age may have one more digit. */
	const size_t length = dump(of, format, NULL, 0), room = length + 100;
	char *text = malloc(room);

	REQUIRE(text && length > 0);
	memset(text, 'x', room);

	const size_t bytes = dump(of, format, text, room);

	REQUIRE(bytes < room && strlen(text) == bytes);
	return text;
}

/* Like snprintf(): for any room, a prefix of the whole, and the whole's length. */
static inline void require_every_beginning(dump_t dump, const void *of, lfpool_format_t format)
{
	char *whole = whole_dump(dump, of, format);
	const size_t bytes = strlen(whole);
	char *part = malloc(bytes + 2);

	REQUIRE(part);
	for (size_t room = 0; room <= bytes + 1; room++) {
		memset(part, 'x', bytes + 2);
		REQUIRE(dump(of, format, part, room) == bytes);
		REQUIRE(!room || (memcmp(part, whole, room - 1) == 0 && part[room - 1] == 0));
		REQUIRE(part[room] == 'x');
	}
	free(part);
	free(whole);
}

/* `part` is in the pool's dump. */
static inline void require_said(const lfpool_t *pool, const char *part)
{
	char *text = whole_dump(pool_dump, pool, LFPOOL_TEXT);

	require_in(text, part);
	free(text);
}

/* Python's reading of RFC 8259: reads line by line, each one JSON value in UTF-8; fails if a line is none. */
#define JSON_READER LFPOOL_PYTHON " -c 'import json, sys; [json.loads(line.decode()) for line in sys.stdin.buffer]'"

static inline void read_json(FILE *reader, const char *text)
{
	REQUIRE(!strchr(text, '\n') && fprintf(reader, "%s\n", text) > 0);
}

#endif
