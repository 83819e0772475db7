# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""Traffic of one run of sdr_wan: inside it, beside its hosts.

flow.py PLAN RESULT starts servers, then flows at their times, and writes what became of them.
flow.py tcp-server PORT and flow.py tcp-client ADDRESS PORT CC SECONDS are a bulk transfer by the kernel's
TCP with a congestion control by name; "cubic+pace" is CUBIC whose packets TCP spreads itself, "mptcp-bbr"
MPTCP with BBR on each path: the server's host tells its further addresses, and routes lead to each by its own.
"""
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

TCP_CONGESTION = 13
SO_MAX_PACING_RATE = 47
IPPROTO_MPTCP = 262
MPTCP = "mptcp-"
MPTCP_PATHS = "4"


def tcp_socket(multi):
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP if multi else 0)


def tcp_server(port, multi):
    s = tcp_socket(multi)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("0.0.0.0", port))
    s.listen()
    c, _ = s.accept()
    buf = bytearray(1 << 20)
    while c.recv_into(buf):
        pass


def tcp_client(address, port, cc, seconds):
    s = tcp_socket(cc.startswith(MPTCP))
    name, _, paced = cc.removeprefix(MPTCP).partition("+")
    s.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, name.encode())
    if paced:  # any limit makes TCP pace, at 1.2 windows a round trip
        s.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, (1 << 34).to_bytes(8, sys.byteorder))
    s.connect((address, port))
    block = bytes(1 << 20)
    begin = time.monotonic()
    n = 0
    while time.monotonic() < begin + seconds:
        s.sendall(block)
        n += len(block)
    s.close()
    print(json.dumps({"bytes": n, "seconds": time.monotonic() - begin}))


class Run:
    def __init__(self, plan):
        self.plan = plan
        self.wan = plan["wan"]
        self.result = [None] * len(plan["flows"])
        self.servers = []

    def host(self, name):
        return os.environ["SDR_WAN_" + name.upper()]

    def start(self, host, argv, **kw):
        return subprocess.Popen([self.wan, "exec", host] + argv, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, **kw)

    def mptcp(self, f):
        """Both hosts may have further paths; where the server is, it says what further addresses it has."""
        for host in (f["from"], f["to"]):
            self.inside(host, ["ip", "mptcp", "limits", "set", "subflows", MPTCP_PATHS, "add_addr_accepted", MPTCP_PATHS])
        k = 2
        while "SDR_WAN_%s_%d" % (f["to"].upper(), k) in os.environ:
            self.inside(f["to"], ["ip", "mptcp", "endpoint", "add", self.host("%s_%d" % (f["to"], k)), "signal"])
            k += 1

    def inside(self, host, argv):
        subprocess.run([self.wan, "exec", host] + argv, check=True)

    def server(self, i, f):
        if f["kind"] == "ping":
            return
        if f["kind"] == "sdr":
            argv = [self.plan["perf"], "-q", "-A", self.host(f["to"]), "-p", str(f["port"])]
        else:
            argv = [sys.executable, __file__, "tcp-server", str(f["port"])]
            if f["kind"].startswith(MPTCP):
                self.mptcp(f)
                argv.append("multi")
        env = dict(os.environ, **f.get("env", {}))
        self.servers.append(self.start(f["to"], argv, env=env))

    def argv(self, f):
        to = self.host(f["to"])
        if f["kind"] == "sdr":
            return [self.plan["perf"], "-q", "--format", "json", "-p", str(f["port"])] + f["perf"] + [to]
        if f["kind"] == "ping":
            return [self.wan, "ping", "--every", f.get("every", "20ms"), "--for", "%gs" % f["seconds"], to]
        return [sys.executable, __file__, "tcp-client", to, str(f["port"]), f["kind"], str(f["seconds"])]

    def flow(self, i, f, begin):
        time.sleep(max(0, begin + f.get("start", 0) - time.monotonic()))
        env = dict(os.environ, **f.get("env", {}))
        if f["kind"] == "sdr":
            env["FI_SDR_STATS"] = "%s.stats.%d" % (self.plan["out"], i)
        p = self.start(f["from"], self.argv(f), env=env)
        out = p.stdout.read()
        err = p.stderr.read()
        _, status, used = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        r = {"status": p.returncode, "out": out.decode(), "err": err.decode(), "cpu_s": used.ru_utime + used.ru_stime}
        try:
            r["said"] = json.loads(r["out"])
        except ValueError:
            pass
        self.result[i] = r

    def said(self, word, begin, what):
        """To the emulator, at their times."""
        for at, text in what:
            time.sleep(max(0, begin + at - time.monotonic()))
            subprocess.run([self.wan, word, text], check=True)

    def run(self):
        for i, f in enumerate(self.plan["flows"]):
            self.server(i, f)
        time.sleep(0.6)
        begin = time.monotonic()
        jobs = [threading.Thread(target=self.flow, args=(i, f, begin)) for i, f in enumerate(self.plan["flows"])]
        for word, what in (("phase", self.plan["phases"]), ("set", sorted(self.plan.get("changes", [])))):
            threading.Thread(target=self.said, args=(word, begin, what), daemon=True).start()
        for j in jobs:
            j.start()
        for j in jobs:
            j.join()
        cpu = []
        for s in self.servers:  # Popen.terminate() would wait for it, and lose what it used
            os.kill(s.pid, signal.SIGTERM)
            _, _, used = os.wait4(s.pid, 0)
            s.returncode = 0
            cpu.append(used.ru_utime + used.ru_stime)
        return {"flows": self.result, "server_cpu_s": cpu, "begin_s": begin}


def main(argv):
    if argv[1] == "tcp-server":
        tcp_server(int(argv[2]), argv[3:] == ["multi"])
    elif argv[1] == "tcp-client":
        tcp_client(argv[2], int(argv[3]), argv[4], float(argv[5]))
    else:
        with open(argv[1]) as f:
            plan = json.load(f)
        result = Run(plan).run()
        with open(argv[2], "w") as f:
            json.dump(result, f)


main(sys.argv)
