#!/bin/sh
# SPDX-License-Identifier: MIT
# check_choice.sh JOBS TREE - LFPOOL_BACKEND chooses the one backend, --repeat repeats it, and nonsense is refused.
set -eu
jobs=$1 tree=$2
. "$(dirname "$0")/check.sh"

for backend in lockfree mutex malloc; do
	said=$(LFPOOL_BACKEND=$backend "$jobs" --repeat 2 --top 0 --workers 2 "$tree")
	ran=$(printf '%s\n' "$said" | sed -n 's/^\([a-z]*\)  *2 workers, .*: totals agree$/\1/p' | tr '\n' ' ')
	[ "$ran" = "$backend $backend " ] || fail "LFPOOL_BACKEND=$backend --repeat 2 ran: $ran"
done
refused 1 env LFPOOL_BACKEND=nonsense "$jobs" "$tree"
refused 1 "$jobs" "$tree/there is no such file"
refused 2 "$jobs" --workers 0 "$tree"
refused 2 "$jobs" --capacity many "$tree"
refused 2 "$jobs" --no-such-option "$tree"
refused 2 "$jobs" "$tree" "$tree"
