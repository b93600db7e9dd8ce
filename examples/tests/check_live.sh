#!/bin/sh
# SPDX-License-Identifier: MIT
# check_live.sh PARTICLES - the live view: tables whose objects add up, in a file and in a terminal; a dump on SIGUSR1.
set -eu
particles=$1
. "$(dirname "$0")/check.sh"

# await FILE LINES: until FILE has so many lines that begin with "particles" and a number; for ten seconds at most.
await() {
	for _ in $(seq 1000); do
		[ "$(grep -c '^particles *[0-9]' "$1")" -ge "$2" ] && return
		sleep 0.01
	done
	fail "no $2 rows in $1"
}

# rows_hold FILE ROWS: so many rows at least, each under a head, whose first number is sizeof(struct particle) and whose objects
# add up to the capacity, in all of them the same.
rows_hold() {
	awk -v rows="$2" '
		/^pool +bytes +capacity +active +retired +cached +shared +untouched +unacc. / { heads++; next }
		/^particles +[0-9]/ {
			if (NF != 15 || $2 != 48 || $3 != 5000 || $4 + $5 + $6 + $7 + $8 + $9 != $3) { print "wrong: " $0; wrong++ }
			seen++
		}
		END { exit wrong || seen < rows || heads != seen }' "$1" || fail "the rows of $1"
}

# A program that would go on for long, told to dump, twice.
: >"$out/dump"
"$particles" --frames 100000 --threads 2 --capacity 5000 --top 20 >"$out/table" 2>"$out/dump" &
program=$!
trap 'kill $program 2>/dev/null || :; rm -rf "$out"' EXIT
await "$out/table" 5
for dumps in 1 2; do
	kill -USR1 $program
	for _ in $(seq 1000); do
		[ "$(grep -c '^debug ' "$out/dump")" = $dumps ] && break
		sleep 0.01
	done
	[ "$(grep -c '^debug ' "$out/dump")" = $dumps ] || fail "no dump after signal $dumps"
done
await "$out/table" 10
kill $program
wait $program || :
trap 'rm -rf "$out"' EXIT
# The last table may be cut off by the end of the program.
head -n -3 "$out/table" >"$out/whole"
rows_hold "$out/whole" 9
rows_hold "$out/dump" 2
[ "$(grep -c '^lfpool .*, pool "particles"$' "$out/dump")" = 2 ] || fail 'the dumps'
! grep -q "$(printf '\033')" "$out/table" || fail 'a file is no terminal'

# To the end: the only table is the last one, with what the verdict says, and nothing is signalled but the end.
"$particles" --frames 30 --threads 2 --capacity 5000 --top 3600000 >"$out/table" 2>"$out/dump" || fail 'a whole show'
grep -qx 'no particle was lost' "$out/table" || fail 'no verdict'
[ ! -s "$out/dump" ] || fail 'a dump that was not asked for'
alive=$(sed -n 's/^pool *\([0-9]*\) active + .*/\1/p' "$out/table")
[ "$(awk '/^particles +48 / { print $4 }' "$out/table")" = "$alive" ] || fail 'the last table'
# Since the beginning, which is all of it, something was acquired, and nothing misused.
awk '/^particles +48 / { exit $11 == "0" || $NF != "0" }' "$out/table" || fail 'the rates'

# In a terminal each table takes the place of the one before.
if command -v script >/dev/null; then
	: >"$out/table"
	script -qec "exec $particles --frames 100000 --threads 2 --capacity 5000 --top 1" /dev/null >"$out/table" </dev/null &
	program=$!
	trap 'kill $program 2>/dev/null || :; rm -rf "$out"' EXIT
	await "$out/table" 2
	kill $program
	wait $program || :
	trap 'rm -rf "$out"' EXIT
	tables=$(grep -c '^.*pool  *bytes' "$out/table")
	[ "$tables" -ge 2 ] || fail 'tables in a terminal'
	[ "$(grep -c "^$(printf '\033')\[H$(printf '\033')\[Jpool  *bytes" "$out/table")" = "$tables" ] || fail 'not in the same place'
fi
tail -5 "$out/table"
