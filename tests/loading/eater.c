/* SPDX-License-Identifier: MIT */
/*
 * eater.c - a library that uses up the static TLS block: EATEN bytes of it.
 */
extern char *eaten(void);

static _Thread_local __attribute__((tls_model("initial-exec"))) char eaten_here[EATEN];

__attribute__((visibility("default"))) char *eaten(void)
{
	return eaten_here;
}
