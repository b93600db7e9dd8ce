/* SPDX-License-Identifier: MIT */
/* text.h - a text assembled piece by piece; the part that does not fit is cut off. */
#ifndef STRESS_TEXT_H
#define STRESS_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#define TEXT_BYTES 2048

struct text {
	size_t used;
	char characters[TEXT_BYTES];
};

__attribute__((format(printf, 2, 3))) static inline void text_add(struct text *text, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text->characters + text->used, TEXT_BYTES - text->used, format, arguments);
	va_end(arguments);
	if (length > 0)
		text->used += (size_t)length;
	if (text->used >= TEXT_BYTES)
		text->used = TEXT_BYTES - 1;
}

#endif
