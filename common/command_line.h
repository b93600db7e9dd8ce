/* SPDX-License-Identifier: MIT */
/*
 * command_line.h - a command line as a table: one row per option, with the place for its value.  getopt_long() reads
 * it.
 *
 *     const struct option_row rows[] = { OPTION_NUMBER("threads", &threads, 1, 64), OPTION_TEXT("out", "DIR", &out),
 *                                        OPTION_FLAG("small", &small), OPTIONS_END};
 *     const char *file = command_line("program", rows, "FILE", argc, argv);
 *
 * Wrong usage is reported on stderr and ends the program with status 2; --help prints the usage, status 0.
 */
#ifndef LFPOOL_COMMAND_LINE_H
#define LFPOOL_COMMAND_LINE_H

#include "harness.h"

#include <getopt.h>

#define OPTIONS_MAX 16

struct option_row {
	const char *name;
	const char *value;     /* the value's name in the usage; NULL: a flag */
	unsigned long *number; /* one of number, text and flag is set */
	const char **text;
	bool *flag;
	unsigned long minimum, maximum; /* of the number                           */
};

#define OPTION_NUMBER(name, at, minimum, maximum) {name, "N", at, NULL, NULL, minimum, maximum}
#define OPTION_TEXT(name, value, at) {name, value, NULL, at, NULL, 0, 0}
#define OPTION_FLAG(name, at) {name, NULL, NULL, NULL, at, 0, 0}
#define OPTIONS_END {NULL, NULL, NULL, NULL, NULL, 0, 0}

static inline _Noreturn void command_line_usage(const char *program, const struct option_row *rows, const char *rest,
						FILE *where)
{
	fprintf(where, "usage: %s", program);
	for (; rows->name; rows++)
		fprintf(where, " [--%s%s%s]", rows->name, rows->value ? " " : "", rows->value ? rows->value : "");
	fprintf(where, rest ? " [%s]\n" : "\n", rest);
	exit(where == stdout ? 0 : 2);
}

static inline void command_line_take(const char *program, const struct option_row *row)
{
	size_t count;

	if (row->flag) {
		*row->flag = true;
	} else if (row->text) {
		*row->text = optarg;
	} else if (!parse_numbers(optarg, row->minimum, row->maximum, row->number, 1, &count)) {
		fprintf(stderr, "%s: %s is not a number in %lu .. %lu\n", program, optarg, row->minimum, row->maximum);
		exit(2);
	}
}

/* Reads all options.  `rest` names the only argument that is not an option, which is returned if given; NULL: no such
 * argument is allowed. */
static inline const char *command_line(const char *program, const struct option_row *rows, const char *rest, int argc,
				       char **argv)
{
	struct option known[OPTIONS_MAX + 2] = {{NULL, 0, NULL, 0}};
	int count = 0;

	for (; count < OPTIONS_MAX && rows[count].name; count++)
		known[count] = (struct option){rows[count].name, rows[count].value ? required_argument : no_argument,
					       NULL, count};
	/* A row with that name takes precedence. */
	known[count] = (struct option){"help", no_argument, NULL, OPTIONS_MAX};
	for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
		if (option == OPTIONS_MAX || option == '?')
			command_line_usage(program, rows, rest, option == '?' ? stderr : stdout);
		command_line_take(program, &rows[option]);
	}
	if (argc - optind > (rest != NULL))
		command_line_usage(program, rows, rest, stderr);
	return argv[optind];
}

#endif
