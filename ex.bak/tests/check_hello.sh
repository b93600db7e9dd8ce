#!/bin/sh
# SPDX-License-Identifier: MIT
# check_hello.sh HELLO - what the first program of the README prints.
set -eu
said=$("$1")
expected='hello from one of 1000 objects, 1 active'
[ "$said" = "$expected" ] || {
	echo "expected: $expected"
	echo "said:     $said"
	exit 1
}
