# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""The same cases in the simulator: sdr_share_bars has them under the same names."""
import csv
import os
import subprocess

import wan


def case(ctx, name):
    run = subprocess.run([os.path.join(ctx.build, "sdr_share_bars"), "--case", name, "--csv", "--report", "--seeds",
                          str(ctx.runs)], capture_output=True, text=True)
    if run.returncode == 2:
        ctx.row("not in the simulator", "", "", "-")
        return
    if run.returncode:
        raise wan.Failed((run.stderr or run.stdout or "sdr_share_bars failed").strip().splitlines()[-1])
    for r in csv.DictReader(run.stdout.splitlines()):
        what = "%s, mean of %d seeds (worst)" % (r["metric"], ctx.runs)
        ctx.row(what, r["must"], "%s (%s)" % (r["mean"], r["worst"]), r["held"])
