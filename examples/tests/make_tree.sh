#!/bin/sh
# SPDX-License-Identifier: MIT
# make_tree.sh DIRECTORY - makes the small tree on which the example is tested, with everything that can go wrong in a tree.
# The same tree each time: what looks random comes from a fixed seed.
set -eu
LC_ALL=C
export LC_ALL
tree=$1
seed=20240607

rm -rf "$tree"
mkdir -p "$tree"
cd "$tree"

# Beginnings, ends and bytes.
: >empty
printf 'no newline at the end x' >unfinished
printf '\n\n\n' >only_newlines
printf 'carriage\r\nreturns\r\nform\fvertical\vtab\ttab\n' >spaces
printf '\001 \002\003 a\004b \377\376 c\377 _ 9 x-y\n\000\000zero\000bytes\000' >binary
awk -v seed=$seed 'BEGIN { srand(seed); for (i = 0; i < 40000; i++) printf "%c", int(rand() * 256) }' >random_bytes
# Few values, so that all short sequences of them occur.
awk -v seed=$seed 'BEGIN { srand(seed); n = split(" |\n|\t|\001|\200|\377|a|B|_|7|-|.", value, "|")
	for (i = 0; i < 60000; i++) printf "%s", value[1 + int(rand() * n)] }' >few_values

# Names across the reads of a reader: of all lengths, and one that is longer than any buffer.
awk 'BEGIN { for (i = 1; i <= 600; i++) { for (j = 0; j < i; j++) printf "%c", 97 + i % 26; printf " " } }' >growing_names
awk 'BEGIN { for (i = 0; i < 300000; i++) printf "n"; printf " n\n" }' >one_long_name
awk 'BEGIN { for (i = 0; i < 20000; i++) print "int main(void) { return " i "; } /* Main MAIN main_" i % 7 " */" }' >much_text

# Names of files, and things that are no files.
mkdir 'with spaces' -- '-dash'
echo 'in a name with spaces' >'with spaces/a file'
echo 'in a name with a newline' >'with spaces/new
line'
echo 'in a name that looks like an option' >./-dash/--capacity
echo 'in a name that is no UTF-8' >"$(printf 'latin1-\351')"
echo 'quotes' >"it's \"quoted\" \\ \$HOME *"
ln -s . loop
ln -s ../.. 'with spaces/up'
ln -s much_text link_to_file
ln -s nowhere dangling
mkfifo pipe
echo 'for nobody' >mode_000
chmod 000 mode_000

# Wide and deep.  The deep part is deeper than the limit on open files that check_tree.sh sets, and its paths are too long for a job
# record.
mkdir wide deep
i=0
while [ $i -lt 1500 ]; do
	echo "file $i" >wide/$i
	i=$((i + 1))
done
cd deep
path=.
i=0
while [ $i -lt 300 ]; do
	path=$path/d
	i=$((i + 1))
done
mkdir -p $path
find . -type d -exec sh -c 'for d; do echo "level ${#d}" >"$d/f"; done' sh {} +
