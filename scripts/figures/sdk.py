# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""The paper's evaluation of SDR itself, measured here by sdr_perf --sdk: by size, workers, chunk, and packets a second.

Both sides are threads of one process, over each engine of ENGINES that there is.  What could not be measured is
missing in the picture, and the caption says why.
"""
import os

from draw import Figure
from machine import ROUNDS, machine, measure, rx_rows

# name of the engine, which the blocks in a template have too; what a caption calls it; whether every version has it
ENGINES = (("soft", "UDP over the loopback interface", True), ("mem", "rings in memory without a kernel in between", False))

# What the text of the paper says in "End-to-end performance with BlueField-3" (its pictures are not in the source):
# Figures 14, 15 and 16.
LINE_GBPS = 400.0
PAPER_LINE_FROM = 512 << 10  # bytes of a message from which 20 threads fill the link
PAPER_THREADS_LINE = 16      # receive threads that fill it with messages of 16 MiB, with chunks of 1 to 64 packets
PAPER_WORST_MPPS = 15.0      # the same with packets of 64 bytes and chunks of one packet
PAPER_LINE_MPPS = 11.6       # 400 Gbit/s in packets of 4 KiB, as the paper counts them
PAPER_TBPS = ((32, 1.6), (128, 3.2))  # threads, Tbit/s in packets of 4 KiB
PACKET = 4096
SIZES = [4 << 10 << 2 * i for i in range(7)]  # 4 KiB .. 16 MiB
CHUNKS = [1, 2, 4, 8, 16, 32, 64]


def workers(ctx, engine, *args):
    """By receive workers, as many as there are cores; without workers in this version the caller's thread alone."""
    cores = os.cpu_count() or 1
    counts = [0] + [n for n in (1, 2, 4, 8, 16) if n <= cores]
    rows, why = measure(ctx, engine, "--sweep", "workers=" + ",".join(map(str, counts)), *args)
    if rows:
        return rows, ""
    rows, other = measure(ctx, engine, "--sweep", "workers=0", *args)
    return rows, other or why


def how(ctx, what, whys):
    """Of the caption: by what, over what, on what; and what is missing."""
    rounds = "" if ctx.quick else ", the median of %d rounds" % ROUNDS
    return "Measured by sdr_perf --sdk --loopback, %s, both sides on %s%s.%s" % (
        " and ".join(what) or "no engine", machine(), rounds, noted(whys))


def engines(ctx, fig):
    """Name and words of each engine that there is; tells the template."""
    there = []
    for engine, words, always in ENGINES:
        has = always or bool(ctx.once("engine_" + engine, lambda e=engine: measure(ctx, e, "-s", "4k"))[0])
        fig.vars["has_" + engine] = int(has)
        there += [(engine, words)] if has else []
    return there


def noted(whys):
    return "".join(" Not measured: %s." % w.rstrip(".") for w in dict.fromkeys(w for w in whys if w))


def kernel(ctx):
    """Packets a second of the receive worker's kernel by workers, with nothing around it: (workers, million)."""
    return [(r["workers"], r["mpps"]) for r in rx_rows(ctx)
            if r["pattern"] == "in order, chunk of 16 packets"
            and r["division"] in ("one worker", "a message to a worker")]


def at(n):
    """Where so many workers stand on a logarithmic axis: the caller's thread left of the first worker."""
    return n or 0.5


def sdk_size(ctx):
    fig = Figure("sdk_size", "SDR by message size, by workers, and the cost of posting again, measured here", 1240, 480)
    # in short fewer and smaller ones: all that is in flight must arrive before a point is over
    sizes = SIZES[:5:2] + SIZES[5:6] if ctx.quick else SIZES
    whys, what, top = [], [], 1.0
    for engine, name in engines(ctx, fig):
        rows, why = measure(ctx, engine, "--plain", "-m", str(PACKET), "--sweep", "size=" + ",".join(map(str, sizes)))
        whys.append(why)
        what += [name] if rows else []
        for r in rows:
            size, rate = int(r["bytes"]), float(r["bw_avg_Gbps"])
            fig.block("size_" + engine, [(size, rate)])
            fig.block("plain_" + engine, [(size, float(r["plain_MBps"]) * 8e-3)])
            fig.block("repost_" + engine, [(size, float(r["repost_ns"]) / 1e3)])
            top = max(top, float(r["repost_ns"]) / 1e3)
            fig.row(panel="size", source="measured", engine=engine, message_bytes=size, gbit_s=rate,
                    plain_gbit_s=float(r["plain_MBps"]) * 8e-3, ratio=float(r["ratio"]), repost_ns=int(r["repost_ns"]))
        rows, why = workers(ctx, engine, "-s", str(sizes[-1]), "-m", str(PACKET))
        whys.append(why)
        for r in rows:
            n, rate = int(r["workers"]), float(r["bw_avg_Gbps"])
            fig.block("workers_" + engine, [(at(n), rate)])
            fig.row(panel="workers", source="measured", engine=engine, message_bytes=sizes[-1], workers=n, gbit_s=rate)
    for n, mpps in kernel(ctx):
        fig.block("kernel", [(at(n), mpps * PACKET * 8e-3)])
        fig.row(panel="workers", source="receive worker alone", workers=n, gbit_s=mpps * PACKET * 8e-3)
    fig.block("paper_size", [(PAPER_LINE_FROM, LINE_GBPS), (SIZES[-1], LINE_GBPS)])
    fig.block("paper_workers", [(PAPER_THREADS_LINE, LINE_GBPS)])
    fig.row(panel="size", source="paper", message_bytes=PAPER_LINE_FROM, gbit_s=LINE_GBPS)
    fig.row(panel="workers", source="paper", message_bytes=16 << 20, workers=PAPER_THREADS_LINE, gbit_s=LINE_GBPS)
    fig.vars.update(cost=1.25 * top, largest=sizes[-1] >> 20)
    fig.caption = (
        "SDR without a reliability layer, 16 messages in flight, packets of 4 KiB, chunks of 64 KiB (Figure 14 of the "
        "paper). (a) throughput by size, beside plain writes of the same engine (no bitmap, nothing posted again); the "
        "paper has a 400 Gbit/s link, which 20 threads of its network card fill from 512 KiB on, and writes ahead of "
        "SDR below. (b) %d MiB by receive workers, \"own\": in the thread of the caller; the line above is what the "
        "receive worker takes when completions lie ready in memory (fabtests/benchmarks/sdr_rx_bench); the paper: "
        "16 MiB, 16 threads. (c) what ending a receive and posting it again costs, of which most is the system call "
        "that tells the sender; the median. %s" % (sizes[-1] >> 20, how(ctx, what, whys)))
    return fig


def sdk_chunk(ctx):
    fig = Figure("sdk_chunk", "SDR by the size of a chunk, measured here", 1240, 480)
    whys, what, best = [], [], PAPER_WORST_MPPS
    size = 2 << 20 if ctx.quick else 16 << 20
    sweep = "chunk=" + ",".join("%dp" % n for n in CHUNKS)
    for engine, name in engines(ctx, fig):
        rows, why = measure(ctx, engine, "-s", str(size), "-m", str(PACKET), "--sweep", sweep)
        whys.append(why)
        for r in rows:
            n, rate = int(r["chunk_bytes"]) // PACKET, float(r["bw_avg_Gbps"])
            fig.block("large_" + engine, [(CHUNKS.index(n), rate)])
            fig.row(source="measured", engine=engine, packet_bytes=PACKET, packets=n, gbit_s=rate,
                    mpps=float(r["packet_rate_Mpps"]), p_chunk=1 - (1 - 1e-5) ** n)
        rows, why = measure(ctx, engine, "-s", "256k", "-m", "64", "--sweep", sweep)
        whys.append(why)
        what += [name] if rows else []
        for r in rows:
            n, rate = int(r["chunk_bytes"]) // 64, float(r["packet_rate_Mpps"])
            fig.block("small_" + engine, [(CHUNKS.index(n), rate)])
            best = max(best, rate)
            fig.row(source="measured", engine=engine, packet_bytes=64, packets=n, gbit_s=float(r["bw_avg_Gbps"]),
                    mpps=rate, p_chunk=1 - (1 - 1e-5) ** n)
    for i, n in enumerate(CHUNKS):
        fig.block("p", [(i, "%.1e" % (1 - (1 - 1e-5) ** n))])
    fig.block("paper_line", [(0, LINE_GBPS), (len(CHUNKS) - 1, LINE_GBPS)])
    fig.block("paper_small", [(0, PAPER_WORST_MPPS)])
    fig.row(source="paper", packet_bytes=PACKET, packets=1, gbit_s=LINE_GBPS)
    fig.row(source="paper", packet_bytes=PACKET, packets=64, gbit_s=LINE_GBPS)
    fig.row(source="paper", packet_bytes=64, packets=1, mpps=PAPER_WORST_MPPS)
    fig.vars.update(line_mpps=PAPER_LINE_MPPS, best=best, chunks=" ".join(map(str, CHUNKS)))
    fig.caption = (
        "SDR without a reliability layer by the packets of a chunk (Figure 15 of the paper), 16 messages in flight. "
        "(a) messages of %d MiB in packets of 4 KiB; below, how likely a chunk lacks a packet where each is lost with "
        "1e-5. (b) the same numbers of packets with 64 bytes each, so that the link is not the limit. The paper: 16 "
        "threads of its network card fill 400 Gbit/s (11.6 million packets of 4 KiB a second) with chunks of 1 to 64 "
        "packets, and take 15 million packets of 64 bytes with chunks of one. Here one thread sends, one receives. %s"
        % (size >> 20, how(ctx, what, whys)))
    return fig


def sdk_rate(ctx):
    fig = Figure("sdk_rate", "SDR: packets per second by workers, measured here", 1000, 520)
    whys, what = [], []
    for engine, name in engines(ctx, fig):
        rows, why = workers(ctx, engine, "-s", "256k", "-m", "64", "-c", "16p")
        whys.append(why)
        what += [name] if rows else []
        for r in rows:
            n, rate = int(r["workers"]), float(r["packet_rate_Mpps"])
            fig.block("rate_" + engine, [(at(n), rate)])
            fig.row(source="measured", engine=engine, packet_bytes=64, workers=n, mpps=rate,
                    receiver_ns_per_packet=1e9 * float(r["peer_cpu_s"]) / max(1, int(r["packets"])))
    for n, mpps in kernel(ctx):
        fig.block("kernel", [(at(n), mpps)])
        fig.row(source="receive worker alone", workers=n, mpps=mpps)
    for n, tbps in PAPER_TBPS:
        mpps = tbps * 1e6 / 8 / PACKET
        fig.block("paper", [(n, mpps)])
        fig.row(source="paper", packet_bytes=64, workers=n, mpps=mpps)
    fig.block("paper_one", [(PAPER_THREADS_LINE, PAPER_WORST_MPPS)])
    fig.row(source="paper, chunks of one packet", packet_bytes=64, workers=PAPER_THREADS_LINE, mpps=PAPER_WORST_MPPS)
    fig.vars["line_mpps"] = PAPER_LINE_MPPS
    fig.caption = (
        "Packets of 64 bytes that arrive in a second through SDR without a reliability layer, by receive workers "
        "(Figure 16 of the paper), messages of 4096 packets, 16 in flight, chunks of 16 packets; \"own\": received in "
        "the thread of the caller. Above, the receive worker alone, its completions lying ready in memory "
        "(fabtests/benchmarks/sdr_rx_bench). The paper, in packets of 4 KiB: 32 threads of its network card near 1.6 "
        "Tbit/s, 128 close to 3.2; with chunks of one packet 15 million packets with 16 threads. %s"
        % how(ctx, what, whys))
    return fig
