# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""The cases of compare-paths.sh: hosts with several paths between them.

A path is a line of its own, with interfaces of its own at both hosts; MTU 9000, and a queue of a BDP at
25 ms.  An outage is of both directions, by the clock of the flows.  What was delivered is told by the
emulator, path by path.
"""
import csv
import os
import statistics

from wan import Failed, emulate, run, sdr, tcp

RTT = 0.025
BIG = ["-s", "64m", "-Q", "4"]
SETTLE = 1.0  # seconds after a change, before what counts


class Path:
    def __init__(self, rate=250e6, rtt=RTT, loss=0.0, dead=None):
        self.rate, self.rtt, self.loss, self.dead = rate, rtt, loss, dead

    def carries(self, begin, end):
        """Bits that it can deliver between the two times."""
        n = end - begin
        if self.dead:
            n -= max(0, min(end, self.dead[1]) - max(begin, self.dead[0]))
        return self.rate * (1 - self.loss) * n


FOUR = [Path(loss=0.01), Path(loss=0.01), Path(rtt=0.040), Path(dead=(3, 8))]


def options(paths):
    o = ["--rate", "250mbit", "--rtt", "25ms", "--queue", "1bdp", "--paths", "%d" % len(paths), "--multihomed"]
    for i, p in enumerate(paths):
        o += ["--set", "/%d:rate=%.0f,rtt=%gms,loss=%g" % (i + 1, p.rate, 1e3 * p.rtt, p.loss)]
    return o


def outages(paths):
    return [(at, "/%d:link=%s" % (i + 1, how)) for i, p in enumerate(paths) if p.dead
            for at, how in zip(p.dead, ("down", "up"))]


def env(ctx, n, ifaces=True):
    e = {"FI_SDR_PATHS": "%d" % n} if not ctx.single else {}
    if ifaces:
        e["FI_SDR_IFACE"] = ",".join("wan%d" % i for i in range(n))
    return e


def start(r):
    """When something worth it was first delivered, by the clock of the emulator."""
    return r.first("ab", 20000)


def of_what_lives(r, paths, begin, end):
    """Times of the flows' clock, which that of the outages is."""
    lives = sum(p.carries(begin, end) for p in paths)
    return r.rate("ab", r.begin + begin, r.begin + end) * (end - begin) / lives


def could(paths):
    """Bits per second of all of them."""
    return sum(p.rate * (1 - p.loss) for p in paths)


def over_time(ctx, r, paths, end):
    """A row for each second: what was delivered, what could be, and path by path."""
    for t in range(int(end)):
        each = [r.rate("ab/%d" % (i + 1), r.begin + t, r.begin + t + 1) / 1e6 for i in range(len(paths))]
        lives = sum(p.carries(t, t + 1) for p in paths) / 1e6
        ctx.row("  second %2d to %2d, Mbit/s" % (t, t + 1), "", "%.0f of %.0f: %s" % (
            sum(each), lives, " ".join("%.0f" % x for x in each)), "-")


def four(ctx, name):
    """64 MiB messages, four at a time, over four paths of which one dies and comes back."""
    end = 12
    flows = [sdr(1, BIG + ["-D", "%d" % (end + 1)], env=env(ctx, 4))]
    r = run(ctx, name, options(FOUR), flows, end, outages(FOUR))
    sure = not r.doubtful()
    first = start(r) - r.begin
    over_time(ctx, r, FOUR, end)
    for what, begin, until in (("before the outage", first + SETTLE, 3), ("in it", 3 + SETTLE, 8), ("behind it", 8 + SETTLE, end)):
        ctx.bar("of what lives, %s" % what, of_what_lives(r, FOUR, begin, until), least=0.9, form="%.3f", sure=sure)
    ctx.bar("seconds from the first packet to 0.9 of all", r.reaches("ab", 0.9 * could(FOUR), start(r), 0.25), form="%.2f",
            sure=sure)
    back = r.reaches("ab/4", 0.5 * FOUR[3].rate, r.begin + 8, 0.25)
    ctx.bar("seconds until the path is in use again", back, most=2, form="%.2f", sure=sure)
    said = r.flows["flows"][0]["said"]["results"][0]
    lived = sum(p.carries(first, first + said["seconds"]) for p in FOUR)
    ctx.bar("goodput of all of it, of what lives", said["bw_avg_Gbps"] * 1e9 * said["seconds"] / lived, least=0.9, form="%.3f",
            sure=sure, note=" (%.0f Mbit/s)" % (1e3 * said["bw_avg_Gbps"]))
    ctx.bar("dropped by the queues, %", 100 * r.drop(), sure=sure)


def messages(ctx, name):
    """The same, one message at a time, each timed for itself.

    A message is compared with those that had the same paths.  One that any of the outage fell into counts to those
    with three paths, also where it could use the fourth for a part of its time.  The first, in which a connection
    finds out what its paths carry, stands for itself.
    """
    end, file = 14, os.path.join(ctx.dir, name + ".times")
    flows = [sdr(1, ["--op", "send", "-s", "64m", "-Q", "1", "-D", "%d" % end, "--times", file], env=env(ctx, 4))]
    r = run(ctx, name, options(FOUR), flows, end, outages(FOUR))
    sure = not r.doubtful()
    with open(file) as f:
        rows = [(float(m["begin_s"]) - r.flows["begin_s"], float(m["seconds"])) for m in csv.DictReader(f)]
    dead = [p.dead for p in FOUR if p.dead][0]
    three = [t for b, t in rows[1:] if b < dead[1] and b + t > dead[0]]
    every = [t for b, t in rows[1:] if b >= dead[1] or b + t <= dead[0]]
    for what, times, paths in (("four", every, FOUR), ("three", three, [p for p in FOUR if not p.dead])):
        mid, ideal = statistics.median(times), RTT + 8 * (64 << 20) / could(paths)
        ctx.bar("a message by %s paths, median, over the ideal" % what, mid / ideal, form="%.2f", sure=sure,
                note=" (%.0f ms; %d of them)" % (1e3 * mid, len(times)))
        ctx.bar("the longest of these over the median", max(times) / mid, most=1.3, form="%.2f", sure=sure,
                note=" (%.0f ms)" % (1e3 * max(times)))
    ctx.bar("the first over the median", rows[0][1] / statistics.median(every), form="%.2f", sure=sure,
            note=" (%.0f ms)" % (1e3 * rows[0][1]))


def rounds(ctx, name):
    """The same, one message and its answer at a time."""
    end = 12
    flows = [sdr(1, ["--op", "lat", "-s", "64m", "-D", "%d" % end], env=env(ctx, 4))]
    r = run(ctx, name, options(FOUR), flows, end, outages(FOUR))
    got = r.flows["flows"][0]["said"]["results"][0]
    sure = not r.doubtful()
    ideal = RTT / 2 + 8 * (64 << 20) / could(FOUR)
    ctx.bar("half of message and answer, median, over the ideal", got["lat_median_us"] * 1e-6 / ideal, form="%.2f",
            sure=sure, note=" (%.0f ms)" % (1e-3 * got["lat_median_us"]))
    ctx.bar("the longest over the median", got["lat_max_us"] / got["lat_median_us"], most=2, form="%.2f", sure=sure,
            note=" (%.0f ms)" % (1e-3 * got["lat_max_us"]))


def why_no_mptcp(ctx, name):
    """A sentence, where the kernel does not have it, or not here."""
    try:
        emulate(ctx, os.path.join(ctx.dir, name + "-mptcp-try"), ["--limit", "10s"],
                [os.path.join(ctx.build, "sdr_wan"), "exec", "a", "sh", "-c",
                 "[ \"$(cat /proc/sys/net/mptcp/enabled)\" = 1 ] && ip mptcp limits set subflows 4 add_addr_accepted 4"])
    except Failed as e:
        return "the kernel's MPTCP cannot be had here (net.mptcp.enabled, ip mptcp): %s" % e
    return None


def two(paths):
    """Two paths, beside the kernel's MPTCP on the same ones."""
    def case(ctx, name):
        end = ctx.seconds if not any(p.dead for p in paths) else 12
        ways = [("sdr", [sdr(1, BIG + ["-D", "%g" % (end + 1)], env=env(ctx, 2))])]
        why = why_no_mptcp(ctx, name)
        if why:
            ctx.row(why, "", "", "-")
        else:
            ways += [("MPTCP, " + cc, [tcp(1, "mptcp-" + cc, end + 1)]) for cc in ("bbr", "cubic")]
        for what, flows in ways:
            r = run(ctx, "%s-%s" % (name, what.replace(", ", "-")), options(paths), flows, end, outages(paths))
            got = of_what_lives(r, paths, SETTLE, end)
            each = [r.rate("ab/%d" % (i + 1), r.begin + SETTLE, r.begin + end) / 1e6 for i in range(2)]
            ctx.bar("of what lives, " + what, got, least=0.9 if what == "sdr" else None, form="%.3f",
                    sure=not r.doubtful(), note=" (%.0f + %.0f Mbit/s)" % tuple(each))
    return case


def bottleneck(n):
    """n paths that are one line, beside one TCP BBR; and one path there, to compare with."""
    def case(ctx, name):
        t = ctx.seconds + 1
        for k in (n, 1):
            flows = [sdr(1, ["-s", "8m", "-Q", "8", "-D", "%g" % t], env=env(ctx, k, False)), tcp(2, "bbr", t)]
            r = run(ctx, "%s-%d" % (name, k), ["--rate", "1gbit", "--rtt", "25ms", "--queue", "1bdp", "--hosts", "2:2"], flows,
                    ctx.seconds)
            begin = r.started() + SETTLE
            x = r.rates(begin, begin + ctx.seconds - SETTLE)
            sure = not r.doubtful()
            what = "%d path%s" % (k, "s" if k > 1 else "")
            ctx.bar("share of %s beside one bbr, %%" % what, 100 * x[0] / sum(x), least=35 if k > 1 else None,
                    most=60 if k > 1 else None, form="%.0f", sure=sure, note=" of %.2f Gbit/s" % (sum(x) / 1e9))
            ctx.bar("dropped by the queue, %", 100 * r.drop(), sure=sure)
    return case


CASES = [  # name, whether it is quick, function
    ("four", True, four),
    ("four-messages", True, messages),
    ("four-rounds", False, rounds),
    ("two", True, two([Path(), Path(rtt=0.040)])),
    ("two-loss", False, two([Path(), Path(loss=0.01)])),
    ("two-outage", False, two([Path(), Path(dead=(3, 8))])),
    ("entropy-16", True, bottleneck(16)),
    ("entropy-4", False, bottleneck(4)),
]
