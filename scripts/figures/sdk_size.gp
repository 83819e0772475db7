# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
# Three panels: throughput by size; by workers; cost of posting a receive again by size.

set multiplot layout 1,3 margins 0.055,0.985,0.15,0.86 spacing 0.065,0
set label 1 "SDR without a reliability layer, 16 messages in flight" at screen 0.5,0.962 center font ",16"
set title "(a) by message size" offset 0,-0.4
set xlabel "message size"
set ylabel "throughput, Gbit/s" offset 1,0
set logscale x 2
set logscale y
set xrange [2**11.5:2**24.5]
set xtics ("4 KiB" 2**12, "64 KiB" 2**16, "1 MiB" 2**20, "16 MiB" 2**24)
set yrange [0.1:9000]
plot dat index "paper_size" with lines ls 20 lw 2.2 title "paper, 400 Gbit/s link", \
	"" index "plain_soft" with linespoints ls 2 title "plain writes", \
	"" index "size_soft" with linespoints ls 5 title "SDR", \
	for [i = 1:has_mem] "" index "size_mem" with linespoints ls 6 title "SDR in memory"
unset label 1

set title sprintf("(b) %d MiB by workers", largest)
set xlabel "receive workers"
set xrange [0.4:24]
set xtics ("own" 0.5, "1" 1, "2" 2, "4" 4, "8" 8, "16" 16)
set key bottom right
plot dat index "paper_workers" with points pt 3 ps 1.6 lw 2 lc rgb "#000000" title "paper", \
	"" index "kernel" with linespoints ls 3 title "worker alone", \
	"" index "workers_soft" with linespoints ls 5 ps 1.4 title "SDR", \
	for [i = 1:has_mem] "" index "workers_mem" with linespoints ls 6 ps 1.4 title "SDR in memory"

set key top left
set title "(c) a receive ended and posted again"
set xlabel "message size"
set ylabel "microseconds" offset 1,0
unset logscale y
set xrange [2**11.5:2**24.5]
set xtics ("4 KiB" 2**12, "64 KiB" 2**16, "1 MiB" 2**20, "16 MiB" 2**24)
set yrange [0:cost]
plot dat index "repost_soft" with linespoints ls 5 title "SDR", \
	for [i = 1:has_mem] "" index "repost_mem" with linespoints ls 6 title "SDR in memory"
unset multiplot
