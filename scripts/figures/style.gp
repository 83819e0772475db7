# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# What all figures share.  A template is run with the variables
#   dat   blocks of numbers, each with its name in a comment before it ("index" finds it)
#   svg   the file to write
#   wide, high   its size
# One colour, one type of point for each scheme, the same in every figure: the colours of Okabe and Ito, which
# people with any colour vision can tell apart.  Lines are the model, points are the real code.

set terminal svg size wide, high enhanced font "DejaVu Sans,Verdana,Helvetica,sans-serif,13" \
	background "#ffffff" linewidth 1.2 dashlength 0.8
set output svg
set encoding utf8
set datafile missing "-"

set border 3 lw 0.9 lc rgb "#444444"
set tics nomirror out scale 0.6 textcolor rgb "#222222"
set grid back lc rgb "#dddddd" lw 0.7 dt 1, lc rgb "#dddddd" lw 0.7 dt 1
set key top left reverse Left samplen 2.2 spacing 1.15 opaque noenhanced font ",12" textcolor rgb "#222222"
set style fill solid 1.0 noborder
set bars small

c_rto = "#D55E00"; c_nack = "#E69F00"; c_mds = "#0072B2"; c_xor = "#56B4E9"; c_own = "#009E73"; c_aux = "#CC79A7"

# 1..6: a scheme's line in the model; 11..16: its points from the real code
set style line 1 lc rgb c_rto  lw 2.2 pt 6  ps 0.8
set style line 2 lc rgb c_nack lw 2.2 pt 4  ps 0.8 dt (10,4)
set style line 3 lc rgb c_mds  lw 2.2 pt 8  ps 0.9
set style line 4 lc rgb c_xor  lw 2.2 pt 12 ps 0.9 dt (12,4,3,4)
set style line 5 lc rgb c_own  lw 2.2 pt 10 ps 0.9
set style line 6 lc rgb c_aux  lw 2.2 pt 14 ps 0.9 dt (5,4)
set style line 11 lc rgb c_rto  lw 1.6 pt 6  ps 0.9
set style line 12 lc rgb c_nack lw 1.6 pt 4  ps 0.85
set style line 13 lc rgb c_mds  lw 1.6 pt 8  ps 1.0
set style line 14 lc rgb c_xor  lw 1.6 pt 12 ps 1.0
set style line 15 lc rgb c_own  lw 1.6 pt 10 ps 1.0
set style line 16 lc rgb c_aux  lw 1.6 pt 14 ps 1.0
# the ideal; a band
set style line 20 lc rgb "#000000" lw 1.3 dt (3,3)
set style line 21 lc rgb "#cccccc" lw 1

# A legend of all panels, along the bottom: the last plot of a multiplot, of entries and nothing else.
legend = "set origin 0,0; set size 1,0.09; set lmargin at screen 0.05; set rmargin at screen 0.97; \
	set tmargin at screen 0.08; set bmargin at screen 0.005; unset title; unset xlabel; unset ylabel; unset tics; \
	unset border; unset grid; unset object; unset logscale; unset label; set xrange [0:1]; set yrange [0:1]; \
	set key center center horizontal maxrows 2 samplen 2.2 width 1"

lb(x) = log(x) / log(2)
set format y "%g"
