# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
# Two panels, speed-up: by number of datacenters, by buffer; a line for each drop rate.

set multiplot layout 1,2 margins 0.06,0.985,0.24,0.86 spacing 0.065,0
set label 1 "Ring allreduce: EC MDS (32, 8) against SR RTO, 99.9th percentile, 400 Gbit/s and 25 ms" at screen 0.5,0.962 center font ",16"
set yrange [0:ymax]
set ytics 1
set style line 31 lc rgb c_xor  lw 2.2 pt 12 ps 1 dt (3,3)
set style line 32 lc rgb c_mds  lw 2.2 pt 8 ps 1 dt (7,4)
set style line 33 lc rgb c_nack lw 2.2 pt 4 ps 1 dt (12,4,3,4)
set style line 34 lc rgb c_rto  lw 2.2 pt 6 ps 1
drop(i) = word("1e-5 1e-4 1e-3 1e-2", i + 1)
set logscale x 2
set ylabel "time of SR / time of EC" offset 1,0

set title "(a) buffer of 128 MiB" offset 0,-0.4
set xlabel "datacenters"
set xrange [1.8:18]
set xtics (2, 3, 4, 6, 8, 12, 16)
unset key
plot for [i = 0:3] dat index sprintf("n_%d", i) with lines ls 31 + i, \
	for [i = 0:3] "" index sprintf("n_%d_sim", i) with points ls 31 + i, \
	1 with lines ls 20
unset label 1
set title "(b) 4 datacenters"
set xlabel "buffer, MiB"
set xrange [3.5:1.2 * top]
set xtics (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
plot for [i = 0:3] dat index sprintf("size_%d", i) using ($1 / 2**20):2 with lines ls 31 + i, \
	for [i = 0:3] "" index sprintf("size_%d_sim", i) using ($1 / 2**20):2 with points ls 31 + i, \
	1 with lines ls 20

@legend
plot for [i = 0:3] NaN with lines ls 31 + i title "p = ".drop(i).", model", \
	for [i = 0:3] NaN with points ls 31 + i title "p = ".drop(i).", real code", \
	NaN with lines ls 20 title "as fast"
unset multiplot
