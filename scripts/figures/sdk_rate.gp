# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
# One panel: packets per second by workers, through the SDK, of the worker alone, and the paper's.

set lmargin 9; set rmargin 3; set tmargin 4; set bmargin 4
set title "SDR: packets of 64 bytes per second by receive workers" font ",16"
set xlabel "receive workers (paper: threads of the network card)"
set ylabel "million packets per second" offset 0.5,0
set logscale x 2
set logscale y
set xrange [0.4:180]
set xtics ("own" 0.5, "1" 1, "2" 2, "4" 4, "8" 8, "16" 16, "32" 32, "64" 64, "128" 128)
set yrange [0.05:2000]
set key top left
set label 11 "400 Gbit/s in packets of 4 KiB" at 170, line_mpps right offset 0,-0.7 font ",12"
plot dat index "rate_soft" with linespoints ls 5 ps 1.4 title "SDR, measured here", \
	for [i = 1:has_mem] "" index "rate_mem" with linespoints ls 6 ps 1.4 title "SDR in memory, measured here", \
	"" index "kernel" with linespoints ls 3 ps 1.2 title "receive worker alone, measured here", \
	"" index "paper" with linespoints lc rgb "#000000" lw 1.6 pt 3 ps 1.6 title "paper, Figure 16", \
	"" index "paper_one" with points lc rgb "#000000" lw 1.6 pt 4 ps 1.6 title "paper, chunks of one packet", \
	line_mpps with lines ls 20 notitle
