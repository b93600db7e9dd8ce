/* SPDX-License-Identifier: MIT */
/*
 * options.c - see options.h.
 */
#include "options.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int verify_mutant;

static const char *const pass_names[] = {"give-back", "hold", "never", "fork", "heirs", "control", "meet"};

struct options options_parse(int count, char **arguments, enum pass last)
{
	struct options o = {.pass = PASS_GIVE_BACK, .only = "", .at = -1};
	bool good = count >= 2 && count % 2 == 0;

	while (good && o.pass <= last && strcmp(arguments[1], pass_names[o.pass]) != 0)
		o.pass++;
	for (int i = 2; good && i < count; i += 2) {
		if (strcmp(arguments[i], "--only") == 0)
			o.only = arguments[i + 1];
		else if (strcmp(arguments[i], "--at") == 0)
			o.at = strtol(arguments[i + 1], NULL, 10);
		else if (strcmp(arguments[i], "--mutant") == 0)
			verify_mutant = (int)strtol(arguments[i + 1], NULL, 10);
		else
			good = false;
	}
	if (!good || o.pass > last) {
		fprintf(stderr, "usage: %s give-back|hold|never|fork|heirs|control%s [--only TEXT] [--at N] [--mutant N]\n",
			arguments[0], last == PASS_MEET ? "|meet" : "");
		exit(2);
	}
	o.name = pass_names[o.pass];
	return o;
}

long options_stride(enum pass pass)
{
	if (pass == PASS_GIVE_BACK || pass == PASS_MEET || verify_mutant || getenv("LFPOOL_DEEP"))
		return 1;
	return pass == PASS_FORK || pass == PASS_HEIRS ? 6 : 3;
}
