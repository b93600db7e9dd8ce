# SPDX-License-Identifier: MIT
#
# plot.gnuplot - the drawing; started by the script `plot`, once for each format; it sets four variables of the environment.
#
# Points are medians, bars reach from the least to the greatest repetition.  The y axis is logarithmic and the same in all panels, so
# equal distances are equal ratios.  Colours are those of Okabe and Ito, which colour-blind readers can tell apart; shapes differ as well.

machine = system("printf %s \"$LFPOOL_PLOT_MACHINE\"")
prefix = system("printf %s \"$LFPOOL_PLOT_PREFIX\"")
format = system("printf %s \"$LFPOOL_PLOT_FORMAT\"")
query(program) = system("awk -F, '" . program . "' <\"$LFPOOL_PLOT_CSV\"")

workloads = query("NR > 1 && !seen[$1]++ { print $1 }")
counts = query("NR > 1 && !seen[$2]++ { print $2 }")
fewest = int(query("NR == 2 || NR > 2 && $2 < fewest { fewest = $2 } END { print fewest }"))
most = int(query("NR > 1 && $2 > most { most = $2 } END { print most }"))
measured = query("NR > 1 && !seen[$3]++ { print $3 }")
low = real(query("NR == 2 || NR > 2 && $6 < low { low = $6 } END { print low }"))
greatest = real(query("NR > 1 && $7 > greatest { greatest = $7 } END { print greatest }"))
# One repetition that was disturbed must not squeeze all others together: its bar then ends at the edge, and the subtitle says so.
enough = 3 * real(query("NR > 1 && $5 > median { median = $5 } END { print median }"))
high = greatest < enough ? greatest : enough

# ---- Subjects: the order of the key, and how each looks ----

names = "limit ring lfpool-inlined lfpool-untracked lfpool-library mutex malloc"
array Label[7] = ["unsynchronised list (limit)", "the ring alone", "lfpool, inlined", "lfpool, inlined, untracked", \
	"lfpool, library call", "mutex pool", "malloc"]
set style line 1 lc rgb "#777777" pt 7 ps 1.0 lw 2 dt 2
set style line 2 lc rgb "#777777" pt 6 ps 1.0 lw 2 dt 3
set style line 3 lc rgb "#0072B2" pt 5 ps 1.2 lw 3.5
set style line 4 lc rgb "#56B4E9" pt 4 ps 1.2 lw 2
set style line 5 lc rgb "#009E73" pt 9 ps 1.3 lw 2
set style line 6 lc rgb "#D55E00" pt 11 ps 1.3 lw 2
set style line 7 lc rgb "#E69F00" pt 13 ps 1.4 lw 2

in_key = ""
do for [name in names] {
	if (sum [i = 1:words(measured)] (word(measured, i) eq name)) {
		in_key = in_key . " " . name
	}
}

number(name) = sum [i = 1:words(names)] (word(names, i) eq name ? i : 0)
# Moved a little aside, so that bars do not hide each other.
aside(name) = 2 ** ((number(name) - 4) * 0.06)
subjects_of(workload) = query(sprintf("$1 == \"%s\" && !seen[$3]++ { print $3 }", workload))
rows(workload, name) = sprintf("< awk -F, '$1 == \"%s\" && $3 == \"%s\" { print $2, $5, $6, $7 }' <\"$LFPOOL_PLOT_CSV\"", \
	workload, name)

headline(workload) = workload eq "pairs" ? "pairs: acquire one, release it" : \
	workload eq "handoff" ? "hand-off: from thread to thread, ring included" : \
	"bursts: acquire " . workload[8:*] . ", release them"

# ---- The sheet, in pixels ----

panels = words(workloads)
columns = panels <= 3 ? panels : panels == 4 ? 2 : 3
lines = (panels + columns - 1) / columns
width = columns == 1 ? 800 : 120 + 460 * columns
height = 170 + 380 * lines
x(pixels) = pixels / real(width)
y(pixels) = pixels / real(height)

if (format eq "png") {
	set terminal pngcairo size width, height font "sans,11" background rgb "white"
} else {
	set terminal svg size width, height font "sans,11" background rgb "white"
}
set output prefix . "." . format

set multiplot layout lines, columns margins x(85), 1 - x(25), y(120), 1 - y(105) spacing x(60), y(95)
set label 1 "lfpool beside a mutex pool and malloc, 64-byte objects: lower is better" \
	at screen 0.5, screen 1 - y(22) center font ",16"
set label 2 machine . ". Points: medians. Bars: least to greatest repetition" . (high < greatest ? ", cut off at the edge." : ".") \
	at screen 0.5, screen 1 - y(50) center font ",11" noenhanced
set border 3
set tics nomirror
set logscale x 2
set logscale y 10
set xrange [fewest / 1.5 : most * 1.5]
set yrange [low * 0.8 : high * 1.25]
set xtics ()
do for [count in counts] {
	set xtics add (count int(count))
}
set ytics (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, "1,000" 1000, "2,000" 2000, "5,000" 5000, \
	"10,000" 10000, "100,000" 100000)
set grid ytics lt 1 lw 1 lc rgb "#dddddd"
set xlabel "threads"
unset key
do for [panel = 1:panels] {
	workload = word(workloads, panel)
	set title headline(workload) font ",13"
	set ylabel panel % columns == 1 || columns == 1 ? "CPU time per acquire and release, ns" : ""
	plot for [name in subjects_of(workload)] rows(workload, name) using ($1 * aside(name)):2:3:4 \
			with yerrorbars ls number(name) lw 1 dt 1 pt -1, \
		for [name in subjects_of(workload)] rows(workload, name) using ($1 * aside(name)):2 \
			with linespoints ls number(name)
	unset label
}

# The key: a plot of nothing below the panels.
unset title
unset border
unset tics
unset grid
unset xlabel
unset ylabel
unset logscale
set lmargin at screen 0
set rmargin at screen 1
set bmargin at screen 0
set tmargin at screen y(60)
set xrange [0:1]
set yrange [0:1]
set key at screen 0.5, screen y(32) center center horizontal Left reverse samplen 3 width 1 maxrows 2
plot for [name in in_key] NaN with linespoints ls number(name) title Label[number(name)]
unset multiplot
