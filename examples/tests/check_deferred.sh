#!/bin/sh
# SPDX-License-Identifier: MIT
# check_deferred.sh PROGRAM VERDICT READERS - of `table` and of `epoch_stack`: nothing changes while it is read, and all of it is
# accounted for; without deferral a reader sees it change.  READERS: the option that says how many look.
set -eu
program=$1 verdict=$2 readers=$3
. "$(dirname "$0")/check.sh"

# run NAME ARGUMENT...: what was said into $out/NAME.said.
run() {
	name=$1
	shift
	"$program" --seconds 1 "$@" >"$out/$name.said" || { cat "$out/$name.said"; fail "$*"; }
	grep -qx "$verdict" "$out/$name.said" || fail "$*: no verdict"
}

# told NAME WORDS: the number that stands before these words.
told() {
	sed -nE "s/.*(^|[^0-9])([0-9]+) $2.*/\2/p" "$out/$1.said"
}

run usual
# So few nodes that they are used again and again, and all wait at times.
run few --nodes 32 "$readers" 3
for name in usual few; do
	[ "$(told $name 'retired at once')" -gt 0 ] || fail "$name: nothing was retired"
	[ "$(sed -nE 's/.*[a-z] +([0-9]+) (put|pushed) = .*/\1/p' "$out/$name.said")" -gt 0 ] || fail "$name: nothing was done"
done
[ "$(told few 'retired at once')" -le 32 ] || fail 'more nodes were retired than there are'

# The control: without deferral it is seen, and at once; the seconds are a bound.  (no-tools: or else AddressSanitizer sees it
# first.)
for nodes in 32 1000; do
	status=0
	LFPOOL_DEBUG=no-tools "$program" --seconds 60 --nodes "$nodes" --no-deferral >"$out/control.said" 2>&1 || status=$?
	[ "$status" = 1 ] || { cat "$out/control.said"; fail "without deferral: exit status $status, expected 1"; }
	grep -q '^FAILED: a node changed while it was ' "$out/control.said" ||
		{ cat "$out/control.said"; fail 'without deferral: no reader saw a node change'; }
done

refused 2 "$program" --seconds 0
refused 2 "$program" "$readers" 65
refused 2 "$program" --nodes 7
refused 2 "$program" --deferral
refused 2 "$program" something
cat "$out/usual.said"
