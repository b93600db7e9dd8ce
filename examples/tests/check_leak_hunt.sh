#!/bin/sh
# SPDX-License-Identifier: MIT
# check_leak_hunt.sh LEAK_HUNT - each mistake is silent by itself (but a double release, which is always refused), and named
# with the debug modes on.
set -eu
program=$1

# expect WORDS MISTAKE PATTERN: with these debug modes stderr has a line that matches, or is empty if there is no PATTERN.
expect() {
	said=$(LFPOOL_DEBUG=no-tools,$1 "$program" "$2" 2>&1 >/dev/null)
	if [ -n "$3" ] && printf '%s\n' "$said" | grep -Eq "$3"; then
		return
	fi
	[ -n "$3" ] || [ -n "$said" ] || return 0
	echo "$2 with $1 expected: $3"
	echo "said: $said"
	exit 1
}

all=poison,guard,owner,quarantine=64,backtrace=1/1
address='object 0x[0-9a-f]+'
place='thread [0-9]+ \("fleet"\) [0-9.]+ s ago at .*'

for mistake in none leak late_write; do
	expect '' $mistake ''
done
expect $all none ''
expect '' double_release "^lfpool: pool \"ships\", $address: .*a double release; refused\."

expect $all leak '^lfpool: pool "ships" is destroyed while objects are active\.$'
expect $all leak '^ +65 +[0-9.]+ s  "fleet"  at .*(spawn_ship|main)\+0x'
expect owner leak '^ +65 +[0-9.]+ s  "fleet"$'
expect $all late_write "^lfpool: pool \"ships\", $address: an object was written to after its release\.  .*the first at offset 0: 0x0a instead of 0x0b\.  Released by ${place}(explode|main)\+0x"
expect $all double_release "a double release; refused\.  Released by ${place}(explode|main)\+0x"
