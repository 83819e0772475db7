# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
# Four panels, time over ideal: by round trip and by bandwidth, of a long message and of one of 128 MiB.

unset key
set multiplot layout 2,2 margins 0.065,0.985,0.145,0.90 spacing 0.065,0.12
set logscale xy
set ylabel "mean time / ideal" offset 1,0
set ytics (1, 1.2, 1.5, 2, 2.5, 3)
set yrange [0.95:3]
set label 1 "Longer or faster: drop rate 10^{-5}" at screen 0.5,0.975 center font ",16"

do for [big in "8g 128m"] {
	name = big eq "8g" ? "8 GiB" : "128 MiB"
	set title name." by round trip time, 400 Gbit/s" offset 0,-0.4
	set xlabel "round trip time, ms"
	set xrange [1:200]
	set xtics (1, 2, 5, 10, 25, 50, 100, 200)
	plot dat index "rtt_".big."_sr_rto" with lines ls 1, \
		"" index "rtt_".big."_sr_nack" with lines ls 2, \
		"" index "rtt_".big."_ec_mds" with lines ls 3, \
		"" index "rtt_".big."_sr_rto_sim" with points ls 11, \
		"" index "rtt_".big."_sr_nack_sim" with points ls 12, \
		"" index "rtt_".big."_ec_mds_sim" with points ls 13, \
		1 with lines ls 20
	unset label 1
	set title name." by bandwidth, 25 ms"
	set xlabel "bandwidth, Gbit/s"
	set xrange [25:3200]
	set xtics (25, 50, 100, 200, 400, 800, 1600, 3200)
	plot dat index "bw_".big."_sr_rto" with lines ls 1, "" index "bw_".big."_sr_nack" with lines ls 2, \
		"" index "bw_".big."_ec_mds" with lines ls 3, "" index "bw_".big."_sr_rto_sim" with points ls 11, \
		"" index "bw_".big."_sr_nack_sim" with points ls 12, "" index "bw_".big."_ec_mds_sim" with points ls 13, \
		1 with lines ls 20
}

@legend
plot NaN with lines ls 1 title "SR RTO, model", NaN with lines ls 2 title "SR NACK, model", \
	NaN with lines ls 3 title "EC MDS (32, 8), model", NaN with points ls 11 title "SR RTO, real code", \
	NaN with points ls 12 title "SR NACK, real code", NaN with points ls 13 title "EC MDS (32, 8), real code", \
	NaN with lines ls 20 title "ideal"
unset multiplot
