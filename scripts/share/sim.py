# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""The same cases in the simulator: sdr_share_bars has them under the same names, with their bars.

What is judged is the mean over the seeds; the worst is printed beside it.  The cases without sdr (kernel-...) are its
rivals among themselves, by sdr_sim share, without bars: to be laid beside what the kernel's own did.
"""
import csv
import json
import os
import subprocess

from wan import Failed

UNITS = {"drop": (100, "dropped by the queue, %"), "jain": (1, "Jain's index"), "util": (1, "utilisation"),
         "delay_p50": (1e3, "queue delay p50, ms"), "delay_p95": (1e3, "queue delay p95, ms"),
         "share": (100, "share of sdr, %"), "share_least": (100, "smallest share, %"),
         "share_first": (100, "share of the first, %"), "late_s": (1, "seconds to its share"),
         "parity": (100, "parity after the first second, %"), "leaves": (1, "CUBIC beside sdr over CUBIC beside BBR"),
         "adapt_s": (1, "seconds to 90 % of the new rate"), "mean": (1, "mean over RTT + S/B"),
         "p99": (1, "p99 over RTT + S/B"), "longest_rtts": (1, "longest message, RTTs")}


def mean(ctx, what, values, form):
    ctx.bar(what, sum(values) / len(values), form=form,
            note=" (" + form % min(values) + " .. " + form % max(values) + ")")


def kernel(ctx, ccs, bdp):
    ccs = [cc.split("+")[0] for cc in ccs]
    p = subprocess.run([os.path.join(ctx.build, "sdr_sim"), "share", "--format", "json", "--runs", str(ctx.runs),
                        "--seconds", "%g" % ctx.seconds, "--flows", "0", "--rival", ",".join(ccs), "--queue-bdp", bdp],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode:
        raise Failed(p.stderr.decode().strip().splitlines()[-1])
    rows = json.loads(p.stdout)
    names = list(dict.fromkeys(r["flow"] for r in rows if r["flow"] != "all"))
    for cc, flow in zip(ccs, names):
        mean(ctx, "%s, Mbit/s" % cc, [r["goodput_bps"] / 1e6 for r in rows if r["flow"] == flow], "%.0f")
    both = [r for r in rows if r["flow"] == "all"]
    mean(ctx, "dropped by the queue, %", [100 * r["drop"] for r in both], "%.3g")
    mean(ctx, "utilisation", [r["utilisation"] for r in both], "%.3f")
    mean(ctx, "queue delay p95, ms", [1e3 * r["delay_p95_s"] for r in both], "%.2f")


def case(ctx, name):
    if name.startswith("kernel-"):
        part = name.split("-")
        kernel(ctx, part[1:3], part[3])
        return
    p = subprocess.run([os.path.join(ctx.build, "sdr_share_bars"), "--case", name, "--csv", "--report", "--seeds",
                        str(ctx.runs)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode == 2:
        ctx.row("not in the simulator", "", "", "-")
        return
    if p.returncode:
        raise Failed((p.stderr or p.stdout).decode().strip().splitlines()[-1])
    for r in csv.DictReader(p.stdout.decode().splitlines()):
        unit, what = UNITS.get(r["metric"], (1, r["metric"]))
        sense, _, bound = r["must"].partition(" ")
        bound = unit * float(bound) if bound else None
        ctx.bar(what, unit * float(r["mean"]), least=bound if sense == ">=" else None,
                most=bound if sense == "<=" else None, note=" (worst %.3g)" % (unit * float(r["worst"])))
