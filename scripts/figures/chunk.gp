# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
# Two panels: loss of a chunk by its packets; rate of a receive worker by the same.

set multiplot layout 1,2 margins 0.075,0.985,0.16,0.86 spacing 0.08,0
set label 1 "Size of a chunk" at screen 0.5,0.962 center font ",16"
set title "(a) probability that a chunk is lost" offset 0,-0.4
set xlabel "packets of 4 KiB in a chunk"
set ylabel "drop probability of a chunk" offset 0.5,0
set logscale xy
set xrange [0.75:90]
set yrange [1e-8:1]
set format y "10^{%T}"
set xtics (1, 2, 4, 8, 16, 32, 64)
set key bottom right maxrows 3 width -2
array col[5] = [c_own, c_mds, c_xor, c_nack, c_rto]
array typ[5] = [12, 8, 10, 4, 6]
plot for [i = 2:6] dat index sprintf("p_%d", 8 - i) with linespoints lw (8 - i == 5 ? 3 : 1.6) pt typ[7 - i] ps 0.9 lc rgb col[7 - i] \
	title sprintf("packets lost: 1e-%d%s", 8 - i, 8 - i == 5 ? " (paper)" : ""), \
	"" index "p_5" using 1:($2 * 1.9):(sprintf("%.1e", $2)) with labels font ",10" notitle
unset label 1
unset logscale
set title "(b) rate of one receive worker"
set xlabel "packets of 4 KiB in a chunk, order of their arrival" offset 0,-0.9
set ylabel "million packets per second" offset 0.5,0
set format y "%g"
n = words(bars)
set xrange [-0.6:n - 0.4]
set xtics () scale 0
do for [i = 1:n] {
	b = word(bars, i)
	set xtics add (b[1:strstrt(b, "_") - 1]."\n".(strstrt(b, "shuffled") ? "shuffled" : "in order") i - 1)
}
set key top left maxrows 2 width 0
set boxwidth 0.5
set yrange [*:*]
stats dat index "rate" using 2 nooutput name "r"
set yrange [0:r_max * 1.35]
plot dat index "rate" with boxes lc rgb c_mds title "measured here", \
	"" index "rate" using 1:($2 + r_max * 0.05):(sprintf("%.0f", $2)) with labels font ",12" notitle, \
	12.2 with lines ls 20 title "400 Gbit/s in packets of 4 KiB"
unset multiplot
