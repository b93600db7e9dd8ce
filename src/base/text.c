/* SPDX-License-Identifier: MIT */
/*
 * text.c - bounded text, see text.h.
 */
#include "base/text.h"

#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>

void text_put(struct text *t, const char *format, ...)
{
	const size_t left = t->wanted < t->room ? t->room - t->wanted : 0;
	/* An acquire must not change errno, and may call this function to write the name of a pool. */
	KEEP_ERRNO();
	va_list arguments;

	va_start(arguments, format);
	const int bytes = vsnprintf(left ? t->out + t->wanted : NULL, left, format, arguments);

	va_end(arguments);
	if (bytes > 0)
		t->wanted += (size_t)bytes;
}

/*
 * The length of the UTF-8 character that begins here; 0: these bytes are not a character.  The range of the second byte
 * excludes overlong forms, surrogates, and numbers beyond U+10FFFF (RFC 3629).
 */
static unsigned utf8_bytes(const unsigned char *at)
{
	const unsigned char first = at[0];
	unsigned char low = 0x80, high = 0xbf;
	unsigned bytes;

	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	bytes = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	if (first == 0xe0)
		low = 0xa0;
	else if (first == 0xed)
		high = 0x9f;
	else if (first == 0xf0)
		low = 0x90;
	else if (first == 0xf4)
		high = 0x8f;
	/* The loop stops at a terminating 0, which is below `low`. */
	for (unsigned i = 1; i < bytes; i++, low = 0x80, high = 0xbf)
		if (at[i] < low || at[i] > high)
			return 0;
	return bytes;
}

void text_put_quoted(struct text *t, const char *string)
{
	const unsigned char *at = (const unsigned char *)string;

	text_put(t, "\"");
	while (*at) {
		const unsigned bytes = utf8_bytes(at);

		if (bytes == 0)
			text_put(t, "\\ufffd");
		else if (*at == '"' || *at == '\\')
			text_put(t, "\\%c", *at);
		else if (*at < 0x20 || *at == 0x7f)
			text_put(t, "\\u%04x", (unsigned)*at);
		else
			text_put(t, "%.*s", (int)bytes, (const char *)at);
		at += bytes ? bytes : 1;
	}
	text_put(t, "\"");
}

void text_put_names(struct text *t, bool json, const struct text_name *names, size_t count)
{
	const char *const quote = json ? "\"" : "", *const comma = json ? "," : " ", *before = json ? "[" : "";

	for (size_t i = 0; i < count; i++)
		if (names[i].set) {
			text_put(t, "%s%s%s%s", before, quote, names[i].name, quote);
			before = comma;
		}
	if (before != comma)
		text_put(t, "%s", json ? "[" : "none");
	text_put(t, "%s", json ? "]" : "");
}
