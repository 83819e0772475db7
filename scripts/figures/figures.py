# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""Draws the figures that scripts/figures.sh wants; that script checks and builds, this one runs."""
import argparse
import os
import signal
import sys
import time

sys.dont_write_bytecode = True

from agreement import agreement
from cells import Model, Sim, Trouble
from collectives import allreduce
from draw import copy_to_docs, draw, write_index
from grids import heatmap, ours
from machine import chunk, encode, receive
from sdk import sdk_chunk, sdk_rate, sdk_size
from transfers import motivation, rows, rtt_bandwidth

FIGURES = {
    "motivation": (motivation, "what losses cost, by size, distance and drop rate: model and real code"),
    "heatmap": (heatmap, "speed-up of EC over SR, size x drop rate, mean and p99.9: model and real code"),
    "lines": (rows, "the 128 MiB row and the 1e-5 column: model and real code"),
    "rtt_bandwidth": (rtt_bandwidth, "round trip and bandwidth: model and real code"),
    "allreduce": (allreduce, "ring allreduce, p99.9 speed-up: model and real code"),
    "chunk": (chunk, "size of a chunk: its drop probability, and the receive worker's rate measured here"),
    "encode": (encode, "XOR and MDS encoding, measured here"),
    "receive": (receive, "packets per second of the receive worker, measured here"),
    "sdk_size": (sdk_size, "the SDK by itself by message size and by workers, and reposting, measured here"),
    "sdk_chunk": (sdk_chunk, "the SDK by itself by the size of a chunk, measured here"),
    "sdk_rate": (sdk_rate, "packets of 64 bytes per second through the SDK by workers, measured here"),
    "ours": (ours, "hybrid and auto over ideal, size x drop rate: model and real code"),
    "agreement": (agreement, "real code over model, and the cells where they differ"),
}
DOCS = ("motivation", "heatmap", "ours")


class Context:
    def __init__(self, a):
        self.quick, self.build, self.seed = a.quick, a.build, a.seed
        self.model = Model(a.build, 20000 if a.quick else 100000)
        self.sim = Sim(a.build, a.seed, a.jobs)
        self.kept = {}
        self.cells = 0

    def simulate(self, wants):
        got, ran = self.sim.run(wants)
        self.cells += ran
        return got

    def once(self, key, fn):
        if key not in self.kept:
            self.kept[key] = fn()
        return self.kept[key]


HOW = ("Made by scripts/figures.sh. Lines and left panels: the model (sdr_model). Points and right panels: the real "
       "transport in virtual time (sdr_sim). What a caption calls measured here: on the machine that it names. Beside "
       "every figure lies the CSV that it was drawn from.")
QUICK = " Short form (--quick), with few transfers a point: look at the tendency, not at the last digit."


def main():
    p = argparse.ArgumentParser(prog="figures.py")
    p.add_argument("--build", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--docs")
    p.add_argument("--only", default=",".join(FIGURES))
    p.add_argument("--jobs", type=int, required=True)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--quick", action="store_true")
    a = p.parse_args()
    a.out, a.build = os.path.abspath(a.out), os.path.abspath(a.build)
    os.makedirs(a.out, exist_ok=True)
    ctx, done, start = Context(a), [], time.monotonic()
    for name, (make, _) in FIGURES.items():
        if name not in a.only.split(","):
            continue
        t, ctx.cells = time.monotonic(), 0
        print("[%4d s] %s ..." % (t - start, name), flush=True)
        fig = make(ctx)
        fig.caption += QUICK if a.quick else ""
        draw(fig, a.out)
        done.append(fig)
        cells = ", %d cells of the real code" % ctx.cells if ctx.cells else ""
        print("[%4d s] %s: %.1f s%s" % (time.monotonic() - start, name, time.monotonic() - t, cells), flush=True)
    write_index(a.out, FIGURES, HOW)
    if a.docs:
        copy_to_docs(a.out, a.docs, [f.name for f in done if f.name in DOCS])
    print("%d figures: %s" % (len(done), os.path.join(a.out, "index.html")))


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        for n, (_, text) in FIGURES.items():
            print("%-14s %s" % (n, text))
        sys.exit(0)
    try:
        main()
    except Trouble as e:
        print("figures.py: %s" % e, file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
