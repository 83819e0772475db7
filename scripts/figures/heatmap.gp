# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
# Speed-ups: white is none, red is EC, blue is SR; the colour goes with the logarithm.

set palette maxcolors 64
set palette defined (-1 "#2166ac", 0 "#f7f7f7", 1.1 "#fddbc7", 2.2 "#ef8a62", 3.1 "#d6604d", 3.8 "#b2182b")
set cbrange [-1:3.8]
set cbtics ("0.5" -1, "1" 0, "2" 1, "4" 2, "8" 3, "12" 3.585)
shade(z) = lb(z)
dark(z) = lb(z) > 2.7 || lb(z) < -0.7
fmt(z) = z < 9.95 ? "%.1f" : "%.0f"
head = "Speed-up of EC MDS (32, 8) over SR RTO at 400 Gbit/s and 25 ms"
scale_text = "time of SR / time of EC"
left_text = "model"
right_text = "real code"
load here."/grid.gp"
