# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
# Four panels, time over ideal: the drop rate 1e-5 by size, 128 MiB by drop rate in three ways.

set multiplot layout 2,2 margins 0.065,0.985,0.07,0.90 spacing 0.065,0.115
set logscale y
set ylabel "mean time / ideal" offset 1,0
set ytics (1, 2, 3, 5, 10, 20)
set label 1 "Selective repeat and erasure coding at 400 Gbit/s and 25 ms" at screen 0.5,0.975 center font ",16"

set title "(a) drop rate 10^{-5}" offset 0,-0.4
set xlabel "message size"
set logscale x 2
set xrange [2**17:2**38]
set yrange [0.93:9]
set key maxrows 5
set xtics ("128 KiB" 2**17, "1 MiB" 2**20, "16 MiB" 2**24, "256 MiB" 2**28, "4 GiB" 2**32, "64 GiB" 2**36)
plot dat index "a_sr_rto" with lines ls 1 title "SR RTO, model", "" index "a_sr_nack" with lines ls 2 title "SR NACK", \
	"" index "a_ec_mds" with lines ls 3 title "EC MDS (32, 8)", "" index "a_ec_xor" with lines ls 4 title "EC XOR (32, 8)", \
	"" index "a_sr_rto_sim" with points ls 11 title "SR RTO, real code", \
	"" index "a_sr_nack_sim" with points ls 12 title "SR NACK", \
	"" index "a_ec_mds_sim" with points ls 13 title "EC MDS", "" index "a_ec_xor_sim" with points ls 14 title "EC XOR", \
	1 with lines ls 20 title "ideal"
unset label 1

set xlabel "drop rate of a packet"
set logscale x 10
set xrange [1e-7:0.1]
set xtics ("10^{-7}" 1e-7, "10^{-6}" 1e-6, "10^{-5}" 1e-5, "10^{-4}" 1e-4, "10^{-3}" 1e-3, "10^{-2}" 1e-2, "10^{-1}" 0.1)
set title "(b) 128 MiB: the codes"
set yrange [0.9:45]
plot dat index "b_sr_rto" with lines ls 1 title "SR RTO, model", \
	"" index "b_ec_mds" with lines ls 3 title "EC MDS (32, 8)", "" index "b_ec_xor" with lines ls 4 title "EC XOR (32, 8)", \
	"" index "b_sr_rto_sim" with points ls 11 title "SR RTO, real code", \
	"" index "b_ec_mds_sim" with points ls 13 title "EC MDS", "" index "b_ec_xor_sim" with points ls 14 title "EC XOR", \
	1 with lines ls 20 title "ideal"

set title "(c) 128 MiB: timeouts and NACKs, mean and 99.9th percentile"
set ylabel "time / ideal"
set yrange [0.9:110]
plot dat index "c_sr_rto_p999" with lines lc rgb c_rto lw 1.2 title "SR RTO p99.9, model", \
	"" index "c_sr_rto_mean" with lines ls 1 title "SR RTO mean", \
	"" index "c_sr_nack_p999" with lines lc rgb c_nack lw 1.2 dt (10,4) title "SR NACK p99.9", \
	"" index "c_sr_nack_mean" with lines ls 2 title "SR NACK mean", \
	"" index "c_sr_rto_p999_sim" with points ls 11 pt 7 ps 0.7 title "SR RTO p99.9, real code", \
	"" index "c_sr_rto_mean_sim" with points ls 11 title "SR RTO mean", \
	"" index "c_sr_nack_p999_sim" with points ls 12 pt 5 ps 0.65 title "SR NACK p99.9", \
	"" index "c_sr_nack_mean_sim" with points ls 12 title "SR NACK mean", \
	1 with lines ls 20 title "ideal"

set title "(d) 128 MiB: MDS (k, m)"
set ylabel "mean time / ideal"
set yrange [0.9:65]
set key maxrows 6
plot dat index "d_32_2" with lines ls 4 title "(32, 2), model", "" index "d_32_4" with lines ls 6 title "(32, 4)", \
	"" index "d_32_8" with lines ls 3 title "(32, 8)", "" index "d_16_8" with lines ls 2 title "(16, 8)", \
	"" index "d_8_8" with lines lc rgb "#666666" lw 2.2 title "(8, 8)", \
	"" index "d_32_2_sim" with points ls 14 title "(32, 2), real code", "" index "d_32_4_sim" with points ls 16 title "(32, 4)", \
	"" index "d_32_8_sim" with points ls 13 title "(32, 8)", "" index "d_16_8_sim" with points ls 12 title "(16, 8)", \
	"" index "d_8_8_sim" with points lc rgb "#666666" lw 1.6 pt 6 ps 0.9 title "(8, 8)", \
	1 with lines ls 20 title "ideal"
unset multiplot
