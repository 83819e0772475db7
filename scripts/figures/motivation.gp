# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
# Three panels, time over ideal: by size, by distance, by drop rate.

set multiplot layout 1,3 margins 0.055,0.985,0.23,0.86 spacing 0.055,0
set logscale y
set yrange [0.92:14]
set ytics (1, 2, 3, 5, 10) format "%g"
set label 1 "What losses cost: mean completion time at 400 Gbit/s" at screen 0.5,0.965 center font ",16"

set title "(a) by message size: drop rate 10^{-5}, 25 ms" offset 0,-0.4
set ylabel "time / ideal" offset 1.2,0
set xlabel "message size"
set logscale x 2
set xrange [2**17:2**38]
set xtics ("128 KiB" 2**17, "1 MiB" 2**20, "16 MiB" 2**24, "256 MiB" 2**28, "4 GiB" 2**32, "64 GiB" 2**36) font ",11"
unset key
plot dat index "a_sr_rto" with lines ls 1, "" index "a_ec_mds" with lines ls 3, \
	"" index "a_sr_rto_sim" with points ls 11, "" index "a_ec_mds_sim" with points ls 13, \
	"" index "a_hybrid_sim" with points ls 15, 1 with lines ls 20
unset label 1
unset ylabel

set title "(b) by distance: 8 GiB, drop rate 10^{-5}"
set xlabel "distance, km"
set logscale x 10
set xrange [50:20000]
set xtics (50, 200, 1000, 3750, 15000) format "%g"
plot dat index "b_sr_rto" with lines ls 1, "" index "b_ec_mds" with lines ls 3, \
	"" index "b_sr_rto_sim" with points ls 11, "" index "b_ec_mds_sim" with points ls 13, \
	"" index "b_hybrid_sim" with points ls 15, 1 with lines ls 20

set title "(c) by drop rate: 128 MiB, 25 ms"
set xlabel "drop rate of a packet"
set xrange [1e-7:0.1]
set xtics ("10^{-7}" 1e-7, "10^{-6}" 1e-6, "10^{-5}" 1e-5, "10^{-4}" 1e-4, "10^{-3}" 1e-3, "10^{-2}" 1e-2, "10^{-1}" 0.1)
plot dat index "c_sr_rto" with lines ls 1, "" index "c_ec_mds" with lines ls 3, \
	"" index "c_sr_rto_sim" with points ls 11, "" index "c_ec_mds_sim" with points ls 13, \
	"" index "c_hybrid_sim" with points ls 15, 1 with lines ls 20

@legend
plot NaN with lines ls 1 title "SR RTO, model", NaN with lines ls 3 title "EC MDS (32, 8), model", \
	NaN with points ls 11 title "SR RTO, real code", NaN with points ls 13 title "EC MDS (32, 8), real code", \
	NaN with points ls 15 title "hybrid, real code", NaN with lines ls 20 title "ideal"
unset multiplot
