# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# check.sh - for the other scripts, which read it with `.`: a folder $out that goes at the end, and what they all ask.
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# fail WORDS...: the verdict, and what the program said last.
fail() {
	for said in said table dump; do
		[ ! -f "$out/$said" ] || cat "$out/$said"
	done
	echo "FAILED: $*"
	exit 1
}

# refused STATUS COMMAND...: that exit status, and a reason on standard error.
refused() {
	expected=$1
	shift
	status=0
	"$@" >/dev/null 2>"$out/reason" || status=$?
	[ "$status" = "$expected" ] || fail "$*: exit status $status, expected $expected"
	[ -s "$out/reason" ] || fail "$*: no reason given"
}
