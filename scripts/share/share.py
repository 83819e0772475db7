# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""The table of compare-share.sh, and of compare-paths.sh: cases, bars, what was measured."""
import argparse
import os
import shutil
import sys
import tempfile

import cases
import paths
import sim
import wan

SETS = {"compare-share.sh": cases, "compare-paths.sh": paths}


class Context:
    """What a case may use, and where its rows go."""

    def __init__(self, args):
        self.build = args.build
        quick = 4 if args.script == "compare-share.sh" else 6
        self.seconds = args.seconds or (quick if args.quick else 10)
        self.runs = args.runs
        self.csv = args.csv
        self.single = args.single
        self.dir = os.path.abspath(args.keep) if args.keep else tempfile.mkdtemp()
        self.keep = bool(args.keep)
        self.bad = 0
        self.case = ""
        if self.keep:
            os.makedirs(self.dir, exist_ok=True)

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
        """A row with a bar, or without one; sure False: the machine was too slow to know."""
        if value is None:
            self.row(what, "", "never", "no" if least is not None or most is not None else "-")
            return
        must = []
        if least is not None:
            must.append(">= " + form % least)
        if most is not None:
            must.append("<= " + form % most)
        good = (least is None or value >= least) and (most is None or value <= most)
        ok = "-" if not must else "yes" if good else "no"
        self.row(what, " ".join(must), form % value + note, ok + ("" if sure else "?"))


def percent(x):
    return 100 * x


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
    p.add_argument("--seconds", type=float)
    p.add_argument("--csv", action="store_true")
    p.add_argument("--keep")
    p.add_argument("-h", "--help", action="store_true")
    args = p.parse_args()
    p.prog = args.script
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
            ctx.case = name
            try:
                sim.case(ctx, name) if args.sim else fn(ctx, name)
            except wan.Failed as e:
                ctx.row("failed: " + str(e)[:100], "", "", "no")
    except wan.Skipped as e:
        print("%s: %s" % (args.script, e), file=sys.stderr)
        return 77
    finally:
        if not ctx.keep:
            shutil.rmtree(ctx.dir, ignore_errors=True)
    return 1 if ctx.bad else 0


if __name__ == "__main__":
    sys.exit(main())
