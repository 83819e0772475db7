# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""check.py DIR NAME...: whether the figures of these names in DIR are whole.  A line for each, exit status 1 if "
"one is not."""
import csv
import html.parser
import os
import sys
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"


class Captions(html.parser.HTMLParser):
    """id of a figure -> text of its caption."""

    def __init__(self):
        super().__init__()
        self.found, self.id, self.inside = {}, None, False

    def handle_starttag(self, tag, attrs):
        if tag == "figure":
            self.id = dict(attrs).get("id")
        self.inside = self.inside or tag == "figcaption"

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "figcaption"

    def handle_data(self, data):
        if self.inside:
            self.found[self.id] = self.found.get(self.id, "") + data


def faults(out, name, captions):
    path = os.path.join(out, name + ".svg")
    try:
        root = ET.parse(path).getroot()
    except (OSError, ET.ParseError) as e:
        return ["%s.svg: %s" % (name, e)]
    bad = []
    if root.tag != SVG + "svg":
        bad.append("%s.svg is no SVG" % name)
    drawn = sum(len(e.get("d", "")) > 8 for e in root.iter(SVG + "path")) + len(list(root.iter(SVG + "polygon")))
    words = [w for w in ("".join(e.itertext()).strip() for e in root.iter(SVG + "text")) if w]
    if drawn < 10 or len(words) < 10:
        bad.append("%s.svg shows next to nothing: %d lines, %d texts" % (name, drawn, len(words)))
    if len(root.findtext(SVG + "desc") or "") < 100:
        bad.append("%s.svg has no description" % name)
    if len(captions.get(name, "")) < 100:
        bad.append("index.html has no caption for %s" % name)
    try:
        with open(os.path.join(out, name + ".csv"), newline="") as f:
            rows = list(csv.DictReader(f))
        if len(rows) < 3 or any(None in r or None in r.values() for r in rows):
            bad.append("%s.csv has too few rows or cells" % name)
    except OSError as e:
        bad.append("%s.csv: %s" % (name, e))
    return bad


def main(out, names):
    parser = Captions()
    with open(os.path.join(out, "index.html"), encoding="utf-8") as f:
        parser.feed(f.read())
    status = 0
    for n in names:
        bad = faults(out, n, parser.found)
        print("%s - %s" % ("not ok" if bad else "ok", "; ".join(bad) if bad else n))
        status |= bool(bad)
    return status if names else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
