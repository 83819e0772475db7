# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""Ring allreduce between datacenters: how much EC gains over SR in the tail."""
from cells import Cell, MIB
from draw import Figure
from transfers import CODE, PAPER, fields, runs_for, span

DROPS = [1e-5, 1e-4, 1e-3, 1e-2]


def allreduce(ctx):
    fig = Figure("allreduce", "Ring allreduce: speed-up of EC over SR at the 99.9th percentile", 1200, 500)
    q = ctx.quick
    pair = ("sr_rto", "ec_mds")
    nodes = [2, 4, 8, 16] if q else [2, 3, 4, 6, 8, 12, 16]
    sizes = [8 * MIB, 32 * MIB, 128 * MIB, 512 * MIB] if q else [(4 * MIB) << i for i in range(10)]
    sim_nodes = [2, 4, 8] if q else [2, 4, 8, 16]
    sim_sizes = [8 * MIB, 32 * MIB, 128 * MIB] if q else [8 * MIB, 32 * MIB, 128 * MIB, 512 * MIB]
    sim_drops = [1e-4, 1e-2] if q else DROPS
    packets, least, most = (1e6, 4, 300) if q else (1.5e7, 20, 2000)

    panels = (("n", nodes, lambda s, p, x: Cell(s, 128 * MIB, p, n_dc=x), sim_nodes),
              ("size", sizes, lambda s, p, x: Cell(s, x, p, n_dc=4), sim_sizes))
    ask = [make(s, p, x) for _, xs, make, _ in panels for s in pair for p in DROPS for x in xs]
    got = ctx.model.predict(ask)
    for c, r in got.items():
        fig.row(source="model", **fields(c, r))
    w = {c: runs_for(ctx, c, packets, least, most)
         for c in (make(s, p, x) for _, _, make, xs in panels for s in pair for p in sim_drops for x in xs)}
    real = ctx.simulate(w)
    for c, r in real.items():
        fig.row(source="real code", **fields(c, r))
    for tag, xs, make, sim_xs in panels:
        for i, p in enumerate(DROPS):
            ratio = lambda res, x: res[make("sr_rto", p, x)]["p999_s"] / res[make("ec_mds", p, x)]["p999_s"]
            fig.block("%s_%d" % (tag, i), [(x, ratio(got, x)) for x in xs])
            fig.block("%s_%d_sim" % (tag, i), [(x, ratio(real, x)) for x in sim_xs] if p in sim_drops else [])
    fig.vars.update(top=max(sizes) / MIB, ymax=1.1 * max(pt[1] for pts in fig.blocks.values() for pt in pts))
    fig.caption = (
        "99.9th percentile of the completion time of a ring allreduce (2 N - 2 rounds, each node sends buffer / N "
        "bytes to the next; 400 Gbit/s and 25 ms between neighbours) with SR RTO, over that with EC MDS (32, 8), "
        "one line for each drop rate p. (a) by the number of datacenters, buffer 128 MiB; (b) by the size of the "
        "buffer, 4 datacenters. Model: %d samples of the paper's recurrence a point. %s %s Allreduces a point: %s; "
        "below 1000 of them the 99.9th percentile is the slowest one; "
        "seed %d." % (ctx.model.samples, PAPER, CODE, span(w), ctx.seed))
    return fig
