# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
# Two rows of four panels: real code over model by drop rate, a column for each size, mean above, percentile below.

set multiplot layout 2,4 margins 0.055,0.99,0.175,0.88 spacing 0.035,0.13
set label 1 "The real code over the model, 400 Gbit/s and 25 ms" at screen 0.5,0.968 center font ",16"
set logscale x
set xrange [4e-7:2.5e-2]
set xtics ("10^{-6}" 1e-6, "10^{-5}" 1e-5, "10^{-4}" 1e-4, "10^{-3}" 1e-3, "10^{-2}" 1e-2)
set yrange [0.84:1.16]
set ytics 0.05 format "%.2f"
unset key
clip(y) = y > 1.155 ? 1.155 : y < 0.845 ? 0.845 : y
do for [what in "mean p999"] {
	band = what eq "mean" ? 0.05 : 0.10
	do for [i = 1:4] {
		size = word("1 16 128 1024", i)
		set title (i < 4 ? size." MiB" : "1 GiB").", ".(what eq "mean" ? "mean" : "99.9th percentile") offset 0,-0.5
		if (i == 1) { set ylabel "real code / model" offset 1.5,0 } else { unset ylabel }
		if (what eq "p999") { set xlabel "drop rate of a packet" } else { unset xlabel }
		set object 1 rectangle from graph 0, first 1 - band to graph 1, first 1 + band fc rgb "#dbe5ee" fs solid noborder behind
		b = what."_".size."_"
		if (strstrt(few, what."_".size.",")) { set label 2 "too few transfers" at graph 0.5,0.75 center tc rgb "#666666" } else { unset label 2 }
		plot dat index b."sr_rto" using ($1 / 1.12):(clip($2)) with linespoints ls 1 lw 1.2 ps 1, \
			"" index b."sr_nack" using ($1 / 1.04):(clip($2)) with linespoints ls 2 lw 1.2 ps 1, \
			"" index b."ec_mds" using ($1 * 1.04):(clip($2)) with linespoints ls 3 lw 1.2 ps 1.1, \
			"" index b."hybrid" using ($1 * 1.12):(clip($2)) with linespoints ls 5 lw 1.2 ps 1.1, \
			1 with lines ls 20
		unset label 1
	}
}

@legend
plot NaN with linespoints ls 1 lw 1.2 ps 1 title "SR RTO", NaN with linespoints ls 2 lw 1.2 ps 1 title "SR NACK", \
	NaN with linespoints ls 3 lw 1.2 ps 1.1 title "EC MDS (32, 8)", \
	NaN with linespoints ls 5 lw 1.2 ps 1.1 title "hybrid", NaN with lines ls 20 title "equal", \
	NaN with boxes lc rgb "#dbe5ee" title "within 5 % (mean), 10 % (percentile)"
unset multiplot
