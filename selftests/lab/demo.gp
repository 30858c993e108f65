# SPDX-License-Identifier: GPL-2.0
#
# demo.gp: throughput over time, a panel for each circuit, a line for each
# algorithm.  gnuplot -e "runs='FOLDER'" demo.gp

set terminal svg size 960,1080 enhanced font "sans-serif,14" background "white"
set output runs."/circuit.svg"
set multiplot layout 3,1 title "Goodput at the receiver over time" \
	font ",18"

set style line 1 lc rgb "#d62728" lw 2.5
set style line 2 lc rgb "#1f77b4" lw 1.5
set style line 3 lc rgb "#2ca02c" lw 1.5
set style line 4 lc rgb "#9467bd" lw 1.5
set style line 9 lc rgb "#555555" lw 1 dt 2

set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror
set key outside right top
set ylabel "Gbit/s"
set xlabel "seconds"

file(panel, alg) = sprintf("%s/%s-%s/series", runs, panel, alg)
line(rate) = rate * 1448.0 / 1514

set title "4 Gbit/s, 26 ms, no loss (each tenth of a second)"
set yrange [0:4.4]
set xrange [0:10]
plot line(4) title "line's limit" ls 9, \
	file("wide", "bbr") using 1:($2/1000) with lines ls 4 title "bbr", \
	file("wide", "htcp") using 1:($2/1000) with lines ls 3 title "htcp", \
	file("wide", "cubic") using 1:($2/1000) with lines ls 2 title "cubic", \
	file("wide", "circuit") using 1:($2/1000) with lines ls 1 title "circuit"

set title "4 Gbit/s, 26 ms, one packet lost in 22,000 (means of half a second)"
plot line(4) title "line's limit" ls 9, \
	file("lossy", "bbr") using 1:($2/1000) with lines ls 4 title "bbr", \
	file("lossy", "htcp") using 1:($2/1000) with lines ls 3 title "htcp", \
	file("lossy", "cubic") using 1:($2/1000) with lines ls 2 title "cubic", \
	file("lossy", "circuit") using 1:($2/1000) with lines ls 1 title "circuit"

set title "1 Gbit/s, 50 ms, one packet lost in 22,000 (means of half a second)"
set yrange [0:1.1]
set xrange [0:20]
plot line(1) title "line's limit" ls 9, \
	file("long", "bbr") using 1:($2/1000) with lines ls 4 title "bbr", \
	file("long", "htcp") using 1:($2/1000) with lines ls 3 title "htcp", \
	file("long", "cubic") using 1:($2/1000) with lines ls 2 title "cubic", \
	file("long", "circuit") using 1:($2/1000) with lines ls 1 title "circuit"

unset multiplot
