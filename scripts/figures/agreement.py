# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""The model held against the protocol's implementation, cell by cell."""
import math

from cells import Cell, GIB, MIB, decades, size_text
from draw import Figure
from transfers import fields

SCHEMES = ("sr_rto", "sr_nack", "ec_mds", "hybrid")
SIZES = (MIB, 16 * MIB, 128 * MIB, GIB)
BAND = {"mean_s": 0.05, "p999_s": 0.10}
OUTSIDE = "scheme,msg_bytes,p_packet,runs,what,model_s,real_code_s,ratio,model_low_s,model_high_s,chance"
# Transfers of a cell by its size: quick, full.  Below 1000 a sample says nothing of the 99.9th percentile.
RUNS = {MIB: (1500, 20000), 16 * MIB: (300, 4000), 128 * MIB: (40, 1500), GIB: (4, 1000)}


def chance(n, q=0.999, miss=0.005):
    """Levels of the law between which the smallest of n times that the share q does not exceed lies but for 2 "
    "miss."""
    above = n - math.ceil(q * n)  # times beyond it

    def low(u):  # P(at most so many of n lie beyond the level u): Binomial(n, 1 - u)
        return sum(math.exp(math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * math.log1p(-u)
                            + (n - i) * math.log(u)) for i in range(above + 1))

    def level(p):
        lo, hi = 1e-9, 1 - 1e-9
        for _ in range(60):
            mid = (lo + hi) / 2
            lo, hi = (mid, hi) if low(mid) < p else (lo, mid)
        return lo
    return level(miss), level(1 - miss)


def agreement(ctx):
    fig = Figure("agreement", "The real code against the model, 400 Gbit/s and 25 ms", 1320, 800)
    drops = decades(-6, -2)
    schemes = SCHEMES
    sizes = SIZES
    cells = [Cell(n, s, p) for n in schemes for s in sizes for p in drops]
    w = {c: RUNS[c.size][0 if ctx.quick else 1] for c in cells}
    levels = {c.size: chance(n) for c, n in w.items()}
    got = {}
    for s in sizes:
        got.update(ctx.model.predict([c for c in cells if c.size == s], "code", levels[s]))
    real = ctx.simulate(w)
    outside = []
    for c in cells:
        m, r = got[c], real[c]
        runs = int(r["runs"])
        row = dict(fields(c, r), runs=runs)
        for y, name in (("mean_s", "mean"), ("p999_s", "p999")):
            ratio = r[y] / m[y]
            judged = y == "mean_s" or runs >= 1000
            row.update({"model_" + y: m[y], "ratio_" + name: ratio})
            lucky = y == "p999_s" and m["q"][0] * (1 - BAND[y]) <= r[y] <= m["q"][1] * (1 + BAND[y])
            if judged:
                fig.block("%s_%d_%s" % (name, c.size // MIB, c.scheme), [(c.p, ratio)])
            if judged and abs(ratio - 1) > BAND[y]:
                low, high = m["q"] if y == "p999_s" else ("", "")
                outside.append(dict(zip(OUTSIDE.split(","), (c.scheme, c.size, c.p, runs, name, m[y], r[y], ratio,
                                                             low, high, int(lucky)))))
        fig.row(**row)
    for s in sizes:
        for n in schemes:
            for name in ("mean", "p999"):
                fig.block("%s_%d_%s" % (name, s // MIB, n), [])
    fig.vars["few"] = "".join("p999_%d," % (s // MIB) for s in sizes if RUNS[s][0 if ctx.quick else 1] < 1000)
    fig.extra["agreement_outside.csv"] = outside or [dict.fromkeys(OUTSIDE.split(","), "")]
    judged = sum(1 + (w[c] >= 1000) for c in cells)
    fig.caption = (
        "Time measured with the real code (sdr_sim) over the model's, mean (top, band of 5 %%) and 99.9th "
        "percentile (bottom, band of 10 %%), 400 Gbit/s, 25 ms, chunks of 64 KiB, packets of 4 KiB. The model "
        "reads the real code's rules: packets are lost and sent again one by one, every row of packets of a "
        "submessage is a codeword, a failed one costs only what is missing, no fallback timeout (--unit packet "
        "--decode row --resend missing --beta 0). ec_mds is (32, 8). %s Percentiles are "
        "judged where a cell has 1000 transfers or more. %d of %d values lie outside their band%s; "
        "agreement_outside.csv lists them, with the interval in which the percentile of so many transfers of the "
        "model lies in 99 of 100 cases: %d of them are within it, by chance as far as can be told. A mean that few "
        "drops carry needs many transfers too. Seed %d."
        % (", ".join("%d transfers of %s" % (RUNS[s][0 if ctx.quick else 1], size_text(s)) for s in sizes) + ".",
           len(outside), judged,
           " (" + ", ".join(sorted({o["scheme"] for o in outside})) + ")" if outside else "",
           sum(o["chance"] for o in outside), ctx.seed))
    return fig
