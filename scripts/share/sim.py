# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""The cases in the simulator (sdr_sim share), with the bars of cases.py.

What is judged is the mean over the seeds; the least and the largest are printed beside it.  Cases that the
simulator does not have say so.
"""
import json
import os
import subprocess

from wan import Failed

PING_MS = {"1": 6, "4": 6}


def runs(ctx, argv):
    """A list of runs, each a list of rows: the flows, and last the sum."""
    p = subprocess.run([os.path.join(ctx.build, "sdr_sim"), "share", "--format", "json", "--runs", str(ctx.runs),
                        "--seconds", "%g" % ctx.seconds] + argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode:
        raise Failed(p.stderr.decode().strip().splitlines()[-1])
    by = {}
    for row in json.loads(p.stdout):
        by.setdefault(row["run"], []).append(row)
    return list(by.values())


class Many:
    """Rows of a case, over its seeds."""

    def __init__(self, ctx, argv):
        self.ctx = ctx
        self.runs = runs(ctx, argv)

    def bar(self, what, of, least=None, most=None, form="%.3g"):
        values = [of(r) for r in self.runs]
        if any(v is None for v in values):
            self.ctx.bar(what, None, least, most, form)
            return
        self.ctx.bar(what, sum(values) / len(values), least, most, form,
                     note=" (" + form % min(values) + " .. " + form % max(values) + ")")

    def drops(self, most=None):
        self.bar("dropped by the queue, %", lambda r: 100 * r[-1]["drop"], most=most)

    def fair(self, least=None):
        self.bar("Jain's index", lambda r: r[-1]["jain"], least=least, form="%.3f")

    def util(self, least=None):
        self.bar("utilisation", lambda r: r[-1]["utilisation"], least=least, form="%.3f")

    def delay(self, most_ms=None):
        self.bar("queue delay p95, ms", lambda r: 1e3 * r[-1]["delay_p95_s"], most=most_ms, form="%.2f")

    def share(self, what, least=None, most=None, i=0):
        self.bar(what, lambda r: 100 * r[i]["share"], least, most, "%.0f")


def fair(ctx, n, bdp, drop):
    m = Many(ctx, ["--flows", n, "--queue-bdp", bdp])
    m.drops(drop)
    m.fair(0.95)
    m.util(0.93)
    m.delay(PING_MS.get(bdp))


def three(ctx, bdp, drop):
    m = Many(ctx, ["--flows", "3", "--queue-bdp", bdp])
    m.drops(drop)
    m.bar("smallest share, %", lambda r: 100 * min(f["share"] for f in r[:-1]), least=25, form="%.1f")


def alone(ctx, bdp, drop):
    m = Many(ctx, ["--flows", "1", "--queue-bdp", bdp])
    m.drops(drop)
    m.util(0.95)


def weather(ctx, loss):
    m = Many(ctx, ["--flows", "1", "--loss", "ge:1e-2:8" if loss == "burst" else "iid:" + loss])
    m.util(0.95)
    m.drops()


def both(ctx, bdp, drop):
    Many(ctx, ["--flows", "2", "--queue-bdp", bdp, "--loss", "iid:1e-2"]).drops(drop)


def against(ctx, cc, bdp, least, most):
    m = Many(ctx, ["--flows", "1", "--rival", cc, "--queue-bdp", bdp])
    m.share("share of sdr beside one %s, %%" % cc, least, most)
    m.drops()
    m.delay()


def cubic_left(ctx):
    left = []
    for argv in (["--flows", "1", "--rival", "cubic"], ["--flows", "0", "--rival", "bbr,cubic"]):
        rows = runs(ctx, argv + ["--queue-bdp", "0.1"])
        left.append(sum(r[1]["goodput_bps"] for r in rows) / len(rows))
    ctx.bar("CUBIC beside sdr over CUBIC beside BBR", left[0] / max(1, left[1]), least=2, form="%.2f",
            note=" (%.0f, %.0f Mbit/s)" % (left[0] / 1e6, left[1] / 1e6))


def kernel(ctx, ccs, bdp):
    m = Many(ctx, ["--flows", "0", "--rival", ",".join(ccs), "--queue-bdp", bdp])
    for i, cc in enumerate(ccs):
        m.bar("%s, Mbit/s" % cc, lambda r, i=i: r[i]["goodput_bps"] / 1e6, form="%.0f")
    m.drops()
    m.util()
    m.delay()


def incast(ctx, n, size):
    m = Many(ctx, ["--flows", n, "--incast", "--rtt", "2e-4", "--queue", size])
    m.drops(2)
    m.fair(0.9)
    m.util(0.9)


def shaper(ctx):
    Many(ctx, ["--flows", "1", "--rate", "3e8", "--rtt", "1e-5", "--queue", "64K"]).drops(0.5)


def slow(ctx):
    Many(ctx, ["--flows", "1", "--rate", "1e7", "--rtt", "40e-3", "--seconds", "5"]).drops(2)


def change(ctx, first, then):
    m = Many(ctx, ["--flows", "1", "--rate", first, "--at", "5:rate=" + then, "--queue-bdp", "1"])
    m.drops(1)


def marks(ctx):
    m = Many(ctx, ["--flows", "2", "--queue-bdp", "4", "--mark", "1e-3"])
    m.drops(0)
    m.delay(3)


def parity(ctx):
    m = Many(ctx, ["--flows", "2", "--queue-bdp", "0.1"])
    m.bar("parity after the first second, %", lambda r: 100 * r[-1]["parity_settled"], most=0.1)


def late_comer(ctx):
    m = Many(ctx, ["--flows", "2", "--start", "0,5", "--seconds", "15"])
    m.bar("seconds to its share", lambda r: r[1]["to_share_s"], most=3, form="%.2f")


def messages(ctx, size, argv, mean, p99=None):
    """Times of messages one after the other, over RTT + S/B."""
    ideal = 0.025 + BYTES[size] * 8 / 1e9
    m = Many(ctx, ["--flows", "1", "--size", size.upper(), "--queue-bdp", "1", "--seconds", "60"] + argv)
    m.bar("mean over RTT + S/B", lambda r: r[-1]["time_mean_s"] / ideal, most=mean, form="%.3f")
    if p99:
        m.bar("p99 over RTT + S/B", lambda r: r[-1]["time_p99_s"] / ideal, most=p99, form="%.3f")
    return m


def cold(ctx, size):
    messages(ctx, size, ["--messages", "1"], {"1m": 1.6, "16m": 1.25}[size]).drops(0.05)


def warm(ctx, size, loss):
    n = {"64k": 400, "1m": 400, "16m": 60, "128m": 8}[size]
    more = ["--loss", "iid:" + loss, "--reverse-loss", loss] if loss != "0" else []
    messages(ctx, size, ["--messages", str(n), "--warm", str(n // 4)] + more, 1.04, 1.10)


def sparse(ctx):
    m = Many(ctx, ["--flows", "1", "--size", "64K", "--messages", "2000", "--loss", "ge:1e-2:8", "--seconds", "120"])
    m.bar("longest message, RTTs", lambda r: r[-1]["time_max_s"] / 0.025, most=12, form="%.1f")


BYTES = {"64k": 65536, "1m": 1 << 20, "16m": 1 << 24, "128m": 1 << 27}
DROPS = {"fair": {"0.1": 2, "0.5": 1, "1": 0.5, "4": 0.1}, "three": {"0.25": 2, "1": 0.5},
         "alone": {"1": 0.05, "0.1": 0.5}, "both": {"0.1": 3, "1": 1}}
NAMED = {"cubic-0.1": cubic_left, "shaper": shaper, "slow": slow, "marks": marks, "parity": parity,
         "late-comer": late_comer, "sparse": sparse, "halves": lambda c: change(c, "1e9", "5e8"),
         "doubles": lambda c: change(c, "5e8", "1e9")}


def case(ctx, name):
    part = name.split("-")
    kind = part[0]
    if name in NAMED:
        NAMED[name](ctx)
    elif kind == "fair":
        fair(ctx, part[1], part[2], DROPS["fair"][part[2]])
    elif kind == "weather":
        weather(ctx, name[len("weather-"):])
    elif kind in ("three", "alone", "both"):
        globals()[kind](ctx, part[1], DROPS[kind][part[1]])
    elif kind in ("bbr", "cubic"):
        against(ctx, kind, part[1], 35, 60 if kind == "bbr" else 65)
    elif kind == "cold":
        cold(ctx, part[1])
    elif kind == "warm":
        warm(ctx, part[1], name.split("-", 2)[2])
    elif kind == "incast":
        incast(ctx, part[1], part[2].upper())
    elif kind == "kernel":
        kernel(ctx, part[1:3], part[3])
    else:
        ctx.row("not in the simulator", "", "", "-")
