#!/bin/sh
# SPDX-License-Identifier: MIT
# check_connections.sh CONNECTIONS - clients and server count the same, with few and with many of either.
set -eu
connections=$1
. "$(dirname "$0")/check.sh"

# run ARGUMENT...
run() {
	"$connections" "$@" >"$out/said" || fail "$*"
	grep -qx 'all counts agree, no connection was lost' "$out/said" || fail "$*: no verdict"
}

for clients in 1 4 16; do
	for capacity in 1 2 16; do
		run --clients $clients --capacity $capacity --questions 500
		# 100 questions for each connection: at least so many have been dropped, and a new one made.
		needed=$((clients * 500 / 100 - capacity))
		dropped=$(sed -n 's/.* dropped \([0-9]*\);.*/\1/p' "$out/said")
		[ "$dropped" -ge $needed ] || fail "$clients clients, $capacity connections: only $dropped dropped, not $needed"
	done
done
grep -qx 'server takes 8: 8 connections, then NULL: 8 in use + 8 free' "$out/said" || fail 'the limit of the server'
grep -qx 'server takes more: 16 connections, then NULL: 16 in use + 0 free' "$out/said" || fail 'the limit of the pool'

for wrong in '--clients 0' '--capacity many' '--no-such-option' 'somewhere'; do
	# shellcheck disable=SC2086
	refused 2 "$connections" $wrong
done
cat "$out/said"
