# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""The cases over sdr_wan.  25 ms, 1 Gbit/s, MTU 9000 unless a case says something else.

Drops are those of the queue, of all packets that came to it, from the start of the flows on.  Rates are
what was delivered on the line, from a second after the last flow began on; what a receiver made of it
(goodput) is printed beside where it says more.
"""
import json
import math
import os
import shutil
import subprocess

from wan import HERE, Failed, bulk, emulate, jain, ping, run, sdr, tcp

RATE = 1e9
RTT = 0.025
SIZES = {"64k": 65536, "1m": 1 << 20, "16m": 1 << 24, "128m": 1 << 27}


def line(queue=None, rate="1gbit", rtt="25ms", hosts=1, *more):
    o = ["--rate", rate, "--rtt", rtt, "--hosts", "%d:%d" % (hosts, hosts)]
    return o + (["--queue", queue] if queue else []) + list(more)


def steady(ctx, r, rate=RATE, settle=1.0):
    """The window in which rates are taken."""
    begin = r.started() + settle
    return begin, begin + ctx.seconds - settle


def goodput(r):
    return sum(f["said"]["results"][0]["bw_avg_Gbps"] for f, p in zip(r.flows["flows"], r.plan["flows"])
               if p["kind"] == "sdr") * 1e9


def note_goodput(r):
    return " (goodput %.2f)" % (goodput(r) / 1e9)


def bars(ctx, r, drop=None, fair=None, util=None, smallest=None, rate=RATE):
    begin, end = steady(ctx, r)
    x = r.rates(begin, end)
    sure = not r.doubtful()
    ctx.bar("dropped by the queue, %", 100 * r.drop(), most=drop, sure=sure)
    if len(x) > 1:
        ctx.bar("Jain's index", jain(x), least=fair, form="%.3f", sure=sure)
    if smallest is not None:
        ctx.bar("smallest share, %", 100 * min(x) / sum(x), least=smallest, form="%.1f", sure=sure)
    ctx.bar("utilisation", sum(x) / rate, least=util, form="%.3f", sure=sure, note=note_goodput(r))


def delays(ctx, r, most_ms=None, rtt=RTT):
    p = r.ping()
    ctx.bar("ping above the idle RTT, p50, ms", 1e3 * (p["p50_s"] - rtt), form="%.2f", sure=not r.doubtful())
    ctx.bar("ping above the idle RTT, p95, ms", 1e3 * (p["p95_s"] - rtt), most=most_ms, form="%.2f",
            sure=not r.doubtful())


def flows_of(ctx, name, n, queue, drop, fair=0.95, util=0.93, ping_ms=None, smallest=None, more=()):
    t = ctx.seconds + 1
    flows = [bulk(i + 1, t) for i in range(n)] + [ping(ctx.seconds - 1.5, 1.5)]
    r = run(ctx, name, line(queue, "1gbit", "25ms", n, *more), flows, ctx.seconds)
    bars(ctx, r, drop, fair, util, smallest)
    delays(ctx, r, ping_ms)


def fair(n, bdp, drop, ping_ms=None):
    return lambda ctx, name: flows_of(ctx, name, n, "%gbdp" % bdp, drop, ping_ms=ping_ms)


def metro(n, ms, drop):
    """Tens to hundreds of km, and a buffer that is shorter than the queue that any of them would keep."""
    def case(ctx, name):
        r = run(ctx, name, line("0.1bdp", "1gbit", "%gms" % ms, n), [bulk(i + 1, ctx.seconds + 1) for i in range(n)],
                ctx.seconds)
        bars(ctx, r, drop, 0.8, 0.9)
    return case


def three(bdp, drop):
    return lambda ctx, name: flows_of(ctx, name, 3, "%gbdp" % bdp, drop, None, None, None, 25)


def alone(bdp, drop):
    return lambda ctx, name: flows_of(ctx, name, 1, "%gbdp" % bdp, drop, None, 0.95)


def weather(loss, share):
    """Of the line that is there: what is lost has used it, so that delivered / (1 - loss) is what counts."""
    def case(ctx, name):
        r = run(ctx, name, line("1bdp", "1gbit", "25ms", 1, "--loss", loss), [bulk(1, ctx.seconds + 1)], ctx.seconds)
        begin, end = steady(ctx, r)
        ctx.bar("utilisation, lost packets counted", r.rate("ab", begin, end) / RATE / (1 - share), least=0.95,
                form="%.3f", sure=not r.doubtful(), note=note_goodput(r))
        ctx.bar("dropped by the queue, %", 100 * r.drop(), sure=not r.doubtful())
    return case


def both(bdp, drop):
    return lambda ctx, name: flows_of(ctx, name, 2, "%gbdp" % bdp, drop, None, None, more=("--loss", "1e-2"))


def late_comer(ctx, name):
    t = ctx.seconds + 1
    flows = [bulk(1, t + 5), bulk(2, t, start=5)]
    r = run(ctx, name, line("1bdp", "1gbit", "25ms", 2), flows, ctx.seconds + 5)
    begin = r.first("a2>b2", 20000)
    ctx.bar("seconds to 40 % of the rate", r.reaches("a2>b2", 0.4 * RATE, begin, 0.5), most=3, form="%.2f",
            sure=not r.doubtful())


def against(cc, bdp, least, most):
    def case(ctx, name):
        t = ctx.seconds + 1
        flows = [bulk(1, t), tcp(2, cc, t), ping(ctx.seconds - 1.5, 1.5)]
        r = run(ctx, name, line("%gbdp" % bdp, "1gbit", "25ms", 2), flows, ctx.seconds)
        begin, end = steady(ctx, r)
        x = r.rates(begin, end)
        ctx.bar("share of sdr beside one %s, %%" % cc, 100 * x[0] / sum(x), least=least, most=most, form="%.0f",
                sure=not r.doubtful(), note=" of %.2f Gbit/s" % (sum(x) / 1e9))
        ctx.bar("dropped by the queue, %", 100 * r.drop(), sure=not r.doubtful())
        delays(ctx, r)
    return case


def cubic_left(ctx, name):
    """What sdr leaves one CUBIC flow at 0.1 BDP, against what BBR leaves it."""
    t = ctx.seconds + 1
    left = []
    for i, first in enumerate((bulk(1, t), tcp(1, "bbr", t))):
        r = run(ctx, "%s-%d" % (name, i), line("0.1bdp", "1gbit", "25ms", 2), [first, tcp(2, "cubic", t)], ctx.seconds)
        begin, end = steady(ctx, r)
        left.append(r.rate("a2>b2", begin, end))
    ctx.bar("CUBIC beside sdr over CUBIC beside BBR", left[0] / max(left[1], 1), least=2, form="%.2f",
            sure=not r.doubtful(), note=" (%.0f, %.0f Mbit/s)" % (left[0] / 1e6, left[1] / 1e6))


def kernel(ccs, bdp):
    """No sdr: how the kernel's own share a line, to hold the rest (and the simulator's rivals) against."""
    def case(ctx, name):
        t = ctx.seconds + 1
        flows = [tcp(i + 1, cc, t) for i, cc in enumerate(ccs)] + [ping(ctx.seconds - 1.5, 1.5)]
        r = run(ctx, name, line("%gbdp" % bdp, "1gbit", "25ms", len(ccs)), flows, ctx.seconds)
        begin, end = steady(ctx, r)
        x = r.rates(begin, end)
        for cc, v in zip(ccs, x):
            ctx.bar("%s, Mbit/s" % cc, v / 1e6, form="%.0f", sure=not r.doubtful())
        ctx.bar("dropped by the queue, %", 100 * r.drop(), sure=not r.doubtful())
        ctx.bar("utilisation", sum(x) / RATE, form="%.3f", sure=not r.doubtful())
        delays(ctx, r)
    return case


def incast(n, size):
    def case(ctx, name):
        flows = [dict(bulk(i + 1, ctx.seconds + 1), to="b1") for i in range(n)]
        o = ["--rate", "1gbit", "--rtt", "0.2ms", "--queue", size, "--hosts", "%d:1" % n]
        bars(ctx, run(ctx, name, o, flows, ctx.seconds), 2, 0.9, 0.9)
        flows = [dict(tcp(i + 1, "cubic", ctx.seconds + 1), to="b1") for i in range(n)]
        r = run(ctx, name + "-tcp", o, flows, ctx.seconds)
        ctx.bar("dropped by the queue, of the kernel's TCP, %", 100 * r.drop(), sure=not r.doubtful())
    return case


def shaper(ctx, name):
    r = run(ctx, name, line("64k", "300mbit", "0", 1), [bulk(1, ctx.seconds + 1)], ctx.seconds)
    bars(ctx, r, 0.5, rate=3e8)


def slow(ctx, name):
    flows = [sdr(1, ["-s", "256k", "-Q", "8", "-D", "6"])]
    r = run(ctx, name, line("1bdp", "10mbit", "40ms", 1), flows, 5.3)
    ctx.bar("dropped by the queue in the first 5 s, %", 100 * r.drop(), most=2, sure=not r.doubtful())


def change(factor):
    def case(ctx, name):
        at = 6.0
        first, then = (RATE, RATE * factor) if factor < 1 else (RATE / factor, RATE)
        o = line("1bdp", "%dmbit" % (first / 1e6), "25ms", 1, "--at", "%gs:rate=%dmbit" % (at, then / 1e6))
        r = run(ctx, name, o, [bulk(1, 10)], 11)
        took = r.reaches("a1>b1", 0.9 * then, at, 0.1)
        if factor < 1:  # the line never carries more: from when on it carries no less
            took = r.reaches("a1>b1", 0.9 * then, at, 0.3)
        ctx.bar("seconds to 90 % of the new rate", took, most=1, form="%.2f", sure=not r.doubtful())
        ctx.bar("dropped by the queue, %", 100 * r.drop(), most=1, sure=not r.doubtful())
    return case


def marks(ctx, name):
    flows = [bulk(1, ctx.seconds + 1), bulk(2, ctx.seconds + 1), ping(ctx.seconds - 1.5, 1.5)]
    r = run(ctx, name, line("4bdp", "1gbit", "25ms", 2, "--aqm", "step:1ms"), flows, ctx.seconds)
    bars(ctx, r, 0)
    ctx.bar("marked, %", 100 * r.direction()["marks"] / max(1, r.direction()["in_packets"]), sure=not r.doubtful())
    delays(ctx, r, 3)


def stats(r, i=0):
    with open("%s.stats.%d" % (r.plan["out"], i)) as f:
        return [s for s in map(json.loads, f) if s.get("peer") == "total"][-1]


def parity(ctx, name):
    flows = [bulk(1, ctx.seconds + 1), bulk(2, ctx.seconds + 1)]
    r = run(ctx, name, line("0.1bdp", "1gbit", "25ms", 2), flows, ctx.seconds)
    s = [stats(r, i) for i in range(2)]
    ctx.bar("parity of packets sent (start included), %",
            100 * sum(x["parity_tx"] for x in s) / max(1, sum(x["pkts_tx"] for x in s)), most=0.1,
            sure=not r.doubtful())


def timed(ctx, name, perf, more):
    """Seconds of each message but the first, whose path is cold, and of that one."""
    path = os.path.abspath(os.path.join(ctx.dir, name + ".csv"))
    r = run(ctx, name, line("1bdp", "1gbit", "25ms", 1, *more), [sdr(1, perf + ["--times", path])], 600)
    with open(path) as f:
        t = [float(row.split(",")[3]) for row in list(f)[1:]]
    return r, t[1:], t[0]


def warm(size, loss, n):
    """Writes one at a time (mean), and messages with their answers (p99), over what is ideal."""
    def case(ctx, name):
        more = ("--loss", loss) if loss != "0" else ()
        count = max(20, n // 4) if ctx.seconds < 10 else n
        count = max(count, 120) if size != "128m" else count
        ideal = RTT + SIZES[size] * 8 / RATE
        r, t, first = timed(ctx, name + "-mean", ["-s", size, "-Q", "1", "-n", str(count)], more)
        ctx.bar("mean over RTT + S/B", sum(t) / len(t) / ideal, most=1.04, form="%.3f", sure=not r.doubtful(),
                note=" (first %.3f)" % (first / ideal))
        ideal = RTT + 2 * SIZES[size] * 8 / RATE
        r, t, first = timed(ctx, name + "-p99", ["--op", "lat", "-s", size, "-n", str(count)], more)
        ctx.bar("p99 of message and answer over the ideal", sorted(t)[math.ceil(0.99 * len(t)) - 1] / ideal,
                most=1.10, form="%.3f", sure=not r.doubtful(), note=" (first %.3f)" % (first / ideal))
    return case


def cold(size, most):
    def case(ctx, name):
        r = run(ctx, name, line("1bdp", "1gbit", "25ms", 1), [sdr(1, ["-s", size, "-Q", "1", "-n", "1"])], 60)
        got = r.flows["flows"][0]["said"]["results"][0]
        ctx.bar("over RTT + S/B", got["seconds"] / (RTT + SIZES[size] * 8 / RATE), most=most, form="%.2f",
                sure=not r.doubtful())
        ctx.bar("dropped by the queue, %", 100 * r.drop(), most=0.05, sure=not r.doubtful())
    return case


def sparse(ctx, name):
    flows = [sdr(1, ["--op", "lat", "-s", "64k", "-D", "%g" % (2 * ctx.seconds)])]
    r = run(ctx, name, line("1bdp", "1gbit", "25ms", 1, "--loss", "ge:1e-2:8"), flows, 2 * ctx.seconds + 1)
    got = r.flows["flows"][0]["said"]["results"][0]
    ctx.bar("longest message and answer, RTTs", 2e-6 * got["lat_max_us"] / RTT, most=12, form="%.1f",
            sure=not r.doubtful())


def cold_known(size, most):
    """The first message of a process whose cache has the path from one before."""
    def case(ctx, name):
        env = {"FI_SDR_CACHE": os.path.join(ctx.dir, name + ".cache")}
        first = bulk(1, 3, env=env)
        then = sdr(1, ["-s", size, "-Q", "1", "-n", "1"], env=env, start=6)
        then["port"] += 2
        r = run(ctx, name, line("1bdp", "1gbit", "25ms", 1), [first, then], 60)
        got = r.flows["flows"][1]["said"]["results"][0]
        ctx.bar("over RTT + S/B", got["seconds"] / (RTT + SIZES[size] * 8 / RATE), most=most, form="%.2f",
                sure=not r.doubtful())
    return case


def cpu(ctx, name):
    n = 8 if ctx.seconds >= 10 else 4
    r = run(ctx, name, line("1bdp", "1gbit", "25ms", 1), [sdr(1, ["-s", "128m", "-Q", "2", "-n", str(n)])], 60)
    gb = n * SIZES["128m"] / 1e9
    got = r.flows["flows"][0]["said"]["results"][0]
    ctx.bar("sender, CPU-seconds a GB", got["cpu_s"] / gb, most=0.35, sure=not r.doubtful())
    ctx.bar("receiver, CPU-seconds a GB", got["peer_cpu_s"] / gb, most=0.35, sure=not r.doubtful())
    whole = r.flows["flows"][0]["cpu_s"] / gb, r.flows["server_cpu_s"][0] / gb
    ctx.bar("... with start and end of the processes: sender", whole[0])
    ctx.bar("... and receiver", whole[1])
    r = run(ctx, name + "-tcp", line("1bdp", "1gbit", "25ms", 1), [tcp(1, "bbr", ctx.seconds)], 60)
    gb = r.flows["flows"][0]["said"]["bytes"] / 1e9
    ctx.bar("the kernel's TCP on the same path: sender", r.flows["flows"][0]["cpu_s"] / gb)
    ctx.bar("... and receiver", r.flows["server_cpu_s"][0] / gb)


def mpi(ctx, name):
    """All-to-all of 4 + 4 ranks, 1 MiB to each."""
    if not shutil.which("mpicc.openmpi") or not shutil.which("mpirun.openmpi"):
        ctx.row("skipped: Open MPI is missing", "", "", "-")
        return
    program, out = os.path.join(ctx.dir, "alltoall"), os.path.join(ctx.dir, name)
    subprocess.run(["mpicc.openmpi", "-std=gnu11", "-O1", "-o", program, os.path.join(HERE, "alltoall.c")], check=True)
    said = emulate(ctx, out, line("0.25bdp") + ["--limit", "300s"],
                   [os.path.join(HERE, "mpi.sh"), os.path.join(ctx.build, "sdr_wan"), program, ctx.dir,
                    str(SIZES["1m"]), str(5 if ctx.seconds < 10 else 15)])
    took = {w[0]: float(w[1]) for w in map(str.split, said.splitlines()) if len(w) == 2}
    if len(took) != 3:
        raise Failed("mpirun: " + said.replace("\n", "; "))
    for other in ("bbr", "cubic"):
        ctx.bar("time over that of %s" % other, took["sdr"] / took[other], most=0.8, form="%.2f",
                note=" (%.0f, %.0f ms)" % (1e3 * took["sdr"], 1e3 * took[other]))
    with open(out + ".json") as f:
        phases = {p["name"]: p["directions"] for p in json.load(f)["phases"]}
    for how in ("sdr", "bbr", "cubic"):
        ctx.bar("dropped by the queue, %s, %%" % how, 100 * max(d["drop_share"] for d in phases[how]),
                most=1 if how == "sdr" else None)


CASES = []  # name, whether it is quick, function


def add(name, fn, quick=True):
    CASES.append((name, quick, fn))


for bdp, drop, ping_ms in ((0.1, 2, None), (0.5, 1, None), (1, 0.5, 6), (4, 0.1, 6)):
    add("fair-2-%g" % bdp, fair(2, bdp, drop, ping_ms))
    add("fair-4-%g" % bdp, fair(4, bdp, drop, ping_ms), False)
for n, ms, drop in ((2, 4, 1), (4, 4, 3), (4, 8, 2)):
    add("metro-%d-%gms" % (n, ms), metro(n, ms, drop), n == 4 and ms == 4)
for bdp, drop in ((0.25, 2), (1, 0.5)):
    add("three-%g" % bdp, three(bdp, drop))
add("late-comer", late_comer)
for bdp in (0.1, 1):
    add("bbr-%g" % bdp, against("bbr", bdp, 35, 60))
for bdp in (1, 4):
    add("cubic-%g" % bdp, against("cubic", bdp, 35, 65))
add("cubic-0.1", cubic_left)
for bdp, drop in ((1, 0.05), (0.1, 0.5)):
    add("alone-%g" % bdp, alone(bdp, drop))
for loss in ("1e-3", "1e-2", "3e-2", "5e-2"):
    add("weather-" + loss, weather(loss, float(loss)))
add("weather-burst", weather("ge:1e-2:8", 1e-2))
for bdp, drop in ((0.1, 3), (1, 1)):
    add("both-%g" % bdp, both(bdp, drop))
for n in (3, 8):
    for size in ("64k", "128k", "512k"):
        add("incast-%d-%s" % (n, size), incast(n, size), size == "128k")
add("shaper", shaper)
add("slow", slow)
add("halves", change(0.5))
add("doubles", change(2))
add("marks", marks)
add("parity", parity)
add("cold-1m", cold("1m", 1.6))
add("cold-16m", cold("16m", 1.25))
for size, count in (("64k", 400), ("1m", 200), ("16m", 120), ("128m", 8)):
    for loss in ("0", "1e-3", "1e-2"):
        add("warm-%s-%s" % (size, loss), warm(size, loss, count), size == "1m")
add("warm-1m-1e-4", warm("1m", "1e-4", 400), False)
add("known-1m", cold_known("1m", 1.10))
add("known-16m", cold_known("16m", 1.05))
add("sparse", sparse)
add("cpu", cpu)
add("mpi", mpi)
for bdp in (0.1, 1, 4):
    for ccs in (("bbr", "bbr"), ("cubic", "cubic"), ("bbr", "cubic")):
        add("kernel-%s-%s-%g" % (ccs + (bdp,)), kernel(ccs, bdp), False)
    add("kernel-cubic+pace-cubic+pace-%g" % bdp, kernel(("cubic+pace", "cubic+pace"), bdp), False)
