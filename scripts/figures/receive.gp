# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
# One panel: packets per second by workers, with the rates of links.

set lmargin 9; set rmargin 3; set tmargin 4; set bmargin 4
set title "Receive worker: packets per second, measured here" font ",16"
set xlabel "workers (cores)"
set ylabel "million packets per second" offset 0.5,0
set xrange [0.8:workers + 0.2]
set xtics 1
set yrange [0:ymax]
set key top left
set label 11 "400 Gbit/s" at workers + 0.19, 12.2 right offset 0,0.6 font ",12"
set label 12 "1.6 Tbit/s in packets of 4 KiB" at workers + 0.19, 48.8 right offset 0,0.6 font ",12"
stats dat index "order16" every ::0::0 using 2 nooutput name "a"
plot dat index "order16" with linespoints ls 3 ps 1.2 title "in order, chunks of 16 packets", \
	"" index "order1" with linespoints ls 1 ps 1.2 title "in order, chunks of 1 packet", \
	"" index "shuffled16" with linespoints ls 5 ps 1.2 title "shuffled over 64, chunks of 16 packets", \
	"" index "path" with points lc rgb "#000000" lw 1.6 pt 3 ps 1.6 title "whole path over UDP, packets of 64 bytes", \
	a_min * x with lines lc rgb c_mds lw 1 dt (2,4) title "linear from one worker", \
	12.2 with lines ls 20 title "link, packets of 4 KiB", 48.8 with lines ls 20 notitle
