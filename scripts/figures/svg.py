# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""What gnuplot writes as SVG, with text for those who do not see the picture and a third of the bytes.

Nothing that is drawn changes: attributes with their default values, groups around nothing, groups around one text and
the second outline of a tile go; the name of the font moves to the root.  The result is the same for the same input.
"""
import html
import re

FONT = re.compile(r' font-family="([^"]*)"\s*')
ENTRIES = re.compile(r"<g id=\"gnuplot_plot_[^>]*>\s*<title>[^<]*</title>")
GROUP = (r"<g fill=\"none\" color=\"[^\"]*\" stroke=\"[^\"]*\" stroke-width=\"([^\"]*)\" stroke-linecap=\"butt\" "
         r"stroke-linejoin=\"miter\">\s*")
TILE = re.compile(GROUP + r"<g stroke='none' shape-rendering='crispEdges'>\s*"
                  r"<polygon fill = '([^']*)' points = '[^']*'/>\s*"
                  r"</g>\s*<path stroke='([^']*)'\s+d='([^']*?)\s*'/>\s*</g>")
TEXT = re.compile(r"<g transform=\"([^\"]*)\" stroke=\"none\"([^>]*)>\s*<text>(.*?)</text>\s*</g>", re.S)
EMPTY = re.compile(r"<g(?: [^>]*)?>\s*</g>")


# Where something is drawn: a tenth of a pixel is fine enough.
PLACES = re.compile(r"(?:\bd='|points = '|transform=\"|\b[xy]=['\"])[^'\"]*")
FRACTION = re.compile(r"\d+\.\d+")
POLYGON = re.compile(r"<polygon fill = '([^']*)' points = '([-\d.]+),([-\d.]+) ([-\d.]+),\3 \4,([-\d.]+) \2,\5\s*'/>")


def tenth(m):
    return ("%.1f" % float(m[0])).removesuffix(".0")


def colour(m):
    r, g, b = (int(x) for x in m.groups())
    text = "#%02x%02x%02x" % (r, g, b)
    return text if text[1::2] != text[2::2] else "#" + text[1::2]


def slim(text):
    fonts = FONT.findall(text)
    if fonts:
        text = FONT.sub(" ", text)
        text = text.replace("<svg", '<svg font-family="%s"' % fonts[0], 1)
    text = ENTRIES.sub("<g>", text)
    text = re.sub(r"<tspan\s*>([^<]*)</tspan>", r"\1", text)
    text = TILE.sub(r"<path fill='\2' stroke='\3' stroke-width='\1' d='\4'/>\n", text)
    text = re.sub(r"<path [^>]*d='M[-\d.,]+\s*'/>", "", text)
    text = TEXT.sub(lambda m: '<text stroke="none" transform="%s"%s>%s</text>' % (
        m[1], re.sub(r"\s+", " ", m[2]).rstrip(), m[3]), text)
    text = re.sub(r"rgb\(\s*(\d+),\s*(\d+),\s*(\d+)\)", colour, text)
    text = text.replace(' stroke-linecap="butt" stroke-linejoin="miter"', "").replace(' text-anchor="start"', "")
    text = PLACES.sub(lambda m: FRACTION.sub(tenth, m[0]), text)
    text = re.sub(r"d='M([-\d.]+),([-\d.]+) L\1,([-\d.]+) L([-\d.]+),\3 L\4,\2 L\1,\2 Z'",
                  r"d='M\1,\2V\3H\4V\2z'", text)
    text = POLYGON.sub(r"<path fill='\1' stroke='none' stroke-width='0' d='M\2,\3V\5H\4V\3z'/>", text)
    while EMPTY.search(text):
        text = EMPTY.sub("", text)
    text = re.sub(r"<text [^>]*></text>", "", text)
    # a group of one text needs no group
    text = re.sub(r"<g fill=\"none\"[^>]*>\s*(<text [^>]*>(?:(?!<g|</g>).)*?</text>)\s*</g>",
                  lambda m: m[0] if "<path" in m[1] else m[1] + "\n", text,
                  flags=re.S)
    text = re.sub(r"\s+\n", "\n", text)
    return together(re.sub(r"\n[ \t]+", "\n", text))


LONE_TEXT = re.compile(r'<text stroke="none" transform="translate\(([^,)]*),([^,)]*)\)"([^>]*)>(.*)</text>$')
LONE_TILE = re.compile(r"<path fill='([^']*)' stroke='([^']*)' stroke-width='([^']*)' d='([^']*)'/>$")


def together(text):
    """What neighbours have in common is said once."""
    out, common = [], None
    for line in text.split("\n"):
        new = None
        m = LONE_TEXT.match(line)
        if m:
            new, line = '<g stroke="none"%s>' % m[3], '<text x="%s" y="%s">%s</text>' % (m[1], m[2], m[4])
        else:
            m = LONE_TILE.match(line)
            if m:
                new = '<g stroke="%s" stroke-width="%s">' % (m[2], m[3])
                line = '<path fill="%s" d="%s"/>' % (m[1], m[4])
                if new == common and out[-1].startswith('<path fill="%s" d=' % m[1]):
                    out[-1] = out[-1].removesuffix('"/>') + m[4] + '"/>'
                    continue
        if new != common:
            out += ["</g>"] * bool(common) + [new] * bool(new)
            common = new
        out.append(line)
    return "\n".join(out)


def describe(text, title, caption):
    words = "<title>%s</title>\n<desc>%s</desc>" % (html.escape(title, False), html.escape(caption, False))
    return re.sub(r"<title>.*?</title>\s*<desc>.*?</desc>", lambda _: words, text, count=1, flags=re.S)
