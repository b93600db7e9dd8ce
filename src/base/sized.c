/* SPDX-License-Identifier: MIT */
/*
 * sized.c - reads and fills structs that begin with their own size, see sized.h.
 */
#include "base/sized.h"

#include <string.h>

static size_t size_of(const void *sized)
{
	size_t size;

	memcpy(&size, sized, sizeof(size));
	return size;
}

bool sized_fits(const void *out, size_t least)
{
	return size_of(out) >= least && size_of(out) <= STRUCT_SIZE_MAX;
}

bool sized_read(void *out, size_t known, size_t least, const void *given)
{
	const unsigned char *bytes = given;
	const size_t size = size_of(given);

	if (!sized_fits(given, least))
		return false;
	for (size_t i = known; i < size; i++)
		if (bytes[i])
			return false;
	memset(out, 0, known);
	memcpy(out, given, size < known ? size : known);
	memcpy(out, &known, sizeof(known));
	return true;
}

void sized_write(void *out, const void *from, size_t known)
{
	const size_t size = size_of(out);

	memset(out, 0, size);
	memcpy(out, from, size < known ? size : known);
	memcpy(out, &size, sizeof(size));
}
