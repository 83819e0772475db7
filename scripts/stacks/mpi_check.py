# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# What an MPI library does with a provider, seen through mpi4py: messages of every size with their bytes
# compared, probes and cancels, collectives against what they must give, windows.
#
# usage: mpi_check.py [messages] [collectives] [windows] [threads]
#
# "windows" runs at MPI_THREAD_SINGLE, since Open MPI's osc pt2pt wants no more; "threads" asks for
# MPI_THREAD_MULTIPLE and sends from four threads of each rank.  Rank 0 prints "N passed, M failed".

import sys
import threading

import mpi4py

wanted = sys.argv[1:] or ["messages", "collectives"]
mpi4py.rc.threads = "threads" in wanted
mpi4py.rc.thread_level = "multiple" if "threads" in wanted else "single"

import numpy as np  # noqa: E402
from mpi4py import MPI  # noqa: E402

comm = MPI.COMM_WORLD
me, n = comm.Get_rank(), comm.Get_size()
right, left = (me + 1) % n, (me - 1) % n
good = bad = 0


def check(name, ok):
    """Counts a check: it passes when it passes on every rank."""
    global good, bad
    if comm.allreduce(0 if ok else 1):
        bad += 1
        if not ok:
            print(f"rank {me}: {name} failed", flush=True)
    else:
        good += 1


def pattern(size, seed):
    return (np.arange(size, dtype=np.uint64) * 2654435761 + seed).astype(np.uint8)


def messages():
    for size in (0, 1, 8, 100, 4096, 65536, 1 << 20, (8 << 20) + 3):
        got = np.zeros(size, np.uint8)
        comm.Sendrecv(pattern(size, me), right, 5, got, left, 5)
        check(f"ring of {size}", np.array_equal(got, pattern(size, left)))
    # many at once, received from the last to the first
    got = [np.zeros(300, np.uint8) for _ in range(200)]
    reqs = [comm.Irecv(got[i], left, i) for i in reversed(range(200))]
    sent = [pattern(300, me * 1000 + i) for i in range(200)]
    reqs += [comm.Issend(sent[i], right, i) for i in range(200)]
    MPI.Request.Waitall(reqs)
    check("200 at once", all(np.array_equal(got[i], pattern(300, left * 1000 + i)) for i in range(200)))
    # a probe, a message that was not expected, a receive that is cancelled
    out = comm.Isend(pattern(777, me), right, 9)
    status = MPI.Status()
    comm.Probe(MPI.ANY_SOURCE, 9, status)
    got = np.zeros(status.Get_count(MPI.BYTE), np.uint8)
    comm.Recv(got, status.Get_source(), 9)
    out.Wait()
    check("probe", np.array_equal(got, pattern(777, left)))
    req = comm.Irecv(got, left, 12345)
    req.Cancel()
    req.Wait(status)
    check("cancel", status.Is_cancelled())


def collectives():
    for size in (1, 1000, 300000):
        mine = np.arange(size, dtype=np.float64) + me
        total = np.empty_like(mine)
        comm.Allreduce(mine, total)
        check(f"allreduce {size}", np.array_equal(total, n * np.arange(size) + n * (n - 1) / 2))
        every = np.empty(n * size, np.float64)
        comm.Allgather(mine, every)
        check(f"allgather {size}", np.array_equal(every.reshape(n, size)[left], np.arange(size) + left))
        out = np.repeat(np.arange(n, dtype=np.int64) * 100 + me, size)
        back = np.empty_like(out)
        comm.Alltoall(out, back)
        check(f"alltoall {size}", np.array_equal(back, np.repeat(me * 100 + np.arange(n), size)))
        root = mine if me == n - 1 else np.zeros(size)
        comm.Bcast(root, n - 1)
        check(f"bcast {size}", np.array_equal(root, np.arange(size, dtype=np.float64) + n - 1))
    comm.Barrier()


def windows():
    mem = np.zeros(4096, np.int64)
    win = MPI.Win.Create(mem, mem.itemsize, comm=comm)
    win.Fence()
    win.Put(np.full(1000, me + 1, np.int64), right, 0)
    win.Fence()
    check("put", bool((mem[:1000] == left + 1).all()))
    got = np.zeros(1000, np.int64)
    win.Get(got, left, 0)
    win.Fence()
    check("get", bool((got == (left - 1) % n + 1).all()))
    win.Accumulate(np.full(10, 1, np.int64), 0, 2000, op=MPI.SUM)
    win.Fence()
    check("accumulate", me != 0 or bool((mem[2000:2010] == n).all()))
    one, was = np.ones(1, np.int64), np.zeros(1, np.int64)
    tickets = []
    for _ in range(50):
        win.Lock(0, MPI.LOCK_SHARED)
        win.Fetch_and_op(one, was, 0, 3000, MPI.SUM)
        win.Unlock(0)
        tickets.append(int(was[0]))
    everybody = sorted(t for part in comm.allgather(tickets) for t in part)
    check("fetch_and_op: each ticket once", everybody == list(range(50 * n)))
    win.Free()


def threads():
    check("MPI_THREAD_MULTIPLE", MPI.Query_thread() == MPI.THREAD_MULTIPLE)
    ok = [False] * 4

    def work(t):
        fine = True
        for i in range(50):
            size = 1 << (i % 18)
            got = np.zeros(size, np.uint8)
            comm.Sendrecv(pattern(size, me + t), right, 100 + t, got, left, 100 + t)
            fine = fine and np.array_equal(got, pattern(size, left + t))
        ok[t] = fine

    pool = [threading.Thread(target=work, args=(t,)) for t in range(4)]
    for p in pool:
        p.start()
    for p in pool:
        p.join()
    check("four threads", all(ok))


for part in wanted:
    {"messages": messages, "collectives": collectives, "windows": windows, "threads": threads}[part]()
if me == 0:
    print(f"{good} passed, {bad} failed", flush=True)
sys.exit(1 if bad else 0)
