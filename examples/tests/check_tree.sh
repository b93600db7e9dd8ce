#!/bin/sh
# SPDX-License-Identifier: MIT
# check_tree.sh JOBS TREE WORKERS CAPACITY [names] - runs the example on a tree and compares what it says with find, wc and grep.
# With `names`, the whole list of names is compared too, not only how often what occurs in all.
set -eu
LC_ALL=C
export LC_ALL
jobs=$1 tree=$2 workers=$3 capacity=$4 names=${5:-}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failures=0

fail() {
	echo "FAILED: $*"
	failures=$((failures + 1))
}

# expect WHAT EXPECTED ACTUAL
expect() {
	[ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

# How many entries of the tree fulfil the conditions given.
entries() {
	find "$tree" "$@" -print0 | tr -cd '\0' | wc -c | tr -d ' '
}

# Every file that can be read, through the command given.
files_through() {
	find "$tree" -type f -readable -print0 | xargs -0 "$@"
}

# ---- What to expect

files=$(entries -type f -readable)
directories=$(entries -type d)
others=$(entries ! -type f ! -type d)
unreadable=$(entries -type f ! -readable)
all=$(entries)
lines=$(files_through cat -- | wc -l | tr -d ' ')
bytes=$(files_through cat -- | wc -c | tr -d ' ')
# Implementations of wc disagree about words without any printable byte.  They agree once unprintable bytes are gone.
# grep ends each file with a newline, so that no word spans two files.
words=$(files_through grep -ha '' | tr -d '\000-\010\016-\037\177-\377' | wc -w | tr -d ' ')
# Where wc has the rule of GNU wc, which the example has too, it is asked as well, without that detour.
if [ "$(printf '\001' | wc -w | tr -d ' ')" = 0 ]; then
	expect 'words: wc on the files and wc on their printable bytes' "$words" \
		"$(find "$tree" -type f -readable -print0 | wc -w --files0-from=- | tail -n 1 | sed 's/^ *//; s/ .*//')"
fi

# ---- What the example says

# Fewer files may be open than the small tree is deep.
ulimit -n 200
status=0
"$jobs" --workers "$workers" --capacity "$capacity" --top "$([ "$names" = names ] && echo 1000000 || echo 0)" "$tree" >"$out/said" 2>"$out/errors" || status=$?
expect 'exit status' 0 $status
expect 'standard error' '' "$(cat "$out/errors")"

# count WHAT EXPECTED LINE...: how often the lines occur in the output.
count() {
	what=$1 times=$2
	shift 2
	expect "$what: lines" "$times" "$(grep -c "$@" "$out/said" || true)"
}

# Alone, and on three backends.
count 'entries counted' 4 -Fx -e \
	"  counted      $files files, $directories directories, $others others, $unreadable unreadable"
count 'totals' 4 -e "^               $lines lines, $words words, $bytes bytes, [0-9]* different names\$"
count 'jobs submitted' 3 -e " [0-9]* of $all jobs released by another worker"
for backend in lockfree mutex malloc; do
	count "$backend" 1 -e "^$backend  *$workers workers, .*: totals agree\$"
done
count 'whole pools' 6 -Fx -e "               at the end: 0 active, $capacity available"
count 'destroyed pools' 3 -Fx -e '  destroyed    0 objects not released'
count 'verdict' 1 -Fx -e 'all totals agree, no object was lost'

# Each result is either posted or added at once.
sed -n -e 's/^ .* of \([0-9]*\) results released by .*/\1/p' -e 's/^ .* added at once by their worker: \([0-9]*\) .*/\1/p' \
	"$out/said" >"$out/results"
expect 'results in all' "$all $all $all " "$(paste - - <"$out/results" | awk '{ printf "%d ", $1 + $2 }')"
# One worker has no other to release for it.
if [ "$workers" = 1 ]; then
	count 'records of one worker' 6 -e '^ *0 of [0-9]* [a-z]* released by another worker'
fi
# A pool of few records is empty at once in a tree that is wider than it.
if [ "$capacity" -le 8 ] && [ "$workers" = 1 ]; then
	count 'jobs run for want of a record' 3 -e 'by their submitter: [1-9][0-9]* for want of a record'
fi

if [ "$names" = names ]; then
	count 'long paths' 3 -e ' for want of a record, [1-9][0-9]* too long for one$'
	files_through grep -ohaE '[A-Za-z0-9_]+' | sort | uniq -c | sed 's/^ *//' | sort -k 1,1nr -k 2 >"$out/expected"
	sed -n '/^most frequent names$/,$ s/^  *\([0-9][0-9]* [A-Za-z0-9_]*\)$/\1/p' "$out/said" >"$out/names"
	[ -s "$out/expected" ] || fail 'no names to be expected'
	cmp "$out/expected" "$out/names" || fail 'names differ'
	count 'different names' 4 -e " bytes, $(wc -l <"$out/expected" | tr -d ' ') different names\$"
fi

if [ $failures -gt 0 ]; then
	echo "$failures failures; the example said:"
	sed 's/^/| /; 60q' "$out/said"
	sed 's/^/! /' "$out/errors"
	exit 1
fi
echo "$tree, $workers workers, $capacity records: $files files, $lines lines, $words words, $bytes bytes: as find, wc and grep say"
