#!/bin/sh
# SPDX-License-Identifier: MIT
# check_voices.sh VOICES SECONDS - every sound is accounted for, and what is heard is what should be: the same for every
# number of threads while there are voices enough, and hardly another where the quietest were stolen.
set -eu
voices=$1 seconds=$2
. "$(dirname "$0")/check.sh"

# run NAME ARGUMENT...: the sound into $out/NAME.wav, what was said into $out/NAME.said.
run() {
	name=$1
	shift
	"$voices" --seconds "$seconds" "$@" "$out/$name.wav" >"$out/$name.said" || { cat "$out/$name.said"; fail "$*"; }
	grep -qx 'every sound is accounted for' "$out/$name.said" || fail "$*: no verdict"
	# Asked = refused + stolen + ended + stopped + playing; the last row is the sum of the others.
	awk 'NF == 7 && $2 ~ /^[0-9]+$/ {
		if ($2 != $3 + $4 + $5 + $6 + $7) exit bad = 1
		for (i = 2; i <= 7; i++) sum[i] += $1 == "all" ? -$i : $i
		rows++
	}
	END {
		for (i in sum) if (sum[i]) bad = 1
		exit bad || rows != 6
	}' "$out/$name.said" || { cat "$out/$name.said"; fail "$*: the table does not add up"; }
}

# told NAME COLUMN: of the last row of the table.
told() {
	awk -v column="$2" '$1 == "all" { print $column }' "$out/$1.said"
}

run all --voices 1000 --threads 0
frames=$((48000 * seconds))

# The header: PCM, 2 channels of 16 bits, 48000 frames per second; the lengths of the file less 8 bytes, and of the samples.
four() {
	printf ' %d %d %d %d' $(($1 % 256)) $(($1 / 256 % 256)) $(($1 / 65536 % 256)) $(($1 / 16777216))
}
[ "$(wc -c <"$out/all.wav" | tr -d ' ')" = $((44 + 4 * frames)) ] || fail 'length of the file'
header=" 82 73 70 70$(four $((36 + 4 * frames))) 87 65 86 69 102 109 116 32 16 0 0 0 1 0 2 0"
header="$header$(four 48000)$(four 192000) 4 0 16 0 100 97 116 97$(four $((4 * frames))) "
[ "$(od -An -v -t u1 -N 44 "$out/all.wav" | tr -s ' \n' ' ')" = "$header" ] || fail 'header of the file'

# samples NAME: left and right in turn, one in a line; lowest byte first, whatever this machine's order.
samples() {
	od -An -v -t u1 -j 44 "$out/$1.wav" | awk '{
		for (i = 1; i < NF; i += 2) {
			value = $i + 256 * $(i + 1)
			print value < 32768 ? value : value - 65536
		}
	}' >"$out/$1.samples"
}

# Loud enough, not cut off at the top, not the same in both ears, and no second silent.
samples all
awk -v second=96000 '
	{ size = $1 < 0 ? -$1 : $1 }
	size > peak { peak = size }
	size >= 32767 { clipped++ }
	NR % 2 { left = $1 }
	NR % 2 == 0 && left != $1 { unequal++ }
	{ power += size * size }
	NR % second == 0 {
		if (sqrt(power / second) < 300) quiet++
		power = 0
	}
	END {
		printf "peak %d, %d clipped, %d of %d frames unequal, %d seconds quiet\n", peak, clipped, unequal, NR / 2, quiet
		exit peak < 8000 || clipped > NR / 1000 || unequal < NR / 4 || quiet > 0
	}' "$out/all.samples" || fail 'sound'

# Voices enough: no sound is lost, and the threads make no difference.
[ "$(told all 3) $(told all 4)" = '0 0' ] || fail '1000 voices were not enough'
for threads in 1 2 4; do
	run $threads --voices 1000 --threads $threads
	cmp "$out/all.wav" "$out/$threads.wav" || fail "$threads threads sound different"
	[ "$(head -n 7 "$out/all.said")" = "$(head -n 7 "$out/$threads.said")" ] || fail "$threads threads: other accounts"
	rm "$out/$threads.wav"
done

# Too few: sounds are stolen; each time the same ones, as long as one thread does all.
run few --voices 24 --threads 0
run again --voices 24 --threads 0
cmp "$out/few.wav" "$out/again.wav" || fail 'the same seed sounds different'
cmp "$out/few.said" "$out/again.said" || fail 'the same seed has other accounts'
[ "$(told few 4)" -gt 0 ] || fail '24 voices were enough'
grep -q 'peak 24 of 24; ' "$out/few.said" || fail '24 voices were not all used'
cmp -s "$out/all.wav" "$out/few.wav" && fail 'the number of voices makes no difference'
# The quietest were: what is missing is not loud.  (Loud sounds lost differ by more than 10000.)
run few_2 --voices 24 --threads 2
for name in few few_2; do
	samples $name
	paste "$out/all.samples" "$out/$name.samples" | awk '
		{ difference = $1 < $2 ? $2 - $1 : $1 - $2 }
		difference > most { most = difference }
		END { printf "what was stolen: at most %d of 32767\n", most; exit most > 2000 }' || fail 'loud sounds were stolen'
done

run other --voices 24 --threads 0 --seed 2
cmp -s "$out/few.wav" "$out/other.wav" && fail 'the seed makes no difference'
for threads in 1 2 4; do
	run scarce_$threads --voices 8 --threads $threads
	[ "$(told scarce_$threads 4)" -gt 0 ] || fail "$threads threads stole nothing"
	[ "$(told scarce_$threads 3)" -gt 0 ] || fail "$threads threads: 8 voices are all that is asked for"
done
run one --voices 1 --threads 2

refused 1 "$voices" --seconds 1 "$out/there is no such directory/file.wav"
if [ -c /dev/full ]; then
	refused 1 "$voices" --seconds 1 /dev/full
fi
refused 2 "$voices" --seconds 0
refused 2 "$voices" --voices 0
refused 2 "$voices" --threads 17
refused 2 "$voices" --seed many
refused 2 "$voices" --loud
refused 2 "$voices" one.wav two.wav
"$voices" --seconds 1 >"$out/nothing.said" || fail 'without a file'
cat "$out/scarce_2.said"
