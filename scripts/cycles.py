#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""Which files of a layer call each other in a circle, by the symbols of their objects.

usage: cycles.py BUILDDIR LAYER [MAX]     for instance: cycles.py build prov/sdr/rel 2

Prints each circle (files that reach each other through undefined symbols), and fails when one has
more than MAX files (default 2), or when there is no object to look at.
"""
import pathlib
import subprocess
import sys


def symbols(objs):
    """Of each object: names that it defines for others, and those that it wants."""
    out = subprocess.run(["nm", "-P", "-A", *objs], check=True, capture_output=True, text=True).stdout
    have, want = ({o: set() for o in objs} for _ in range(2))
    for line in out.splitlines():
        obj, _, symbol = line.rpartition(": ")
        name, kind = symbol.split()[:2]
        if kind in "TDBRC":
            have[obj].add(name)
        elif kind == "U":
            want[obj].add(name)
    return have, want


def circles(graph):
    """Strongly connected components of more than one node (Tarjan)."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in graph[node]:
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            part = []
            while not part or part[-1] != node:
                part.append(stack.pop())
            if len(part) > 1:
                found.append(sorted(part))

    for node in graph:
        if node not in order:
            visit(node)
    return found


def main(build, layer, most=2):
    objs = sorted(map(str, pathlib.Path(build, layer).glob("**/*.o")))
    have, want = symbols(objs) if objs else ({}, {})
    names = {obj: pathlib.Path(obj).stem.rpartition("-")[2] for obj in objs}
    defined = {symbol: names[obj] for obj in objs for symbol in have[obj]}
    wanted = {names[obj]: want[obj] for obj in objs}
    graph = {f: {defined[s] for s in wanted[f] if s in defined} - {f} for f in wanted}
    found = circles(graph)
    for part in found:
        print(len(part), "files call each other:", ", ".join(f + ".c" for f in part))
    print(f"{layer}: {len(objs)} objects, {len(found)} circles")
    return 0 if objs and all(len(part) <= int(most) for part in found) else 1


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
