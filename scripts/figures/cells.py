# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""Cells: one transfer (or collective) of one scheme over one link, computed by the model or run by the real code.

Everything that a figure shows of a protocol comes through here.  The model is run in batches (sdr_model predict
--batch), the real code one process a cell (sdr_sim), as many at a time as there are jobs.  A cell that two figures
want is run once, with the larger number of runs.
"""
import csv
import dataclasses
import io
import math
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
COLUMNS = "id,scheme,bandwidth_bps,rtt_s,rto_rtts,beta,p_packet,mtu_bytes,chunk_bytes,msg_bytes,k,m,n_dc".split(",")


class Trouble(Exception):
    """Something that the user has to know; ends the run."""


@dataclasses.dataclass(frozen=True)
class Cell:
    scheme: str
    size: int
    p: float
    rate: float = 400e9
    rtt: float = 25e-3
    k: int = 32
    m: int = 8
    n_dc: int = 0  # > 0: a ring allreduce among so many, of a buffer of size bytes
    both: bool = False  # acknowledgements are lost as well; the model knows nothing of that

    @property
    def packets(self):
        """Those that enter the links in one run, about."""
        n = -(-self.size // 4096)
        if self.n_dc:
            n = -(-n // self.n_dc) * (2 * self.n_dc - 2) * self.n_dc
        return n * (1 + self.m / self.k) if self.scheme.startswith("ec") else n * 1.05


# How the model is to read a cell.
#   paper  its formulas with a packet of 4 KiB as chunk: the reading that gives the paper's numbers
#   code   what this library does: packets of 4 KiB lost and sent again one by one, chunks of 64 KiB, every row of
#          packets of a submessage is a codeword, a failed one costs only what is missing, no fallback timeout
READINGS = {
    "paper": dict(chunk=4096, beta=1.0, flags=[]),
    "paper8k": dict(chunk=8192, beta=1.0, flags=[]),
    "ours": dict(chunk=65536, beta=0.0, flags=["--objective", "p999"]),
    "code": dict(chunk=65536, beta=0.0, flags=["--unit", "packet", "--decode", "row", "--resend", "missing"]),
}
NEEDS_K = ("ec_mds", "ec_xor")


def run_tool(argv, what):
    r = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if r.returncode != 0:
        raise Trouble("%s failed (exit status %d): %s\n%s"
                      % (what, r.returncode, " ".join(argv), r.stderr.strip()[-1500:]))
    return r.stdout


def rows_of(text, what):
    rows = list(csv.DictReader(io.StringIO(text)))
    if not rows:
        raise Trouble("%s wrote no row" % what)
    return rows


def floats(row, what):
    out = {}
    for name, v in row.items():
        try:
            out[name] = float(v)
        except (TypeError, ValueError):
            out[name] = v
    for name in ("mean_s", "p50_s", "p99_s", "p999_s", "ideal_s"):
        if not isinstance(out.get(name), float) or not 0 < out[name] < math.inf:
            raise Trouble("%s says %s = %r for %s" % (what, name, out.get(name), row))
    return out


class Model:
    def __init__(self, build, samples):
        self.tool = os.path.join(build, "sdr_model")
        self.samples = samples  # of a collective, which has no closed form
        self.memo = {}

    def predict(self, cells, reading="paper", quantiles=()):
        """cell -> its row (numbers as float; those of the quantiles in "q").  reading: a name in READINGS, or "
        "the bytes
        of a chunk."""
        cells = list(dict.fromkeys(cells))
        todo = [c for c in cells if (c, reading, quantiles) not in self.memo]
        if todo:
            self._ask(todo, reading, quantiles)
        return {c: self.memo[c, reading, quantiles] for c in cells}

    def _ask(self, cells, reading, quantiles):
        how = READINGS[reading] if reading in READINGS else dict(chunk=reading, beta=1.0, flags=[])
        with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="") as f:
            w = csv.writer(f)
            w.writerow(COLUMNS)
            for i, c in enumerate(cells):
                ec = c.scheme in NEEDS_K
                w.writerow(["c%d" % i, ("allreduce_" if c.n_dc else "") + c.scheme, repr(c.rate), repr(c.rtt), 0,
                            how["beta"], repr(c.p), 4096, how["chunk"], c.size, c.k if ec else 0, c.m if ec else 0,
                            c.n_dc])
            f.flush()
            argv = [self.tool, "predict", "--batch", f.name, "--format", "csv"] + how["flags"]
            for q in quantiles:
                argv += ["--quantile", "%.12g" % q]
            if any(c.n_dc for c in cells):
                argv += ["--samples", str(self.samples)]
            rows = rows_of(run_tool(argv, "the model"), "sdr_model")
        if len(rows) != len(cells):
            raise Trouble("sdr_model answered %d rows for %d" % (len(rows), len(cells)))
        for c, row in zip(cells, rows):
            r = floats(row, "sdr_model")
            r["q"] = [r["q%.12g_s" % q] for q in quantiles]
            self.memo[c, reading, quantiles] = r


class Sim:
    def __init__(self, build, seed, jobs):
        self.tool = os.path.join(build, "sdr_sim")
        self.seed, self.jobs = seed, jobs
        self.memo = {}

    def argv(self, c, runs):
        a = [self.tool, "allreduce" if c.n_dc else "message", "--scheme", c.scheme, "--bandwidth", "%.17g" % c.rate,
             "--rtt", "%.17g" % c.rtt, "--drop-packet", "%.17g" % c.p, "--mtu", "4096", "--chunk", "65536",
             "--size", str(c.size), "--runs", str(runs), "--seed", str(self.seed), "--jobs", "1", "--format", "csv"]
        if c.scheme in NEEDS_K:
            a += ["--k", str(c.k), "--m", str(c.m), "--decode", "row"]
        if c.n_dc:
            a += ["--nodes", str(c.n_dc)]
        if c.scheme == "auto":
            a += ["--objective", "p999"]
        if c.both:
            a += ["--reverse-loss", "same"]
        return a

    def _one(self, c, runs):
        row = floats(rows_of(run_tool(self.argv(c, runs), "the simulator"), "sdr_sim")[-1], "sdr_sim")
        row["runs"] = runs
        return row

    def run(self, wants):
        """wants: cell -> runs.  Returns cell -> its row, and how many were run; says now and then how far it is."""
        todo = [(c, n) for c, n in wants.items() if c not in self.memo or self.memo[c]["runs"] < n]
        todo.sort(key=lambda t: -t[0].packets * t[1])  # the longest first, so that all end together
        total = sum(c.packets * n for c, n in todo) or 1
        done, ended, start = 0, 0, time.monotonic()
        tty, said = sys.stdout.isatty(), start
        with ThreadPoolExecutor(self.jobs) as pool:
            jobs = {pool.submit(self._one, c, n): (c, n) for c, n in todo}
            try:
                for j in as_completed(jobs):
                    c, n = jobs[j]
                    self.memo[c] = j.result()
                    done += c.packets * n
                    ended += 1
                    now = time.monotonic()
                    if tty or now - said > 60:
                        print("%s         real code: %d of %d cells, %.0f %% of the packets, %.0f s" % (
                            "\r" if tty else "", ended, len(todo), 100 * done / total, now - start),
                            end=" " if tty else "\n", flush=True)
                        said = now
            except BaseException:
                for j in jobs:
                    j.cancel()
                raise
        if todo and tty:
            print("\r%76s\r" % "", end="", flush=True)
        return {c: self.memo[c] for c in wants}, len(todo)


def size_text(n):
    for unit, name in ((1 << 40, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if n >= unit:
            return "%g %s" % (n / unit, name)
    return "%d B" % n


def half_decades(lo, hi):
    """1e-6, 3.16e-6, 1e-5, ...: exponents lo to hi by a half."""
    return [10.0 ** (e / 2) for e in range(2 * lo, 2 * hi + 1)]


def decades(lo, hi):
    return [10.0 ** e for e in range(lo, hi + 1)]
