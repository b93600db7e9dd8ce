#!/bin/sh
# SPDX-License-Identifier: MIT
# check_scheduler.sh PROGRAM NAME - whatever the allocator, the number of workers and of records: every node is visited once, every
# record comes back, and no thread touches one after its release.
set -eu
program=$1 name=$2
. "$(dirname "$0")/../tests/check.sh"

# said PATTERN: what the first group matches, in the only line that matches.
said() {
	sed -nE "s/^$1\$/\\1/p" "$out/said"
}

# run ALLOCATOR WORKERS ARGUMENT...: its status and its last line are as they should be, and jobs + inline = nodes.
run() {
	allocator=$1 workers=$2
	shift 2
	"$program" --small --allocator "$allocator" --workers "$workers" "$@" >"$out/said" 2>"$out/errors" ||
		{ cat "$out/errors"; fail "$allocator $workers $*: exit status"; }
	[ ! -s "$out/errors" ] || { cat "$out/errors"; fail "$allocator $workers $*: said something on stderr"; }
	jobs=$(tail -n 1 "$out/said" |
		sed -nE "s/^$name $allocator $workers workers: ([0-9]+) jobs in [0-9]+\.[0-9]{3} s: [0-9]+ jobs\/s\$/\1/p")
	nodes=$(said 'tree .* rounds of work: ([0-9]+) nodes')
	inline=$(said 'inline +([0-9]+) nodes .*')
	[ "$jobs" ] && [ $((jobs + inline)) = "$nodes" ] ||
		fail "$allocator $workers $*: jobs and nodes done inline are not all nodes"
}

for workers in 1 2 8; do
	for allocator in lfpool mutex malloc; do
		# A tree of 2571 nodes everywhere; records for all of them.
		run $allocator $workers
		[ "$nodes $inline" = '2571 0' ] || fail "$allocator $workers: $nodes nodes, $inline inline"
	done
	for allocator in lfpool mutex; do
		# The root alone has 64 children.  One worker cannot give records back while it wants them; several just might.
		run $allocator $workers --capacity 5
		[ "$inline" -gt 0 ] || [ $workers -gt 1 ] || fail "$allocator $workers: 5 records were enough"
		[ "$(said 'records .*; never more than ([0-9]+) in use at once')" -le 5 ] ||
			fail "$allocator $workers: more than 5 records in use"
		run $allocator $workers --capacity 1
	done
done

# Poison and quarantine: a byte that is written to after the release is found.  A double release is, anyway.
export LFPOOL_DEBUG=check,poison,guard,quarantine=100
run lfpool 2
run lfpool 8 --capacity 50
unset LFPOOL_DEBUG

# Other trees; and each record is used often.
run lfpool 2 --nodes-seed 9 --capacity 100
[ "$nodes" = 4566 ] || fail "seed 9: $nodes nodes"
run malloc 2 --work 10
[ "$nodes" != 2571 ] || fail 'the work makes no difference'

refused 2 "$program" --workers 0
refused 2 "$program" --workers 65
refused 2 "$program" --capacity 0
refused 2 "$program" --allocator new
refused 2 "$program" --work -1
refused 2 "$program" --large
refused 2 "$program" something
echo "$name: 2571 nodes by 1, 2 and 8 workers, with records from lfpool, mutex and malloc, and with 5 and 1 records"
