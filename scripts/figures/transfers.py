# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""One message over one link: the paper's motivation, its lines, round trip and bandwidth."""
from cells import Cell, GIB, MIB, decades, half_decades
from draw import Figure

PAPER = ("Model: the paper's formulas, with a packet of 4 KiB as the unit of loss and repair; MDS and XOR with k = 32, "
         "m = 8 unless said otherwise; timeout of SR RTO 3 RTT, of SR NACK 1 RTT; beta = 1.")
CODE = ("Real code: the transport of this library between simulated nodes in virtual time (sdr_sim), packets of 4 KiB, "
        "chunks of 64 KiB, each row of packets of a submessage a codeword; its timers are its own (parity's fallback "
        "starts when the sender says that all is sent).")


def lines(ctx, fig, panel, xs, cells, x_of, y_of="mean_s", reading="paper", tag=None):
    """The model's lines: a block PANEL_SCHEME of x and time over ideal; cells: scheme -> x -> Cell."""
    for name, cell in cells.items():
        got = ctx.model.predict([cell(x) for x in xs], reading)
        pts = []
        for x in xs:
            r = got[cell(x)]
            pts.append((x_of(x), r[y_of] / r["ideal_s"]))
            fig.row(panel=panel, source="model", **fields(cell(x), r))
        fig.block("%s_%s%s" % (panel, name, tag or ""), pts)


def points(ctx, fig, panel, xs, cells, x_of, wants, y_of="mean_s", tag=None):
    """The real code's points, in blocks PANEL_SCHEME_sim; wants: cell -> runs."""
    got = ctx.simulate(wants)
    for name, cell in cells.items():
        pts = []
        for x in xs:
            r = got[cell(x)]
            pts.append((x_of(x), r[y_of] / r["ideal_s"]))
            fig.row(panel=panel, source="real code", **fields(cell(x), r))
        fig.block("%s_%s%s_sim" % (panel, name, tag or ""), pts)


def fields(c, r):
    ec = c.scheme.startswith("ec")
    return dict(scheme=c.scheme, k=c.k if ec else "", m=c.m if ec else "", bandwidth_bps=c.rate, rtt_s=c.rtt,
                p_packet=c.p, msg_bytes=c.size, n_dc=c.n_dc or "", runs=r.get("runs", ""), mean_s=r["mean_s"],
                p50_s=r["p50_s"], p99_s=r["p99_s"], p999_s=r["p999_s"], ideal_s=r["ideal_s"])


def runs_for(ctx, cell, packets, least, most):
    """So many that about so many packets are simulated."""
    return int(min(most, max(least, packets / cell.packets)))


def wants(ctx, cells, xs, packets, least=4, most=4000):
    return {c(x): runs_for(ctx, c(x), packets, least, most) for c in cells.values() for x in xs}


def span(w):
    lo, hi = min(w.values()), max(w.values())
    return "%d" % lo if lo == hi else "%d to %d" % (lo, hi)


def motivation(ctx):
    fig = Figure("motivation", "What losses cost: mean completion time over ideal at 400 Gbit/s", 1320, 520)
    names = ("sr_rto", "ec_mds", "hybrid")
    paper = ("sr_rto", "ec_mds")
    sims = names
    q = ctx.quick

    def panel(p, xs, make, x_of, sim_xs, packets, least, most):
        lines(ctx, fig, p, xs, {n: make(n) for n in paper}, x_of)
        cells = {n: make(n) for n in sims}
        w = wants(ctx, cells, sim_xs, packets, least, most)
        points(ctx, fig, p, sim_xs, cells, x_of, w)
        return span(w)

    a = panel("a", [1 << e for e in range(17, 39)], lambda n: lambda s: Cell(n, s, 1e-5), lambda s: s,
              [1 * MIB, 16 * MIB, 128 * MIB, GIB] if q else
              [MIB, 4 * MIB, 16 * MIB, 64 * MIB, 128 * MIB, 256 * MIB, 512 * MIB, GIB, 2 * GIB, 4 * GIB, 8 * GIB],
              2e6 if q else 1.2e7, 4, 2000 if q else 10000)
    km = [50 * 1.25 ** i for i in range(28)]
    b = panel("b", km, lambda n: lambda d: Cell(n, 8 * GIB, 1e-5, rtt=d / 3750 * 25e-3), lambda d: d,
              [1000, 6000] if q else [250, 1000, 2500, 4000, 6000, 10000, 15000],
              2e6 if q else 1.5e7, 2 if q else 8, 100)
    c = panel("c", [10.0 ** (e / 4) for e in range(-28, -3)], lambda n: lambda p: Cell(n, 128 * MIB, p), lambda p: p,
              decades(-6, -2) if q else half_decades(-6, -1), 2e6 if q else 1.5e7, 20, 2000)
    fig.caption = (
        "Mean completion time over the time without loss (data / bandwidth + RTT). (a) by message size, 25 ms "
        "round trip, drop rate 1e-5; (b) by distance, 8 GiB, drop rate 1e-5, 3750 km = 25 ms round trip as in the "
        "paper; (c) by drop rate, 128 MiB, 25 ms. SR waits a timeout of 3 RTT for whatever is lost last; EC "
        "repairs in place and pays with a quarter more data; hybrid, the scheme of this library, sends parity only "
        "with what is sent last. "
        "Where EC fails, at 0.1, the real code is cheaper than the formulas: it sends again only what is missing. "
        "%s %s Transfers a point: (a) %s, (b) %s, (c) %s; seed %d." % (PAPER, CODE, a, b, c, ctx.seed))
    return fig


def rows(ctx):
    fig = Figure("lines", "The 128 MiB row and the 1e-5 column", 1200, 900)
    q = ctx.quick
    code = lambda n, k=32, m=8: lambda p: Cell(n, 128 * MIB, p, k=k, m=m)
    ps = [10.0 ** (e / 4) for e in range(-28, -3)]
    sim_ps = decades(-6, -2) if q else half_decades(-6, -1)
    budget = 2e6 if q else 2e7
    log = lambda x: x

    sizes = [1 << e for e in range(17, 39)]
    sim_sizes = [MIB, 16 * MIB, 128 * MIB] if q else \
        [MIB, 4 * MIB, 16 * MIB, 64 * MIB, 128 * MIB, 512 * MIB, GIB, 4 * GIB]
    by_size = {n: (lambda n: lambda s: Cell(n, s, 1e-5))(n) for n in ("sr_rto", "sr_nack", "ec_mds", "ec_xor")}
    lines(ctx, fig, "a", sizes, by_size, log)
    w = wants(ctx, by_size, sim_sizes, 2e6 if q else 1.2e7, 4, 2000 if q else 10000)
    points(ctx, fig, "a", sim_sizes, by_size, log, w)
    used = dict(w)

    by_p = {n: code(n) for n in ("sr_rto", "ec_mds", "ec_xor")}
    lines(ctx, fig, "b", ps, by_p, log)
    w = wants(ctx, by_p, sim_ps, budget, 20, 2000)
    points(ctx, fig, "b", sim_ps, by_p, log, w)
    used.update(w)

    by_p = {n: code(n) for n in ("sr_rto", "sr_nack")}
    w = wants(ctx, by_p, sim_ps, budget, 20, 2000)
    for tag, y in (("_mean", "mean_s"), ("_p999", "p999_s")):
        lines(ctx, fig, "c", ps, by_p, log, y, tag=tag)
        points(ctx, fig, "c", sim_ps, by_p, log, w, y, tag=tag)
    used.update(w)

    splits = {"%d_%d" % km: code("ec_mds", *km) for km in ((32, 2), (32, 4), (32, 8), (16, 8), (8, 8))}
    lines(ctx, fig, "d", ps, splits, log)
    some = {n: c for n, c in splits.items() if not q or n in ("32_2", "32_8", "8_8")}
    w = wants(ctx, some, sim_ps, budget / 2, 20, 1000)
    points(ctx, fig, "d", sim_ps, some, log, w)
    for n in splits:
        fig.block("d_%s_sim" % n, [])
    used.update(w)
    fig.caption = (
        "Completion time over ideal at 400 Gbit/s and 25 ms. (a) mean by message size at a drop rate of 1e-5; (b) "
        "to (d) 128 MiB by drop rate: (b) mean of SR and of the two codes: XOR falls back to SR near 1e-3, MDS "
        "holds beyond 1e-2; (c) mean and 99.9th percentile of SR with timeouts and with NACKs, at most 3 times "
        "apart (3 RTT against 1 RTT); (d) mean of MDS with other splits of k data and m parity chunks: more parity "
        "costs bandwidth always and helps only at high drop rates. %s %s Above 1e-2 the real code falls back "
        "cheaper than the formulas: rows of packets are decoded one by one, and "
        "only what is missing is sent again. Transfers a point: %s; seed %d." % (PAPER, CODE, span(used), ctx.seed))
    return fig


def rtt_bandwidth(ctx):
    fig = Figure("rtt_bandwidth", "Longer or faster: when does EC overtake SR?", 1200, 860)
    q = ctx.quick
    names = ("sr_rto", "sr_nack", "ec_mds")
    rtts = [1e-3 * 1.2 ** i for i in range(30)]
    rates = [25e9 * 1.2 ** i for i in range(28)]
    used = {}
    cross = []
    for tag, size in (("8g", 8 * GIB), ("128m", 128 * MIB)):
        big = size > GIB
        by_rtt = {n: (lambda n: lambda r: Cell(n, size, 1e-5, rtt=r))(n) for n in names}
        by_rate = {n: (lambda n: lambda b: Cell(n, size, 1e-5, rate=b))(n) for n in names}
        lines(ctx, fig, "rtt_" + tag, rtts, by_rtt, lambda r: r * 1e3)
        lines(ctx, fig, "bw_" + tag, rates, by_rate, lambda b: b / 1e9)
        for what, xs, cells in (("RTT", rtts, by_rtt), ("bandwidth", rates, by_rate)):
            at = crossing(ctx, xs, cells)
            if at and big:
                cross.append("%.0f ms" % (at * 1e3) if what == "RTT" else "%.0f Gbit/s" % (at / 1e9))
        sim_rtts = ([5e-3, 50e-3] if big else [5e-3, 25e-3, 100e-3]) if q else [2e-3, 10e-3, 25e-3, 60e-3, 150e-3]
        sim_rates = ([100e9, 800e9] if big else [100e9, 400e9, 1600e9]) if q else [50e9, 200e9, 400e9, 800e9, 2400e9]
        sims = {n: by_rtt[n] for n in (("sr_rto", "ec_mds") if q else names)}
        for n in names:
            fig.block("rtt_%s_%s_sim" % (tag, n), [])
            fig.block("bw_%s_%s_sim" % (tag, n), [])
        budget, least = (2e6, 1) if q and big else (2e6, 20) if q else (1.2e7, 5) if big else (1e7, 100)
        w = wants(ctx, sims, sim_rtts, budget, least, 1000)
        points(ctx, fig, "rtt_" + tag, sim_rtts, sims, lambda r: r * 1e3, w)
        used.update(w)
        sims = {n: by_rate[n] for n in sims}
        w = wants(ctx, sims, sim_rates, budget, least, 1000)
        points(ctx, fig, "bw_" + tag, sim_rates, sims, lambda b: b / 1e9, w)
        used.update(w)
    fig.caption = (
        "Mean completion time over ideal at a drop rate of 1e-5, by round trip time at 400 Gbit/s (left) and by "
        "bandwidth at 25 ms (right), of 8 GiB (top; the paper's text) and 128 MiB (bottom; its caption). "
        "Retransmissions of a long message hide behind its injection; a larger bandwidth-delay product exposes "
        "them. In the model EC beats SR RTO at 8 GiB from %s on. %s %s Transfers a point: %s; seed %d."
        % (" and ".join(cross) or "no point of these axes", PAPER, CODE, span(used), ctx.seed))
    return fig


def crossing(ctx, xs, cells):
    """Where EC begins to be faster than SR RTO for good, between two values by the logarithm; None: nowhere."""
    sr = ctx.model.predict([cells["sr_rto"](x) for x in xs])
    ec = ctx.model.predict([cells["ec_mds"](x) for x in xs])
    gain = [sr[cells["sr_rto"](x)]["mean_s"] / ec[cells["ec_mds"](x)]["mean_s"] - 1 for x in xs]
    for i in range(len(xs) - 1, 0, -1):
        if gain[i] > 0 >= gain[i - 1]:
            return xs[i - 1] * (xs[i] / xs[i - 1]) ** (-gain[i - 1] / (gain[i] - gain[i - 1]))
    return None
