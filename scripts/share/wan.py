# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""One run of sdr_wan with flows in it, and what can be said of it afterwards."""
import csv
import json
import os
import subprocess
import sys

EVERY = 0.05  # seconds, of the time series
HERE = os.path.dirname(os.path.abspath(__file__))


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def sdr(i, perf, **kw):
    """A flow of sdr from host a<i> to host b<i>, options of sdr_perf as given."""
    return dict({"kind": "sdr", "from": "a%d" % i, "to": "b%d" % i, "port": 18500 + 4 * i, "perf": perf}, **kw)


def bulk(i, seconds, **kw):
    return sdr(i, ["-s", "8m", "-Q", "8", "-D", "%g" % seconds], **kw)


def tcp(i, cc, seconds, **kw):
    return dict({"kind": cc, "from": "a%d" % i, "to": "b%d" % i, "port": 5000 + i, "seconds": seconds}, **kw)


def ping(seconds, start):
    return {"kind": "ping", "from": "a1", "to": "b1", "seconds": seconds, "start": start}


class Result:
    """begin, end: of the phase "run", seconds of the emulator's clock."""

    def __init__(self, out, plan):
        with open(out + ".json") as f:
            self.wan = json.load(f)
        with open(out + ".result") as f:
            self.flows = json.load(f)
        self.plan = plan
        self.rows = {}
        with open(out + ".series") as f:
            for r in csv.DictReader(f):
                self.rows.setdefault(r["what"], []).append((float(r["t_s"]), float(r["bytes"]), int(r["drops"])))
        phase = [p for p in self.wan["phases"] if p["name"] == "run"]
        self.phase = phase[0] if phase else self.wan
        self.begin = self.phase.get("begin_s", 0)
        self.late = self.wan["machine"]
        for f in self.flows["flows"]:
            if f["status"]:
                raise Failed((f["err"] or f["out"] or "a flow failed").strip().splitlines()[-1])

    def doubtful(self):
        m = self.late
        return m["lost_before"] > 0 or m["late"]["p99_s"] > 1e-3

    def direction(self, name="ab"):
        return [d for d in self.phase["directions"] if d["direction"] == name][0]

    def drop(self):
        return self.direction()["drop_share"]

    def pair(self, f):
        return "%s>%s" % (f["from"], f["to"])

    def rate(self, what, begin, end):
        """Mean bits per second that were delivered between the two times."""
        n = sum(b for t, b, _ in self.rows.get(what, []) if begin < t <= end + 1e-9)
        return 8 * n / (end - begin) if end > begin else 0

    def first(self, what, least=100000):
        """When a pair first delivered something worth it."""
        for t, b, _ in self.rows.get(what, []):
            if b >= least:
                return t - EVERY
        raise Failed("nothing came of %s" % what)

    def bulks(self):
        return [f for f in self.plan["flows"] if f["kind"] != "ping"]

    def started(self):
        """When the last of the flows had begun."""
        return max(self.first(self.pair(f), 20000) for f in self.bulks())

    def rates(self, begin, end):
        return [self.rate(self.pair(f), begin, end) for f in self.bulks()]

    def ping(self):
        for f, r in zip(self.plan["flows"], self.flows["flows"]):
            if f["kind"] == "ping":
                return r["said"]
        return None

    def reaches(self, what, least, begin, over):
        """Seconds from begin until the mean over so many reaches least; None: never."""
        rows = [(t, b) for t, b, _ in self.rows.get(what, []) if t > begin]
        n = max(1, round(over / EVERY))
        for i in range(n, len(rows) + 1):
            if 8 * sum(b for _, b in rows[i - n:i]) / (n * EVERY) >= least:
                return max(0, rows[i - 1][0] - begin)
        return None


def jain(x):
    return sum(x) ** 2 / (len(x) * sum(v * v for v in x)) if any(x) else 0


def emulate(ctx, out, options, argv):
    """Runs a command beside the hosts; what it printed."""
    p = subprocess.run([os.path.join(ctx.build, "sdr_wan")] + options + ["--json", out + ".json", "--"] + argv,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    err = p.stderr.decode().strip()
    if p.returncode == 77:
        raise Skipped(err)
    if p.returncode:
        raise Failed(err.splitlines()[-1] if err else "sdr_wan: exit status %d" % p.returncode)
    return p.stdout.decode()


def run(ctx, name, options, flows, end, changes=()):
    """Runs the flows; the phase "run" begins with the first and ends after `end` seconds.  changes: (seconds, setting)."""
    out = os.path.join(ctx.dir, name)
    wan = os.path.join(ctx.build, "sdr_wan")
    plan = {"wan": wan, "perf": os.path.join(ctx.build, "sdr_perf"), "flows": flows, "out": out,
            "phases": [(0, "run"), (end, "rest")], "changes": changes}
    with open(out + ".plan", "w") as f:
        json.dump(plan, f)
    options = options + ["--series", out + ".series", "--every", "%gs" % EVERY, "--limit", "%gs" % (end + 120)]
    emulate(ctx, out, options, [sys.executable, os.path.join(HERE, "flow.py"), out + ".plan", out + ".result"])
    return Result(out, plan)
