/* SPDX-License-Identifier: MIT */
/*
 * host.c - host malloc|set LOAD...: runs each load in its own Lua state, with memory from malloc, or from one set for
 *          all states.
 *
 * Prints for each load the milliseconds of processor time, closing the state included, and the load's result.
 */
#include "set_alloc.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int run(lua_State *state, const char *load)
{
	const clock_t start = clock();
	long long result;

	if (!state)
		return fprintf(stderr, "host: no memory for a state\n"), 1;
	luaL_openlibs(state);
	if (luaL_dofile(state, load)) {
		fprintf(stderr, "host: %s\n", lua_tostring(state, -1));
		lua_close(state);
		return 1;
	}
	result = lua_tointeger(state, -1);
	lua_close(state);
	printf("%.1f %lld\n", (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC, result);
	return 0;
}

int main(int argc, char **argv)
{
	lfpool_set_t *set = NULL;
	int failures = 0;

	if (argc < 3 || (strcmp(argv[1], "malloc") && strcmp(argv[1], "set")))
		return fprintf(stderr, "usage: host malloc|set LOAD...\n"), 2;
	if (!strcmp(argv[1], "set") && !(set = set_alloc_open()))
		return fprintf(stderr, "host: no memory for a set\n"), 1;
	for (int i = 2; i < argc; i++)
		failures += run(set ? lua_newstate(set_alloc, set) : luaL_newstate(), argv[i]);
	if (set && lfpool_set_destroy(set))
		return fprintf(stderr, "host: a block was not given back\n"), 1;
	return failures != 0;
}
