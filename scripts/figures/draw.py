# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""From numbers to a picture: a figure's CSV, the blocks that its gnuplot template reads, the SVG, the index."""
import csv
import html
import math
import os
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as ET

import svg
from cells import Trouble

HERE = os.path.dirname(os.path.abspath(__file__))


class Figure:
    """What a figure's function fills in."""

    def __init__(self, name, title, wide, high, template=None):
        self.name, self.title, self.wide, self.high = name, title, wide, high
        self.template = template or name
        self.caption = ""
        self.blocks = {}
        self.rows = []
        self.vars = {}
        self.extra = {}  # other CSV files: name -> rows

    def block(self, name, points):
        """points: sequences of numbers (or text) for the template; an empty one is drawn as nothing."""
        self.blocks.setdefault(name, []).extend(points)

    def row(self, **fields):
        self.rows.append(fields)


def number(v):
    if isinstance(v, str):
        return '"%s"' % v
    if v is None or isinstance(v, float) and not math.isfinite(v):
        return "-"
    return "%.9g" % v


def write_csv(path, rows):
    names = list(dict.fromkeys(n for r in rows for n in r))
    with open(path, "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(names)
        for r in rows:
            w.writerow(["%.9g" % r[n] if isinstance(r.get(n), float) else r.get(n, "") for n in names])


def write_blocks(f, blocks):
    width = max((len(p) for pts in blocks.values() for p in pts), default=2)
    for name, points in sorted(blocks.items()):  # gnuplot takes the first block whose name begins as asked
        f.write("# %s\n" % name)
        for p in points or [[None] * width]:
            f.write(" ".join(number(v) for v in p) + "\n")
        f.write("\n\n")
    f.flush()


def draw(fig, out):
    """Writes NAME.csv and NAME.svg under out."""
    write_csv(os.path.join(out, fig.name + ".csv"), fig.rows)
    for name, rows in fig.extra.items():
        write_csv(os.path.join(out, name), rows)
    path = os.path.join(out, fig.name + ".svg")
    with tempfile.NamedTemporaryFile("w", suffix=".dat") as dat, \
            tempfile.NamedTemporaryFile("w", suffix=".gp") as gp:
        write_blocks(dat, fig.blocks)
        values = dict(fig.vars, dat=dat.name, svg=path, wide=fig.wide, high=fig.high, here=HERE)
        for name, v in values.items():
            gp.write("%s = %s\n" % (name, "'%s'" % v if isinstance(v, str) else "%.9g" % v))
        gp.write("load '%s'\nload '%s'\nunset output\n" % (os.path.join(HERE, "style.gp"),
                                                           os.path.join(HERE, fig.template + ".gp")))
        gp.flush()
        r = subprocess.run(["gnuplot", gp.name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
    if r.returncode != 0 or not os.path.exists(path) or os.path.getsize(path) == 0:
        raise Trouble("gnuplot could not draw %s:\n%s" % (fig.name, r.stdout.strip()[-1500:]))
    finish(path, fig)


def finish(path, fig):
    """Text for those who do not see the picture; fewer bytes for all."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write(svg.describe(svg.slim(text), fig.title, plain(fig.caption)))


def plain(caption):
    return re.sub(r"\s+", " ", caption).strip()


PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>sdr: figures</title>
<style>
body { font: 16px/1.5 "DejaVu Sans", Verdana, Helvetica, sans-serif; color: #222; max-width: 1180px;
       margin: 2em auto; padding: 0 1em }
figure { margin: 0 0 3.5em 0 }
figure img { max-width: 100%%; height: auto; border: 1px solid #ddd }
figcaption { max-width: 62em }
nav li { margin: 0 }
p.how { color: #555 }
</style>
<h1>Figures</h1>
<p class="how">%s</p>
<nav><ol>
%s</ol></nav>
%s</html>
"""


def drawn_before(out, name):
    """Title, caption, width and height of a figure in out; None: there is none."""
    try:
        root = ET.parse(os.path.join(out, name + ".svg")).getroot()
    except (OSError, ET.ParseError):
        return None
    ns = root.tag.removesuffix("svg")
    return root.findtext(ns + "title"), root.findtext(ns + "desc"), root.get("width"), root.get("height")


def write_index(out, names, how):
    """A page of all figures that lie in out, those of earlier runs too: each says in its caption how it was "
    "made."""
    nav, body = "", ""
    for name in names:
        had = drawn_before(out, name)
        if not had:
            continue
        title, caption = html.escape(had[0] or name), html.escape(had[1] or "")
        files = ", ".join('<a href="%s">%s</a>' % (n, n) for n in sorted(os.listdir(out))
                          if re.fullmatch(re.escape(name) + r"(_outside)?\.csv", n))
        nav += '<li><a href="#%s">%s</a></li>\n' % (name, title)
        body += ('<figure id="%s">\n<h2>%s</h2>\n<a href="%s.svg">'
                 '<img src="%s.svg" width="%s" height="%s" alt="%s"></a>\n'
                 "<figcaption>%s Numbers: %s.</figcaption>\n</figure>\n"
                 % (name, title, name, name, had[2], had[3], title, caption, files))
    with open(os.path.join(out, "index.html"), "w", encoding="utf-8") as f:
        f.write(PAGE % (html.escape(how), nav, body))


def copy_to_docs(out, docs, names):
    os.makedirs(docs, exist_ok=True)
    for n in names:
        src = os.path.join(out, n + ".svg")
        if os.path.getsize(src) >= 60 * 1024:
            raise Trouble("%s has %d bytes, too many for a picture in the repository (60 KiB)"
                          % (src, os.path.getsize(src)))
        shutil.copyfile(src, os.path.join(docs, n + ".svg"))
