#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# sdr_perf --sdk: messages over the SDK with every byte verified, between processes and in one, what is
# counted, what it prints and refuses, and how it ends when the other side goes away.  No speed is judged.
#
#   perf_sdk.sh [CASE...]        names of cases, default all

. "$(dirname "$0")/cases.sh"

perf=$build/sdr_perf
columns=engine,peer_engine,verified,bytes,packet_bytes,chunk_bytes,channels,workers,in_flight,messages,seconds
columns=$columns,bw_avg_MBps,bw_avg_Gbps,msg_rate_Mpps,packet_rate_Mpps,packets,packets_lost,loss,packets_late
columns=$columns,packets_dup,messages_incomplete,chunks,chunk_rate_Mps,repost_ns,cpu_s,peer_cpu_s,plain_MBps,ratio

server() { # OPTIONS...
	port=$(port_pair)
	case $host in *:*) set -- -A "$host" "$@" ;; esac
	spawn server "$perf" --sdk -p "$port" "$@" && until_said server 'waiting for a client' 20
}
client() { spawn client "$perf" --sdk -p "$port" "$@" "$host"; }
both() { server && client "$@" && both_end_well client server; }

# Both sides in one process; ends well.
alone() {
	local rc
	spawn client "$perf" --sdk --loopback -A "$host" "$@" || return 1
	await client
	rc=$?
	[ $rc = 0 ] || no "exit status $rc"
}

# rows_are COLUMN=VALUE... : the header, and in each row these values; of "COLUMN=A,B" A in the first, B in the second.
rows_are() {
	grep -qxF "$columns" "$tmp/client.txt" || { no "the columns are not those of sdr_perf(1)"; return 1; }
	grep -E '^(engine|[a-z]+,[a-z]+,[01]),' "$tmp/client.txt" | awk -F, -v want="$*" '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; cols = NF; next }
	NF != cols { print "row " NR - 1 " has " NF " columns"; bad = 1; next }
	{
		n = split(want, w, " ")
		for (i = 1; i <= n; i++) {
			split(w[i], kv, "=")
			m = split(kv[2], vals, ",")
			rows = m > 1 ? m : rows
			v = m > 1 ? vals[NR - 1] : kv[2]
			if ($at[kv[1]] != v) { print "row " NR - 1 ": " kv[1] " is " $at[kv[1]] ", not " v; bad = 1 }
		}
		if ($at["seconds"] <= 0 || $at["bw_avg_MBps"] <= 0 || $at["packet_rate_Mpps"] <= 0) { print "no rates"; bad = 1 }
	}
	END { if (NR - 1 != (rows ? rows : 1)) { print NR - 1 " rows"; bad = 1 } exit bad }'
}

# What cannot vary: 50 messages of 20000 bytes are 20 packets and 5 chunks each.
counted="engine=soft peer_engine=soft verified=1 bytes=20000 packet_bytes=1024 chunk_bytes=4096 in_flight=16 messages=50"
counted="$counted packets=1000 packets_lost=0 loss=0 packets_dup=0 messages_incomplete=0 chunks=250 workers=0"
run="-n 50 -s 20000 -m 1024 -c 4k --verify --format csv"

processes() { both $run && rows_are "$counted" channels=1 plain_MBps= ratio=; }
one_process() { alone $run -C 3 && rows_are "$counted" channels=3; }
waits() { alone $run --wait poll && rows_are "$counted" && alone $run --wait sleep && rows_are "$counted"; }
small_packets() {
	alone -n 40 -s 10000 -m 64 -c 16p --verify --format csv &&
		rows_are packet_bytes=64 chunk_bytes=1024 packets=6280 packets_lost=0 chunks=400
}
# Packets as the path carries them, and a message that is larger than the window.
large() { both -n 20 -s 9m -Q 3 --verify --format csv && rows_are messages=20 in_flight=3 packets_lost=0 messages_incomplete=0; }
one_byte() { both -n 300 -s 1 -Q 256 --verify --format csv && rows_are messages=300 packets=300 chunks=300 packets_lost=0; }

plain() {
	both -n 100 -s 100k -m 1024 --verify --plain --rounds 3 --format csv && rows_are messages=100 packets=10000 packets_lost=0 || return 1
	awk -F, '/^soft/ && $27 > 0 && $28 > 0 { ok = 1 } END { exit !ok }' "$tmp/client.txt" || no "no plain writes"
}
plain_channels() { alone -n 50 -s 1m -m 1024 -C 4 --verify --plain --format csv && rows_are messages=50 channels=4 packets_lost=0; }

# Nothing is sent twice: what is lost is counted, what is in place is right, and it comes to an end.
losses() {
	export FI_SDR_FAULT=drop=0.02,dup=0.01,reorder=0.01,seed=4
	both -n 40 -s 100k -m 1024 -c 2p --verify --format csv && rows_are messages=40 packets=4000 || return 1
	awk -F, '/^soft/ { ok = $17 > 20 && $17 < 400 && $18 == $17 / $16 && $21 > 5 && $21 <= 40 && $22 > 500 && $22 < 2000 }
		END { exit !ok }' "$tmp/client.txt" || no "not 2 % of the packets are lost"
}

sweeps() {
	alone -n 20 -s 64k -m 1024 --sweep chunk=1p,2k,64p --verify --format csv &&
		rows_are chunk_bytes=1024,2048,65536 chunks=1280,640,20 packets_lost=0 &&
		alone -n 20 -s 64k --sweep mtu=256,4096 --verify --format csv && rows_are packet_bytes=256,4096 packets=5120,320 &&
		alone -n 20 -m 1024 --sweep size=1,1k,40k --verify --format csv && rows_are bytes=1,1024,40960 packets=20,20,800 &&
		alone -n 20 -s 64k -m 1024 --sweep in-flight=1,9 --format csv && rows_are in_flight=1,9 verified=0 packets=1280,1280 &&
		alone -n 20 -s 64k -m 1024 --sweep channels=1,4 --verify --format csv && rows_are channels=1,4 packets=1280,1280
}

# What workers count may be taken after the bitmap was whole: only the row without them is sure to
# have all chunks.
workers() {
	alone -n 20 -s 1m -m 4096 -c 16p --verify --format csv --sweep workers=0,1,2 &&
		rows_are workers=0,1,2 messages=20 packets_lost=0 messages_incomplete=0 || return 1
	alone -n 20 -s 1m -m 4096 -c 16p --verify --format csv && rows_are chunks=320
}

# The engine that ends with the process.
memory() {
	# shellcheck disable=SC2086
	alone $run -e mem --plain && rows_are engine=mem peer_engine=mem packets=1000 packets_lost=0 chunks=250
}

# A point that cannot be is said, and the others are run.
sweep_with_a_hole() {
	unshare -n sh -c 'ip link set lo mtu 3000 up' 2>/dev/null || { skip "no network namespace without root"; return 0; }
	spawn client unshare -n sh -c 'ip link set lo mtu 3000 up && exec "$0" --sdk --loopback -n 20 -s 64k --sweep mtu=1024,4096,2048 --verify --format csv' "$perf"
	ends_with client 0 'a point is left out: .*mtu 4096.*3000' && rows_are packet_bytes=1024,2048 packets_lost=0
}

table() {
	alone -n 30 -s 1k --plain || return 1
	said client '^# sdr_perf --sdk, both sides in this process, beside plain writes of the same engine; medians of 1$' &&
		said client '^ +bytes packet +chunk chan work +fly +messages +MB/s +Gbit/s +Mpps +chunks/s repost ns +lost plain MB/s +ratio$' &&
		said client '^ +1024 +[0-9]+ +[0-9]+ +1 +0 +16 +30 +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9]+ +[0-9]+ +0\.00e\+00 +[0-9.]+ +[0-9.]+$'
}

json() {
	command -v python3 >/dev/null || { skip "python3 is missing"; return 0; }
	alone -n 30 -m 1024 --sweep size=1k,4k --verify --format json || return 1
	python3 - "$tmp/client.txt" <<-'PY' || no "not the JSON of sdr_perf(1)"
	import json, sys
	o = json.load(open(sys.argv[1]))
	assert (o["op"], o["verified"], o["loopback"], o["rounds"]) == ("sdk", True, True, 1), o
	a, b = o["results"]
	assert (a["bytes"], a["packets"], b["bytes"], b["packets"]) == (1024, 30, 4096, 120), o
	assert a["engine"] == a["peer_engine"] == "soft" and a["packets_lost"] == 0 and "ratio" not in a, a
	PY
}

# How long it runs is asked for, not judged: only that more was done than one window.
duration() {
	both -D 0.2 -s 4k || return 1
	awk '$1 == 4096 && $7 > 16 { ok = 1 } END { exit !ok }' "$tmp/client.txt" || no "no line of 4096 bytes"
}

# Slower than it could, messages are still whole.
rate() { alone -n 10 -s 64k -m 1024 --rate 100m --verify --format csv && rows_are messages=10 packets_lost=0 messages_incomplete=0; }

# ---- what is refused ---------------------------------------------------------------------------

# usage TEXT OPTIONS... : exit status 2, and TEXT is said.
usage() {
	local text=$1 rc
	shift
	timeout -s KILL 20 "$perf" "$@" >"$tmp/out.txt" 2>&1
	rc=$?
	[ $rc = 2 ] || { no "$*: exit status $rc instead of 2"; return 1; }
	grep -qF -- "$text" "$tmp/out.txt" || no "$*: \"$text\" is not said"
}

bad_options() {
	local s=--sdk l=--loopback
	usage "--loopback needs --sdk" $l && usage "--sweep needs --sdk" --sweep size $host && usage "--plain needs --sdk" --plain $host &&
		usage "--rounds needs --sdk" --rounds 3 $host && usage "--rate needs --probe-loss or --sdk" --rate 1g $host &&
		usage "--op is not for --sdk" $s --op lat $host && usage "-b (--bidirectional) is not for --sdk" $s -b $host &&
		usage "--payload is not for --sdk" $s --payload 300 $host && usage "--loopback needs no HOST" $s $l $host &&
		usage "exclude each other" $s --probe-loss && usage "exclude each other" $s $l --loop &&
		usage "exclude each other" $s $l -a --sweep mtu && usage "exclude each other" $s $l --plain --rate 1g &&
		usage "-m (--mtu) is for the client" $s -m 1024 && usage "-s (--size) is for the client" $s -s 1k &&
		usage "--loop is for the server" $s --loop $host && usage "-A (--address) is for the server" $s -A $host $host &&
		usage "--rounds: 0 is out of range" $s $l --rounds 0 && usage "is not one of size, chunk" $s $l --sweep speed &&
		usage "mtu: 60 is neither 0 nor a multiple of 4" $s $l -m 60 && usage "in packets: 4p" $s $l -m 1024 -c 5000 &&
		usage "size: 16 messages of" $s $l -s 128m && usage "workers: 17 is out of range" $s $l --workers 17 &&
		usage "channels: 17 is out of range" $s $l -C 17
}

no_server() {
	port=$(port_pair)
	client && ends_with client 1 "no server at .*TCP port $port .*start a server there: sdr_perf --sdk"
}

refused_port() {
	port=$(port_pair)
	spawn holder "$garbage" -L "$host" $((port + 1)) && until_said holder holding 10 || return 1
	spawn server "$perf" --sdk -p "$port" && until_said server 'waiting for a client' 20 && client -n 5 || return 1
	ends_with client 1 'the other side: engine soft:.*[Aa]ddress already in use' && ends_with server 0 'refused: .*already in use'
}

no_such_engine() { spawn client "$perf" --sdk --loopback -e carrier && ends_with client 1 'engine "carrier": expected soft'; }

no_sdr_perf() {
	port=$(port_pair)
	server && { exec 7<>"/dev/tcp/$host/$port"; } 2>/dev/null || { no "cannot connect"; return 1; }
	printf 'GET / HTTP/1.0\r\n\r\n' >&7
	ends_with server 1 'no sdr_perf --sdk of this version'
	local rc=$?
	exec 7>&-
	return $rc
}

# ---- the other side goes away -------------------------------------------------------------------

client_killed() {
	server && client -D 60 -s 64k && until_said server serving 20 || return 1
	sleep 0.3
	kill9 client
	ends_with server 1 'the other side has gone'
}

server_killed() {
	server && client -D 60 -s 64k && until_said server serving 20 || return 1
	sleep 0.3
	kill9 server
	ends_with client 1 'the other side has gone'
}

# One after another, and what a refused client leaves does not matter to the next.
# The server has said so often that it waits: until then another client is refused.
until_waiting() { # TIMES
	local _
	for _ in {1..400}; do
		[ "$(grep -c 'waiting for a client' "$tmp/server.txt")" -lt "$1" ] || return 0
		sleep 0.05
	done
	no "the server does not wait again"
}
loop() {
	server --loop && client $run && ends_with client 0 '^soft,soft,1,20000,' && until_waiting 2 &&
		client -e carrier && ends_with client 1 'carrier' && until_waiting 3 &&
		client $run && ends_with client 0 '^soft,soft,1,20000,' || return 1
	alive server || no "the server has ended"
}

all="processes one_process waits small_packets large one_byte plain plain_channels losses sweeps workers memory sweep_with_a_hole table json
	duration rate bad_options no_server refused_port no_such_engine no_sdr_perf client_killed server_killed loop"
# shellcheck disable=SC2086
[ $# -gt 0 ] || set -- $all
for c; do
	run_case "$c" "$c"
done
verdict
