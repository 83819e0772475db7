# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
# Four panels of tiles, size against drop rate: model left, real code right, mean above, 99.9th percentile below.
# Before: palette, cbrange, colour box and titles; dark(z) is true where a number has to be white.

unset grid
unset key
set border 0
set xrange [x_lo:x_hi]
set yrange [y_lo:y_hi]
set tics scale 0 offset 0,0
set xtics ("10^{-6}" -6, "10^{-5}" -5, "10^{-4}" -4, "10^{-3}" -3, "10^{-2}" -2)
set ytics ("128 KiB" 17, "512 KiB" 19, "2 MiB" 21, "8 MiB" 23, "32 MiB" 25, "128 MiB" 27, "512 MiB" 29)
set xlabel "drop rate of a packet" offset 0,0.3
set multiplot layout 2,2 margins 0.085,0.895,0.065,0.90 spacing 0.085,0.115
set label 1 head at screen 0.5,0.972 center font ",16"
set label 2 scale_text at screen 0.985,0.48 center rotate by 90 font ",13"

do for [i = 1:4] {
	what = word("model_mean real_mean model_p999 real_p999", i)
	set title word("(a) (b) (c) (d)", i)." ".(i % 2 ? left_text : right_text).(i <= 2 ? ", mean" : ", 99.9th percentile") offset 0,-0.5
	if (i % 2) { set ylabel "message size" offset 1.5,0 } else { unset ylabel }
	if (i == 4) { set colorbox user origin 0.925,0.2 size 0.016,0.56 } else { unset colorbox }
	plot dat index what using 1:4:2:3:5:6:(shade($7)) with boxxyerror fs solid 1.0 border lc rgb "#ffffff" lc palette, \
		"" index what using 1:4:(dark($7) ? sprintf(fmt($7), $7) : "") with labels font ",10" tc rgb "#ffffff", \
		"" index what using 1:4:(dark($7) ? "" : sprintf(fmt($7), $7)) with labels font ",10" tc rgb "#222222"
	unset label 1
	unset label 2
}
unset multiplot
