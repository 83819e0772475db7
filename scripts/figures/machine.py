# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""What is measured on this machine: coding, the receive worker; and what the size of a chunk does to both sides."""
import math
import os
import re
import subprocess

from cells import Cell, Trouble, rows_of, run_tool
from draw import Figure

ROUNDS = 5  # of each point of sdr_perf --sdk; 1 in short


def machine():
    name = "unknown processor"
    try:
        with open("/proc/cpuinfo") as f:
            name = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), name)
    except OSError:
        pass
    return "%s, %d cores" % (name, os.cpu_count() or 1)


def encode(ctx):
    fig = Figure("encode", "Encoding: XOR and MDS, measured here", 1200, 500)
    argv = [os.path.join(ctx.build, "sdr_fec_bench"), "--csv"] + (["--quick"] if ctx.quick else [])
    rows = rows_of(run_tool(argv, "the benchmark of the codes"), "sdr_fec_bench")
    threads = sorted({int(r["threads"]) for r in rows if r["test"] == "figure"})
    for r in rows:
        if r["test"] in ("figure", "encode"):
            gbps = float(r["value"]) * 8
            fig.row(test=r["test"], k=r["k"], m=r["m"], block_bytes=r["bytes"], threads=r["threads"], what=r["what"],
                    gbit_s=gbps)
            if r["test"] == "figure":
                fig.block(r["what"][:3].lower(), [(threads.index(int(r["threads"])), gbps)])
    kms = [km for km in dict.fromkeys((int(r["k"]), int(r["m"])) for r in rows if r["test"] == "encode")]
    shown = [km for km in ((10, 4), (32, 2), (32, 4), (32, 8), (32, 16), (64, 16), (128, 8), (128, 32)) if km in kms]
    # not every processor has the instructions of the last one
    kernels = [what for what in ("ISA-L", "isal", "gfni") if any(r["what"] == what for r in rows if r["test"] == "encode")]
    for what in kernels:
        fig.block("lib" if what == "ISA-L" else what,
                  [(shown.index((int(r["k"]), int(r["m"]))), float(r["value"]) * 8) for r in rows
                   if r["test"] == "encode" and r["what"] == what and (int(r["k"]), int(r["m"])) in shown])
    fig.vars.update(threads=" ".join(map(str, threads)), codes=" ".join("(%d,%d)" % km for km in shown),
                    best=max(y for block in ("lib", "isal", "gfni") for _, y in fig.blocks.get(block, [])),
                    has_gfni=int("gfni" in kernels))
    need = {}
    for code in ("xor", "mds"):
        i, v = max(fig.blocks[code])
        need[code] = 400 / (v / threads[i])
    fig.caption = (
        "Data encoded in a second (64 KiB blocks, %s). (a) 128 MiB buffers with k = 32, m = 8 by threads, the "
        "fastest implementation that this processor has; at this rate a thread, 400 Gbit/s take %.1f cores with "
        "XOR and %.1f with MDS (the paper: 4 and twice as many). (b) MDS by (k, m), one thread: ISA-L's own "
        "ec_encode_data, and the two implementations of this library (isal: ISA-L's kernels in an order that suits "
        "caches; gfni: instructions for GF(2^8), where the processor has them). Measured by "
        "fabtests/benchmarks/sdr_fec_bench%s; bytes of data, not of "
        "parity." % (machine(), need["xor"], need["mds"], " --quick" if ctx.quick else ""))
    return fig


LINE = re.compile(r"^(?P<name>.*?)\s{2,}(?P<cores>\d+)\s+(?P<mpps>[\d.]+)\s+[\d.]+\s+[-\d.]+\s+[\d.]+$")


def rx_rows(ctx):
    """What sdr_rx_bench prints: for each pattern one worker, then two with the messages or the runs divided."""
    rounds = "12" if ctx.quick else "25"
    text = ctx.once("rx", lambda: run_tool([os.path.join(ctx.build, "sdr_rx_bench"), rounds],
                                           "the benchmark of the receive worker"))
    rows, pattern = [], ""
    for line in text.splitlines()[1:]:
        m = LINE.match(line)
        if not m:
            continue
        if not line.startswith(" "):
            pattern = m["name"].strip()
        rows.append(dict(pattern=pattern, division=m["name"].strip() if line.startswith(" ") else "one worker",
                         workers=int(m["cores"]), mpps=float(m["mpps"])))
    if len(rows) < 3:
        raise ValueError("sdr_rx_bench printed no table")
    return rows


def measure(ctx, engine, *args):
    """Rows of one sdr_perf --sdk, and why there are none."""
    argv = [os.path.join(ctx.build, "sdr_perf"), "--sdk", "--loopback", "-q", "--format", "csv", "-e", engine,
            "-D", "0.03" if ctx.quick else "0.4", "--rounds", "1" if ctx.quick else str(ROUNDS), *args]
    try:
        r = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           timeout=60 if ctx.quick else 300)
        if r.returncode == 0:
            return rows_of(r.stdout, "sdr_perf --sdk"), ""
        text = r.stderr.strip().splitlines()
        return [], (text[0] if text else "exit status %d" % r.returncode).removeprefix("sdr_perf: ")
    except subprocess.TimeoutExpired:
        return [], "sdr_perf --sdk took too long"
    except (OSError, Trouble) as e:
        return [], str(e)


def whole_path(ctx):
    """Million packets of 64 bytes that one thread takes through the SDK in a second, over UDP; and why none."""
    def one():
        rows, why = measure(ctx, "soft", "-s", "256k", "-m", "64", "-c", "16p")
        return (float(rows[0]["packet_rate_Mpps"]) if rows else 0.0), why
    return ctx.once("sdk_64", one)


def receive(ctx):
    fig = Figure("receive", "Receive worker: packets per second by workers, measured here", 1000, 520)
    rows = rx_rows(ctx)
    pick = [("in order, chunk of 16 packets", "order16"), ("in order, chunk of 1 packet", "order1"),
            ("shuffled over 64, chunk of 16 packets", "shuffled16")]
    for r in rows:
        fig.row(**r)
        for pattern, tag in pick:
            if r["pattern"] == pattern and r["division"] in ("one worker", "a message to a worker"):
                fig.block(tag, [(r["workers"], r["mpps"])])
    path, why = whole_path(ctx)
    if path:
        fig.block("path", [(1, path)])
        fig.row(pattern="the whole path, packets of 64 bytes", division="one thread", workers=1, mpps=path)
    top = max(r["workers"] for r in rows)
    fig.vars.update(workers=top, ymax=1.6 * max(max(r["mpps"] for r in rows), 60))
    fig.caption = (
        "Completions that receive workers take in a second, each a packet of a message of 16 MiB, 16 of them in "
        "flight: check of the generation, packet bitmap, chunk bitmap (%s). Lines for 400 Gbit/s and 1.6 Tbit/s in "
        "packets of 4 KiB (12.2 and 48.8 million a second); dotted: so many times one worker. A worker a core; "
        "this machine has %d. Workers have messages of their own, as channel groups give them; the CSV also has "
        "runs of packets dealt out in turn. %s The paper scales to 128 threads of a network card. Measured by "
        "fabtests/benchmarks/sdr_rx_bench, the best of its rounds."
        % (machine(), os.cpu_count() or 1,
           "The star is the whole path: packets of 64 bytes from a UDP socket on the loopback interface, check sums, "
           "placement and this kernel to the SDK's bitmap, one thread receives (sdr_perf --sdk): %.1f million." % path
           if path else "The whole path could not be measured: %s." % why))
    return fig


def chunk(ctx):
    fig = Figure("chunk", "Size of a chunk: how likely it is lost, and what it costs to receive", 1200, 480)
    counts, bars = [1, 2, 4, 8, 16, 32, 64], []
    for p in (1e-6, 1e-5, 1e-4, 1e-3, 1e-2):
        for n in counts:
            # ideal has no chunks: the chunk's loss is what the model derives for selective repeat
            r = ctx.model.predict([Cell("sr_rto", n * 4096, p)], n * 4096)[Cell("sr_rto", n * 4096, p)]
            fig.block("p_%d" % round(-math.log10(p)), [(n, r["p_chunk"])])
            fig.row(source="model", packets=n, chunk_bytes=n * 4096, p_packet=p, p_chunk=r["p_chunk"])
    for r in rx_rows(ctx):
        m = re.match(r"(in order|shuffled).*, chunk of (\d+) packets?$", r["pattern"])
        if m and r["division"] == "one worker":
            fig.block("rate", [(len(fig.blocks.get("rate", [])), r["mpps"])])
            bars.append("%s_%s" % (m[2], m[1].replace(" ", "_")))
            fig.row(source="measured", packets=int(m[2]), chunk_bytes=int(m[2]) * 4096, order=m[1], mpps=r["mpps"])
    fig.vars["bars"] = " ".join(bars)
    fig.caption = (
        "(a) probability that a chunk misses at least one of its packets of 4 KiB, 1 - (1 - p)^N, from the model; "
        "the paper shows the line of 1e-5. (b) packets that one receive worker of this library takes in a second "
        "with chunks of so many packets (%s; fabtests/benchmarks/sdr_rx_bench, in order or shuffled over 64 "
        "packets); the dashed line is what 400 Gbit/s bring in packets of 4 KiB. Small chunks tell losses finely "
        "and are cheap enough; this library sends single packets again whatever the "
        "chunk." % machine())
    return fig
