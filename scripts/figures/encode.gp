# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
# Two panels of bars: XOR and MDS by threads with the link's rate as a line; MDS by code and implementation.

set multiplot layout 1,2 margins 0.065,0.985,0.13,0.86 spacing 0.075,0
set label 1 "Encoding, measured here" at screen 0.5,0.962 center font ",16"
set ylabel "data encoded, Gbit/s" offset 1,0
set yrange [0:*]
set boxwidth 0.36
set xtics scale 0
set key top left

set title "(a) k = 32, m = 8, 64 KiB blocks, 128 MiB" offset 0,-0.4
set xlabel "threads"
n = words(threads)
set xrange [-0.6:n - 0.4]
set xtics () ; do for [i = 1:n] { set xtics add (word(threads, i) i - 1) }
set yrange [0:580]
plot dat index "xor" using ($1 - 0.19):2 with boxes lc rgb c_xor title "XOR", \
	"" index "mds" using ($1 + 0.19):2 with boxes lc rgb c_mds fs pattern 2 border lc rgb c_mds title "MDS (Reed-Solomon)", \
	"" index "xor" using ($1 - 0.19):($2 + 14):(sprintf("%.0f", $2)) with labels font ",12" notitle, \
	"" index "mds" using ($1 + 0.19):($2 + 14):(sprintf("%.0f", $2)) with labels font ",12" notitle, \
	400 with lines ls 20 title "400 Gbit/s"
unset label 1

set title "(b) MDS by (k, m), one thread"
set xlabel "k data and m parity blocks"
n = words(codes)
set xrange [-0.6:n - 0.4]
set yrange [0:1.35 * best]
set boxwidth 0.25
set xtics () font ",11" ; do for [i = 1:n] { set xtics add (word(codes, i) i - 1) }
set key top right
plot dat index "lib" using ($1 - 0.27):2 with boxes lc rgb "#999999" title "ISA-L's ec_encode_data", \
	"" index "isal" using 1:2 with boxes lc rgb c_nack title "this library, isal", \
	for [i = 1:has_gfni] "" index "gfni" using ($1 + 0.27):2 with boxes lc rgb c_mds fs pattern 2 border lc rgb c_mds \
		title "this library, gfni"
unset multiplot
