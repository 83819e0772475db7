# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""Message size against drop rate, a number in every cell: EC over SR, and this library's schemes over ideal."""
import math

from cells import Cell, decades, half_decades
from draw import Figure
from transfers import CODE, PAPER, fields, runs_for, span

SIZES = [1 << e for e in range(17, 31)]  # 128 KiB .. 1 GiB
DROPS = half_decades(-6, -2)


def real_grid(ctx):
    """Sizes, drop rates and how many packets each cell of the real code may cost."""
    if ctx.quick:
        return [1 << e for e in (17, 20, 24, 27, 30)], decades(-6, -2), 1.5e6
    return SIZES, DROPS, 1.6e7


def edges(values, whole, log):
    """(centre, from, to) of each value on a logarithmic axis, so that they tile what all values of whole cover."""
    v, w = [log(x) for x in values], [log(x) for x in whole]
    cut = [(a + b) / 2 for a, b in zip(v, v[1:])]
    half = (w[1] - w[0]) / 2
    lo, hi = [w[0] - half] + cut, cut + [w[-1] + half]
    return {x: ((a + b) / 2, a, b) for x, a, b in zip(values, lo, hi)}


def tiles(fig, name, sizes, drops, value):
    xs, ys = edges(drops, DROPS, math.log10), edges(sizes, SIZES, math.log2)
    fig.block(name, [xs[p] + ys[s] + (value(s, p),) for s in sizes for p in drops])
    half_x, half_y = math.log10(DROPS[1] / DROPS[0]) / 2, math.log2(SIZES[1] / SIZES[0]) / 2
    fig.vars.update(x_lo=math.log10(DROPS[0]) - half_x, x_hi=math.log10(DROPS[-1]) + half_x,
                    y_lo=math.log2(SIZES[0]) - half_y, y_hi=math.log2(SIZES[-1]) + half_y)


def grid_runs(ctx, cell, packets):
    return runs_for(ctx, cell, packets, 20, 1000 if ctx.quick else 3000)


def heatmap(ctx):
    fig = Figure("heatmap", "Speed-up of erasure coding over selective repeat, 400 Gbit/s and 25 ms", 1240, 1000)
    pair = ("sr_rto", "ec_mds")
    paper = {}
    for reading in ("paper", "paper8k"):
        got = ctx.model.predict([Cell(n, s, p) for n in pair for s in SIZES for p in DROPS], reading)
        for y in ("mean_s", "p999_s"):
            paper[reading, y] = {(s, p): got[Cell("sr_rto", s, p)][y] / got[Cell("ec_mds", s, p)][y]
                                 for s in SIZES for p in DROPS}
        if reading == "paper":
            for c, r in got.items():
                fig.row(source="model", **fields(c, r))
    sizes, drops, packets = real_grid(ctx)
    w = {c: grid_runs(ctx, c, packets) for c in (Cell(n, s, p) for n in pair for s in sizes for p in drops)}
    real = ctx.simulate(w)
    for c, r in real.items():
        fig.row(source="real code", **fields(c, r))
    for y, tag in (("mean_s", "mean"), ("p999_s", "p999")):
        tiles(fig, "model_" + tag, SIZES, DROPS, lambda s, p: paper["paper", y][s, p])
        tiles(fig, "real_" + tag, sizes, drops,
              lambda s, p: real[Cell("sr_rto", s, p)][y] / real[Cell("ec_mds", s, p)][y])
    top = {k: max(v.values()) for k, v in paper.items()}
    fig.caption = (
        "Completion time of SR RTO over that of EC MDS (32, 8), mean (top) and 99.9th percentile (bottom): above 1 "
        "(red) EC is faster. Left: the model, at most %.1f in the mean and %.1f at the 99.9th percentile; with "
        "chunks of 8 KiB lost with their packets of 4 KiB %.1f and %.1f (the paper reports 6.5 and 12.2). Right: "
        "the real code, %s transfers a cell; below 1000 of them the 99.9th percentile is the slowest one. %s %s "
        "Seed %d."
        % (top["paper", "mean_s"], top["paper", "p999_s"], top["paper8k", "mean_s"], top["paper8k", "p999_s"],
           span(w), PAPER, CODE, ctx.seed))
    return fig


def ours(ctx):
    fig = Figure("ours", "This library's hybrid and auto over ideal, 400 Gbit/s and 25 ms", 1240, 1000)
    sizes, drops, packets = real_grid(ctx)
    got = ctx.model.predict([Cell("hybrid", s, p) for s in SIZES for p in DROPS], "ours")
    for c, r in got.items():
        fig.row(source="model", **fields(c, r))
    w = {c: grid_runs(ctx, c, packets) for c in (Cell("auto", s, p, both=True) for s in sizes for p in drops)}
    real = ctx.simulate(w)
    for c, r in real.items():
        fig.row(source="real code", **fields(c, r))
    for y, tag in (("mean_s", "mean"), ("p999_s", "p999")):
        tiles(fig, "model_" + tag, SIZES, DROPS,
              lambda s, p: got[Cell("hybrid", s, p)][y] / got[Cell("hybrid", s, p)]["ideal_s"])
        tiles(fig, "real_" + tag, sizes, drops,
              lambda s, p: real[Cell("auto", s, p, both=True)][y] / real[Cell("auto", s, p, both=True)]["ideal_s"])
    worst = {t: max(pt[6] for pt in fig.blocks[t]) for t in ("real_mean", "real_p999")}
    fig.caption = (
        "Completion time over the time without loss (data / bandwidth + RTT), mean (top) and 99.9th percentile "
        "(bottom). Left: the model of hybrid (early packets are sent again, the last come with as much parity as "
        "the model chooses). Right: the real code with auto, which chooses for each transfer from the loss that it "
        "has measured: at most %.2f in the mean and %.2f at the 99.9th percentile anywhere here. %s transfers a "
        "cell after a warm-up in which the link is measured; below 1000 of them the 99.9th percentile is the "
        "slowest one. Objective of the choice: the 99.9th percentile, with at most 25 %% parity. Packets of 4 KiB; "
        "the real code loses acknowledgements as often as data. Seed %d."
        % (worst["real_mean"], worst["real_p999"], span(w).capitalize(), ctx.seed))
    return fig
