#!/bin/sh
# SPDX-License-Identifier: MIT
# check_graph.sh GRAPH WORKERS - runs the example with many and with few records, with tiles that divide the texts and tiles that do
# not, and reads what it says.
set -eu
graph=$1 workers=$2
. "$(dirname "$0")/check.sh"

# run STATUS ARGUMENT...
run() {
	expected=$1
	shift
	status=0
	"$graph" "$@" >"$out/said" 2>&1 || status=$?
	[ $status -eq "$expected" ] || fail "$graph $*: status $status"
}

# says PATTERN
says() {
	grep -Eq "$1" "$out/said" || fail "not said: $1"
}

for capacity in 1 2 7 1000; do
	for tile in 1 7 50 300; do
		[ "$tile" -gt 1 ] || [ "$capacity" -gt 2 ] || continue
		run 0 --workers "$workers" --capacity "$capacity" --tile "$tile" --size 200 --seed "$tile"
		says '^edit distance  ([0-9]+) for 200 letters, .*; one loop: \1,'
		says '^prefix sums    of 20000 numbers, 0 differ'
		says ' at once; 0 records and 0 edges active$'
		says '^both agree, every record came back$'
	done
done
# With records enough every tile is a job.
run 0 --workers "$workers" --capacity 100 --tile 50 --size 200
says ' 16 tiles as jobs, 0 at once'
run 2 --capacity 0
says "graph: 0 is not a number in 1 "
run 2 --nothing
says '^usage: graph '
run 2 something
says '^usage: graph '
echo "graph, $workers workers: as the loops say"
