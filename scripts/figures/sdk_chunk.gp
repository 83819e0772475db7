# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
# Two panels of bars by the packets of a chunk: throughput with packets of 4 KiB, packets a second with 64 bytes.

set multiplot layout 1,2 margins 0.065,0.985,0.15,0.86 spacing 0.075,0
set label 1 "SDR by the size of a chunk" at screen 0.5,0.962 center font ",16"
set xlabel "packets in a chunk"
n = words(chunks)
set xrange [-0.6:n - 0.4]
set xtics () scale 0
do for [i = 1:n] { set xtics add (word(chunks, i) i - 1) }
set logscale y
set boxwidth 0.6

set title "(a) packets of 4 KiB" offset 0,-0.4
set ylabel "throughput, Gbit/s" offset 1,0
set yrange [0.1:9000]
plot dat index "large_soft" with boxes lc rgb c_mds title "measured here", \
	"" index "large_soft" using 1:($2 * 1.4):(sprintf("%.1f", $2)) with labels font ",12" notitle, \
	"" index "p" using 1:(0.14):2 with labels font ",10" textcolor rgb "#ffffff" notitle, \
	for [i = 1:has_mem] "" index "large_mem" with points ls 16 lw 2 ps 1.4 title "in memory", \
	"" index "paper_line" with lines ls 20 lw 2.2 title "paper: 400 Gbit/s, 16 threads"
unset label 1

set title "(b) packets of 64 bytes"
set ylabel "million packets per second" offset 1,0
set yrange [0.02:best * 20]
plot dat index "small_soft" with boxes lc rgb c_mds title "measured here", \
	"" index "small_soft" using 1:($2 * 1.35):(sprintf("%.2f", $2)) with labels font ",12" notitle, \
	for [i = 1:has_mem] "" index "small_mem" with points ls 16 lw 2 ps 1.4 title "in memory", \
	line_mpps with lines ls 20 title "400 Gbit/s in packets of 4 KiB (paper)", \
	"" index "paper_small" with points pt 3 ps 1.8 lw 2 lc rgb "#000000" title "paper: 16 threads"
unset multiplot
