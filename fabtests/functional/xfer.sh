#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Verified transfers between two processes through the provider: clean, under faults, with a
# peer that dies, through a blackout, under a rain of garbage, and with settings that are wrong.
# Exit status 1 if a case failed.
#
#   xfer.sh [CASE...]        names of cases, default all
#   PROV="tcp;ofi_rxm" xfer.sh clean_tagged clean_msg clean_write     another provider
#   SDR_TEST_HOST=ADDRESS, SDR_TEST_ENGINE=NAME                        as in cases.sh

LIMIT=${LIMIT:-120}
. "$(dirname "$0")/cases.sh"
prov=${PROV:-sdr}
faults="drop=0.02,dup=0.01,reorder=0.02,corrupt=0.005,seed=1"

server() { # up, at a port of its own
	port=$(free_port)
	server_at server "$port" -p "$prov"
}

client() { # OPTIONS... : its exit status
	client_at client "$port" -p "$prov" "$@" && await client
}

# both OPTIONS... : a whole transfer, both sides verified.
both() {
	server && client_at client "$port" -p "$prov" "$@" && both_end_well client server
}

# ended_with_error STATUS : the client's, with an error completion that it has printed.
ended_with_error() {
	[ "$1" = 1 ] || no "exit status $1 instead of 1" || return 1
	said client "error completion"
}

clean() { both -m "$1" -S 0,1,8,1000,4k,64k,1m,5000001 -I 3; }
clean_tagged() { clean tagged; }
clean_msg() { clean msg; }
clean_write() { clean write; }

faulty() { FI_SDR_FAULT=$faults both -m "$1" -S 0,8,1000,4k,64k,1m,5000001 -I 5; }
faults_tagged() { faulty tagged; }
faults_msg() { faulty msg; }
faults_write() { faulty write; }

wan_loss() {
	FI_SDR_FAULT=delay=12.5ms,drop=0.01,seed=3 FI_SDR_CC=fixed FI_SDR_RATE=1000000000 \
		both -m tagged -S 8,64k,8m -I 2
}

scheme() { FI_SDR_RELIABILITY=$1 FI_SDR_FAULT=drop=0.01,seed=5 both -m tagged -S 8,64k,2m -I 2; }
scheme_sr_rto() { scheme sr_rto; }
scheme_sr_nack() { scheme sr_nack; }

channels() { FI_SDR_SHM=off FI_SDR_CHANNELS=4 FI_SDR_FAULT=drop=0.01,seed=6 both -m tagged -S 8,4m -I 2; }

# Receive workers at both ends; at one alone; with parity, which is decoded while they place.
workers() {
	export FI_SDR_SPREAD_MIN=256k FI_SDR_SHM=off
	FI_SDR_WORKERS=2 both -m tagged -S 8,300k,4m,5000001 -I 4 &&
		FI_SDR_WORKERS=3 FI_SDR_CHANNELS=2 FI_SDR_FAULT=$faults both -m write -S 64k,5000001 -I 4 || return 1
	server && FI_SDR_WORKERS=2 client_at client "$port" -p "$prov" -m msg -S 8,1m -I 4 &&
		both_end_well client server || return 1
	unset FI_SDR_SPREAD_MIN
	FI_SDR_WORKERS=2 both -m tagged -S 1m,9m -I 2
}
workers_parity() {
	export FI_SDR_SPREAD_MIN=256k FI_SDR_SHM=off
	FI_SDR_WORKERS=2 FI_SDR_RELIABILITY=ec FI_SDR_EC_K=8 FI_SDR_EC_M=4 FI_SDR_FAULT=drop=0.02,seed=4 \
		both -m tagged -S 2m,5000001 -I 4
}

# Workers at both ends of several paths, from ports of their own; one side alone asks for paths; one alone has workers.
workers_paths() {
	export FI_SDR_SPREAD_MIN=256k
	FI_SDR_PATHS=3 FI_SDR_WORKERS=2 both -m tagged -S 8,300k,4m,5000001 -I 4 &&
		FI_SDR_PATHS=2 FI_SDR_WORKERS=2 FI_SDR_FAULT=$faults both -m write -S 64k,5000001 -I 4 || return 1
	FI_SDR_WORKERS=1 server && FI_SDR_STATS=$tmp/stats FI_SDR_PATHS=3 client_at client "$port" -p "$prov" -m msg \
		-S 8,1m,9m -I 4 && both_end_well client server || return 1
	grep -q '"paths_up": *[1-9]' "$tmp/stats" || no "no path beside the first was used"
}

ipv6() {
	grep -q '^0\{31\}1 ' /proc/net/if_inet6 2>/dev/null || { skip "the loopback has no ::1"; return; }
	host=::1 both -m tagged -S 8,64k,1m -I 2
}

# Both follow the smaller packet size, whichever side has it.
mtu_differs() {
	FI_SDR_MTU=1024 server && client_at client "$port" -p "$prov" -S 8,64k,1m -I 2 &&
		both_end_well client server || return 1
	server && FI_SDR_MTU=1024 client_at client "$port" -p "$prov" -S 8,64k,1m -I 2 &&
		both_end_well client server
}

# Law 6: no loss means that nothing is sent again.  By the sockets, which hold what comes in a tenth of a second:
# a ring of shared memory holds a sixth of that, and drops what is for a process that a busy host lets wait longer.
clean_no_repair() {
	FI_SDR_SHM=off FI_SDR_STATS=$tmp/stats FI_SDR_FAULT=delay=5ms FI_SDR_CC=fixed FI_SDR_RATE=500000000 \
		both -m tagged -S 8,4m -I 3 || return 1
	[ -s "$tmp/stats" ] || no "no statistics were written" || return 1
	! grep -oE '"(rtx_(rack|nack|tlp|rto)|nack_tx)": *[1-9][0-9]*' "$tmp/stats"
}

# The peer dies in the middle: an error completion with a reason, in bounded time, no hang.
peer_killed() {
	export FI_SDR_TIMEOUT=2000
	export FI_SDR_CC=fixed FI_SDR_RATE=12000000	# 8 MiB take more than 5 s
	server && client_at client "$port" -p "$prov" -T 60 -m "$1" -S 8m -I 1 -W 0 -o || return 1
	sleep 4 # it has begun, also where starting takes seconds
	kill9 server
	await client
	ended_with_error $?
}
peer_killed_tagged() { peer_killed tagged; }
peer_killed_write() { peer_killed write; }

no_peer() {
	port=$(free_port)
	FI_SDR_TIMEOUT=1000 client -T 60 -S 8
	ended_with_error $?
}

# Silence shorter than the timeout only costs time.
blackout() {
	FI_SDR_FAULT=blackout=1s+4s FI_SDR_CC=fixed FI_SDR_RATE=100000000 both -m tagged -S 4m -I 8
}

# Random datagrams at the server's port while it works.
garbage() {
	local rain rc
	command -v python3 >/dev/null || { skip "python3 is missing"; return; }
	server || return 1
	python3 - "$port" <<-'PY' &
	import os, random, socket, sys
	s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	to = ("127.0.0.1", int(sys.argv[1]))
	random.seed(1)
	for i in range(100000):
	    n = random.choice((0, 1, 11, 12, 19, 20, 24, 36, 64, 500, 1400))
	    b = bytearray(os.urandom(n))
	    if n > 12 and i & 1:        # looks like ours up to the check sum
	        b[0] = random.choice((0x2b, 0x64))
	        b[1] = 0x40
	        b[5:8] = b"\0\0\1"
	    try:
	        s.sendto(b, to)
	    except OSError:
	        pass
	PY
	rain=$!
	client_at client "$port" -p "$prov" -m tagged -S 8,64k,4m -I 10 && both_end_well client server
	rc=$?
	kill -9 "$rain" 2>/dev/null
	wait "$rain" 2>/dev/null
	return $rc
}

# refused NAME=VALUE : the variable is named, nothing starts.
refused() {
	local rc
	port=$(free_port)
	# shellcheck disable=SC2163  # $1 is NAME=VALUE
	(export "$1"; exec timeout -s KILL "$LIMIT" "$xfer" -p "$prov" -B "$port" -T 10 -S 8 "$host") >"$tmp/client.txt" 2>&1
	rc=$?
	[ $rc = 1 ] || no "$1: exit status $rc instead of 1" || return 1
	grep -q "${1%%=*}" "$tmp/client.txt" || no "$1: the message does not name it"
}
bad_settings() {
	refused FI_SDR_MTU=1 && refused FI_SDR_MTU=x && refused FI_SDR_FAULT=drop=2 && refused FI_SDR_FAULT=nonsense &&
		refused FI_SDR_CC=magic && refused FI_SDR_IMM_SPLIT=1+2+3 && refused FI_SDR_RELIABILITY=none
}

# Both sides, two processes, write one file, those after them read it; a file of something else stays.
cache() {
	local file=$tmp/paths entries size
	rm -f "$tmp"/paths*
	export FI_SDR_CACHE=$file FI_SDR_FAULT=delay=5ms,rate=400mbit
	for entries in first second; do
		both -m tagged -S 8,1m,4m -I 3 || return 1
		[ "$(head -c 8 "$file" 2>/dev/null)" = sdrpaths ] || no "$entries: no cache was written" || return 1
		[ "$(stat -c %a "$file")" = 600 ] || no "$entries: others may read the cache" || return 1
	done
	# a head, and of a side the host and its network
	size=$(stat -c %s "$file")
	[ "$size" -ge $((32 + 2 * 96)) ] || no "the cache has $size bytes" || return 1
	[ "$(ls "$tmp"/paths*)" = "$file" ] || no "something was left beside it" || return 1
	echo precious >"$file"
	both -m tagged -S 8,1m -I 3 && said client 'FI_SDR_CACHE=.*not a cache' || return 1
	[ "$(cat "$file")" = precious ] || no "another file was overwritten"
}

port_in_use() {
	local rc
	server || return 1
	spawn second "$xfer" -p "$prov" -B "$port" -A "$host" -T 5 || return 1
	await second
	rc=$?
	[ $rc = 1 ] || no "exit status $rc instead of 1"
}

all="clean_tagged clean_msg clean_write clean_no_repair faults_tagged faults_msg faults_write wan_loss
	scheme_sr_rto scheme_sr_nack channels workers workers_parity workers_paths ipv6 mtu_differs peer_killed_tagged peer_killed_write
	no_peer blackout garbage
	bad_settings cache port_in_use"

[ $# -gt 0 ] || set -- $all
for c; do
	run_case "$c" "$c"
done
verdict
