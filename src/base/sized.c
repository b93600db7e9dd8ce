/* SPDX-License-Identifier: MIT */
/*
 * sized.c - reads and fills structs whose version may differ between the caller and the library, see sized.h.
 */
#include "base/sized.h"

#include <string.h>

bool sized_read(void *out, size_t known, size_t least, const void *given)
{
	const unsigned char *bytes = given;
	size_t size;

	memcpy(&size, given, sizeof(size));
	if (size < least || size > STRUCT_SIZE_MAX)
		return false;
	for (size_t i = known; i < size; i++)
		if (bytes[i])
			return false;
	memset(out, 0, known);
	memcpy(out, given, size < known ? size : known);
	memcpy(out, &known, sizeof(known));
	return true;
}

void sized_write(void *out, size_t bytes, const void *from, size_t known)
{
	memset(out, 0, bytes);
	memcpy(out, from, bytes < known ? bytes : known);
}
