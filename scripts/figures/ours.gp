# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
# Time over ideal, from 1: light is good; the colour goes with the logarithm of the excess over one per mille.

set palette maxcolors 64
set palette defined (0 "#f7fcf5", 1 "#d9f0e3", 2 "#9fd4c0", 3 "#4aa3a2", 4 "#2b6f8c", 5 "#273b6b")
shade(z) = log10((z > 1 ? z - 1 : 0) + 0.001)
set cbrange [-3:0.1]
set cbtics ("1.000" -3, "1.01" log10(0.011), "1.03" log10(0.031), "1.1" log10(0.101), "1.3" log10(0.301), "2" log10(1.001))
dark(z) = shade(z) > -1.35
fmt(z) = z < 1.095 ? "%.3f" : "%.2f"
head = "Completion time over ideal, this library's schemes at 400 Gbit/s and 25 ms"
scale_text = "time / ideal"
left_text = "model, hybrid"
right_text = "real code, auto"
load here."/grid.gp"
