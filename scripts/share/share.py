# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""The table of compare-share.sh, and of compare-paths.sh: cases, bars, what was measured."""
import argparse
import collections
import math
import os
import shutil
import statistics
import sys
import tempfile

import cases
import paths
import sim
import wan

SETS = {"compare-share.sh": cases, "compare-paths.sh": paths}


class Row:
    """One thing that a case measures, in every round of it."""

    def __init__(self, what, least, most, form):
        self.what, self.least, self.most, self.form = what, least, most, form
        self.values, self.note, self.sure = [], "", True

    def must(self):
        return " ".join("%s %s" % (sign, self.form % bound)
                        for sign, bound in ((">=", self.least), ("<=", self.most)) if bound is not None)

    def told(self):
        """What was measured, and whether it is within the bar: the median of the rounds, where never is the worst."""
        never = math.inf if self.least is None else -math.inf
        values = sorted(never if v is None else v for v in self.values)
        middle = statistics.median(values)
        text = ["never" if math.isinf(v) else self.form % v for v in (middle, values[0], values[-1])]
        if len(values) > 1:
            note = " (%s .. %s)" % (text[1], text[2])
        else:
            note = "" if math.isinf(middle) else self.note
        good = (self.least is None or middle >= self.least) and (self.most is None or middle <= self.most)
        ok = "-" if not self.must() else "yes" if good else "no"
        return text[0] + note, ok + ("" if self.sure else "?")


class Context:
    """What a case may use, and where its rows go."""

    def __init__(self, args):
        self.build = args.build
        quick = 4 if args.script == "compare-share.sh" else 6
        self.seconds = args.seconds or (quick if args.quick else 10)
        self.runs = args.runs
        self.rounds = 1 if args.sim else args.rounds
        self.csv = args.csv
        self.single = args.single
        self.top = self.dir = os.path.abspath(args.keep) if args.keep else tempfile.mkdtemp()
        self.keep = bool(args.keep)
        self.bad = 0
        self.case = ""
        self.rows = {}  # those of the case, by what they measure
        self.seen = collections.Counter()  # how often, in this round

    def head(self):
        if self.csv:
            print("case,what,must,measured,ok", flush=True)
        else:
            print("%-14s %-44s %-10s %-22s %s" % ("case", "what", "must", "measured", "ok"), flush=True)

    def row(self, what, must, measured, ok):
        if ok == "no":
            self.bad += 1
        text = (self.case, what, must, measured, ok)
        if self.csv:
            print(",".join('"%s"' % t if "," in t else t for t in text), flush=True)
        else:
            print("%-14s %-44s %-10s %-22s %s" % text, flush=True)

    def bar(self, what, value, least=None, most=None, form="%.3g", sure=True, note=""):
        """A row with a bar, or without one; sure False: the machine was too slow to know; value None: it never came."""
        self.seen[what] += 1  # two flows of a kind are two rows
        row = self.rows.setdefault((what, self.seen[what]), Row(what, least, most, form))
        row.values.append(value)
        row.note = note
        row.sure = row.sure and sure

    def run(self, name, fn):
        """All rounds of a case, and then its rows."""
        self.case, self.rows = name, {}
        for i in range(self.rounds):
            if self.rounds > 1:
                self.dir = os.path.join(self.top, "round-%d" % (i + 1))
            os.makedirs(self.dir, exist_ok=True)
            self.seen.clear()
            try:
                fn(self, name)
            except wan.Failed as e:
                self.row("failed: " + str(e)[:100], "", "", "no")
        for r in self.rows.values():
            self.row(r.what, r.must(), *r.told())


def chosen(args):
    names = args.case.split(",") if args.case else None
    for name, quick, fn in SETS[args.script].CASES:
        if names is None:
            if quick or not args.quick:
                yield name, fn
        elif any(name == n or name.startswith(n) for n in names):
            yield name, fn


def main():
    p = argparse.ArgumentParser(add_help=False)
    p.add_argument("--script", default="compare-share.sh", choices=SETS)
    p.add_argument("--build")
    p.add_argument("--case")
    p.add_argument("--list", action="store_true")
    p.add_argument("--quick", action="store_true")
    p.add_argument("--sim", action="store_true")
    p.add_argument("--single", action="store_true")
    p.add_argument("--runs", type=int, default=5)
    p.add_argument("--rounds", type=int, default=1)
    p.add_argument("--seconds", type=float)
    p.add_argument("--csv", action="store_true")
    p.add_argument("--keep")
    p.add_argument("-h", "--help", action="store_true")
    args = p.parse_args()
    p.prog = args.script
    if args.rounds < 1:
        p.error("--rounds %d: at least one" % args.rounds)
    if args.sim if args.script == "compare-paths.sh" else args.single:
        p.error("%s has no --%s" % (args.script, "sim" if args.sim else "single"))
    if args.help:
        with open(os.path.join(os.path.dirname(wan.HERE), args.script)) as f:
            text = f.read().split("\n\n")[0].split("\n#\n", 2)[2]
            print("\n".join(line[2:] for line in text.splitlines()))
        return 0
    todo = list(chosen(args))
    if not todo:
        print("%s: there is no case %s; --list says which there are" % (args.script, args.case), file=sys.stderr)
        return 2
    if args.list:
        print("\n".join(name for name, _ in todo))
        return 0
    ctx = Context(args)
    ctx.head()
    try:
        for name, fn in todo:
            ctx.run(name, sim.case if args.sim else fn)
    except wan.Skipped as e:
        print("%s: %s" % (args.script, e), file=sys.stderr)
        return 77
    finally:
        if not ctx.keep:
            shutil.rmtree(ctx.top, ignore_errors=True)
    return 1 if ctx.bad else 0


if __name__ == "__main__":
    sys.exit(main())
