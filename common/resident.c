/* SPDX-License-Identifier: MIT */
/*
 * resident.c - see resident.h.
 */
#include "resident.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The beginning of a file as text, without a buffer from malloc, whose memory would be measured too. */
static bool read_text(const char *path, char *text, size_t room)
{
	const int file = open(path, O_RDONLY | O_CLOEXEC);
	size_t count = 0;
	ssize_t got = 1;

	if (file < 0)
		return false;
	while (count < room - 1 && (got = read(file, text + count, room - 1 - count)) > 0)
		count += (size_t)got;
	(void)close(file);
	text[count] = '\0';
	return got >= 0 && count > 0;
}

double resident_bytes(void)
{
	char text[2048];
	unsigned long long figure;

	if (read_text("/proc/self/smaps_rollup", text, sizeof(text))) {
		const char *line = strstr(text, "\nRss:");

		if (line && sscanf(line, "\nRss: %llu kB", &figure) == 1)
			return (double)figure * 1024;
	}
	/* Before Linux 4.14: the second figure of statm, in pages. */
	if (read_text("/proc/self/statm", text, sizeof(text)) && sscanf(text, "%*s %llu", &figure) == 1)
		return (double)figure * (double)sysconf(_SC_PAGESIZE);
	fprintf(stderr, "neither /proc/self/smaps_rollup nor /proc/self/statm can be read\n");
	exit(3);
}

double resident_peak_bytes(void)
{
	char text[4096];
	unsigned long long figure;
	const char *line = read_text("/proc/self/status", text, sizeof(text)) ? strstr(text, "\nVmHWM:") : NULL;

	return line && sscanf(line, "\nVmHWM: %llu kB", &figure) == 1 ? (double)figure * 1024 : 0;
}
