#!/bin/sh
# SPDX-License-Identifier: MIT
# check_particles.sh PARTICLES FRAMES - the frames are the same for every number of threads, and no particle is lost.
set -eu
particles=$1 frames=$2
. "$(dirname "$0")/check.sh"

# run NAME ARGUMENT...: frames into $out/NAME, if DRAW is set; what was said into $out/NAME.said.
run() {
	name=$1
	shift
	mkdir "$out/$name"
	"$particles" --frames "$frames" ${DRAW:+--out "$out/$name"} "$@" >"$out/$name.said" ||
		{ cat "$out/$name.said"; fail "$*"; }
	grep -qx 'no particle was lost' "$out/$name.said" || fail "$*: no verdict"
	sed -n 's/^particles *\([0-9].*\)/\1/p' "$out/$name.said" >"$out/$name.accounts"
	[ -s "$out/$name.accounts" ] || fail "$*: no accounts"
}

DRAW=1
run one --threads 1
last=$(printf 'frame_%04d.ppm' $((frames - 1)))
[ "$(ls "$out/one" | wc -l | tr -d ' ')" = "$frames" ] || fail "not $frames frames"
[ "$(head -c 15 "$out/one/$last" | tr '\n' ' ')" = 'P6 800 450 255 ' ] || fail 'no PPM'
[ "$(wc -c <"$out/one/$last" | tr -d ' ')" = $((15 + 800 * 450 * 3)) ] || fail 'size of a frame'
cmp -s "$out/one/frame_0000.ppm" "$out/one/$last" && fail 'nothing moves'

for threads in 2 4; do
	run $threads --threads $threads
	diff -r "$out/one" "$out/$threads" || fail "$threads threads draw something else than 1"
	cmp "$out/one.accounts" "$out/$threads.accounts" || fail "$threads threads count something else than 1"
	rm -rf "${out:?}/$threads"
done
# A longer show, not drawn, with enough for bursts; another seed is another show.
DRAW=
frames=$((2 * frames))
run long --threads 4
run other --threads 4 --seed 2
cmp -s "$out/long.accounts" "$out/other.accounts" && fail 'the seed makes no difference'
# A pool that is too small: fewer particles, and still none lost.
run small --threads 4 --capacity 500
grep -q '; 0 refused' "$out/small.accounts" && fail 'a pool of 500 had room for all'
grep -q 'peak 500 of 500$' "$out/small.accounts" || fail 'a pool of 500 was not used up'

for backend in mutex malloc; do
	LFPOOL_BACKEND=$backend run "$backend" --threads 4
done

refused 1 "$particles" --frames 1 --out "$out/there is no such directory"
refused 2 "$particles" --frames 0
refused 2 "$particles" somewhere
cat "$out/long.said"
