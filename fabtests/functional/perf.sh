#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# sdr_perf: every operation with its data verified, what it prints, what it refuses, and how it
# ends when the other side is not there or goes away.  No number that it measures is judged, but for
# those of the drop-rate probe, over a loopback without losses and over a path with known ones.
#
#   perf.sh [CASE...]        names of cases, default all

. "$(dirname "$0")/cases.sh"

perf=$build/sdr_perf
engine=${SDR_TEST_ENGINE:-soft}
columns=op,engine,domain,peer_engine,peer_domain,bidirectional,verified,in_flight,bytes,iterations,seconds
columns=$columns,bw_peak_MBps,bw_avg_MBps,bw_avg_Gbps,msg_rate_Mpps,lat_min_us,lat_median_us,lat_p99_us,lat_max_us
columns=$columns,packets,packets_retransmitted,records_retransmitted,srtt_us,cpu_s,peer_cpu_s,memory,peer_memory

perf_server() { # OPTIONS... : "server", at $port
	port=$(port_pair)
	spawn server "$perf" -p "$port" "$@" && until_said server 'waiting for a client' 20
}

perf_client() { # OPTIONS...
	spawn client "$perf" -p "$port" "$@" "$host"
}

runs() { # OPTIONS... : both sides end well
	perf_server && perf_client "$@" && both_end_well client server
}

# csv_is OP ITERATIONS SIZE... : header, a row for each size, each with numbers where they belong.
csv_is() {
	local op=$1 iters=$2
	shift 2
	[ "$(head -n 1 "$tmp/client.txt")" = "$columns" ] || { no "the columns are not those of sdr_perf(1)"; return 1; }
	awk -F, -v op="$op" -v iters="$iters" -v sizes="$*" -v engine="$engine" '
	NR == 1 { cols = NF; n = split(sizes, size, " "); next }
	{ r++; lat = $16 > 0 && $17 >= $16 && $18 >= $17 && $19 >= $18; bw = $12 >= $13 && $13 > 0 && $14 > 0 && $15 > 0 }
	NF != cols || $1 != op || $9 != size[r] || $10 != iters || $11 <= 0 || $2 != engine || $3 == "" { bad = bad " " NR }
	op == "lat" ? !(lat && $12 $13 $14 $15 == "") : !(bw && $16 $17 $18 $19 == "") { bad = bad " " NR }
	END { if (bad != "" || r != n) { print "bad lines:" bad ", rows: " r + 0 " of " n + 0; exit 1 } }' "$tmp/client.txt"
}

op_is() { # OP OPTIONS...
	local op=$1
	shift
	export FI_SDR_ENGINE=$engine
	runs --op "$op" -n 60 -s 20000 --verify --format csv "$@" && csv_is "$op" 60 20000
}
op_write() { op_is write; }
op_send() { op_is send; }
op_tagged() { op_is tagged; }
op_read() { op_is read --wait poll; }
op_lat() { op_is lat; }
both_ways_write() { op_is write -b -Q 5; }
both_ways_tagged() { op_is tagged -b --wait sleep; }
both_ways_read() { op_is read -b; }

all_sizes() {
	local s=2 sizes=
	while [ $s -le $((8 << 20)) ]; do
		sizes="$sizes $s"
		s=$((s * 2))
	done
	export FI_SDR_ENGINE=$engine
	runs -a -n 5 -Q 2 --verify --format csv && csv_is write 5 $sizes
}

# Losses are repaired, verified, and counted.
repairs() {
	export FI_SDR_FAULT=drop=0.02,dup=0.01,reorder=0.02,seed=4
	runs --op send -s 1m -n 20 --verify --format csv || return 1
	awk -F, 'NR == 2 && $20 > 5000 && $21 > 0 { ok = 1 } END { exit !ok }' "$tmp/client.txt" ||
		no "no repair was counted"
}

# Buffers of a device: each side for itself, every operation, over the driver that fabtests/hmem has.
memory_cuda() {
	export LD_LIBRARY_PATH=$build/fabtests/hmem/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	local op
	for op in write send tagged read lat; do
		perf_server --memory cuda:1 && perf_client --memory cuda --op $op -n 20 -s 300000 --verify --format csv &&
			both_end_well client server || return 1
		awk -F, 'NR == 2 && $26 == "cuda:0" && $27 == "cuda:1" { ok = 1 } END { exit !ok }' "$tmp/client.txt" ||
			{ no "the memories are not named"; return 1; }
	done
	runs --memory cuda:0 --op send -n 20 --verify --format json || return 1
	python3 -c "import json,sys; r = json.load(open(sys.argv[1])); assert r['memory'] == 'cuda:0' and r['peer_memory'] == 'host'" \
		"$tmp/client.txt" || no "not these memories"
}
memory_refused() {
	export LD_LIBRARY_PATH=$build/fabtests/hmem/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	port=$(port_pair)
	perf_client --memory cuda:2 && ends_with client 1 'there are 2 devices' &&
		perf_client --memory gpu && ends_with client 1 'none of host, cuda' &&
		perf_client --memory cuda:x && ends_with client 1 'a device is 0 to 255' &&
		perf_client --memory host:1 && ends_with client 1 'the host has no number'
}

# How long it runs is asked for, not judged: only that more was done than one window.
duration() {
	runs -D 0.2 -s 4k || return 1
	awk '$1 == 4096 && $2 > 16 { ok = 1 } END { exit !ok }' "$tmp/client.txt" || no "no line of 4096 bytes"
}

table() {
	runs -n 30 -s 1k || return 1
	said client '^# sdr_perf write: engine [a-z]+, domain [^ ]+, to engine [a-z]+, domain [^ ]+; 16 in flight$' &&
		said client '^ +bytes +iterations +peak MB/s +avg MB/s +Gbit/s +Mpps +sent again$' &&
		said client '^ +1024 +30 +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9]+$'
}

json() {
	command -v python3 >/dev/null || { skip "python3 is missing"; return 0; }
	export FI_SDR_ENGINE=$engine
	runs -n 30 -s 1k --format json || return 1
	python3 - "$tmp/client.txt" "$engine" <<-'PY' || no "not the JSON of sdr_perf(1)"
	import json, sys
	o = json.load(open(sys.argv[1]))
	assert (o["op"], o["engine"], o["peer_engine"], o["in_flight"]) == ("write", sys.argv[2], sys.argv[2], 16), o
	assert o["verified"] is False and o["bidirectional"] is False, o
	r, = o["results"]
	assert r["bytes"] == 1024 and r["iterations"] == 30 and "lat_min_us" not in r, r
	assert r["bw_peak_MBps"] >= r["bw_avg_MBps"] > 0 and r["packets_retransmitted"] >= 0, r
	assert r["cpu_s"] > 0 and r["peer_cpu_s"] > 0, r
	PY
}

# Only the client has the option; the handshake fails when one side has not got it.
settings() {
	runs -C 3 -c 128k -m 1024 -s 100k -n 20 --verify --format csv || return 1
	# 98 packets of 1024 bytes, 20 times
	awk -F, 'NR == 2 && $20 >= 2000 { ok = 1 } END { exit !ok }' "$tmp/client.txt" || no "packets are not of 1024 bytes"
}

progress_line() {
	command -v script >/dev/null || { skip "script is missing (bsdutils)"; return 0; }
	perf_server || return 1
	spawn client script -qec "'$perf' -p $port -D 3 -s 4k $host" /dev/null
	both_end_well client server && said client '4096 bytes: [0-9]+ s, [0-9]+ %, [0-9.]+ MB/s'
}

# A row for each message of each size, none of which begins before the first or takes longer than all of it.
times_is() { # OP IN_FLIGHT ITERATIONS
	runs --op "$1" -Q "$2" -s 30k -n "$3" --format csv --times "$tmp/times.csv" || return 1
	[ "$(head -n 1 "$tmp/times.csv")" = bytes,message,begin_s,seconds ] || { no "not the columns of sdr_perf(1)"; return 1; }
	awk -F, -v iters="$3" -v most="$(awk -F, 'NR == 2 { print $11 }' "$tmp/client.txt")" '
	NR == 1 { next }
	NR == 2 { first = $3 }
	{ n++; seen[$2]++; if ($2 == 0) first = $3; sum += $4 }
	NF != 4 || $1 != 30720 || $2 < 0 || $2 >= iters || $4 <= 0 || $4 > most + 1e-6 || $3 < first - most { bad = bad " " NR }
	END { for (i = 0; i < iters; i++) if (seen[i] != 1) bad = bad " message " i
		if (bad != "" || n != iters || sum < most * 0.5) { print "bad:" bad ", rows: " n + 0; exit 1 } }' "$tmp/times.csv"
}
times_send() { times_is send 3 40; }
times_lat() { times_is lat 1 20; }
times_nowhere() {
	port=$(free_port)
	perf_client -n 5 --times "$tmp/no/such.csv" && ends_with client 1 'no/such.csv cannot be written: No such file'
}

# ---- what is refused ---------------------------------------------------------------------------

# usage NAME OPTIONS... : exit status 2, and NAME in the text.
usage() {
	local name=$1 rc
	shift
	timeout -s KILL 20 "$perf" "$@" >"$tmp/out.txt" 2>&1
	rc=$?
	[ $rc = 2 ] || { no "$*: exit status $rc instead of 2"; return 1; }
	grep -qF -- "$name" "$tmp/out.txt" || no "$*: the text does not name $name"
}

bad_options() {
	usage --size -s 0 $host && usage --size -s 2g $host && usage --size --size 4kb $host &&
		usage --port -p 0 $host && usage --port -p 65535 && usage --iters -n x $host && usage --iters -n 0 $host &&
		usage --duration -D 0 $host && usage --duration -D nan $host && usage --in-flight -Q 257 $host &&
		usage --op --op jump $host && usage --wait --wait nap $host && usage --format --format xml $host && usage --engine -e tcp $host &&
		usage --mtu -m 257 $host && usage --mtu -m 9000 $host && usage --chunk -c 1 $host &&
		usage --channels -C 17 $host && usage --channels -C $host -C && usage bogus --bogus $host &&
		usage "one HOST" $host $host
}

bad_together() {
	usage --all -s 8 -a $host && usage --duration -n 5 -D 1 $host && usage --bidirectional -b --op lat $host &&
		usage --in-flight -Q 4 --op lat $host && usage -Q -s 1g -Q 2 $host && usage --loop --loop $host &&
		usage --address -A $host $host && usage --times --times f && usage --size -s 8 && usage --op --op lat && usage --verify --verify
}

help_lists() {
	local o
	"$perf" --help >"$tmp/help.txt" || { no "exit status $?"; return 1; }
	for o in port address loop op size all iters duration in-flight bidirectional verify wait times domain engine mtu \
		chunk channels sdk loopback sweep workers plain rounds probe-loss payload rate no-fragment flows trials every append plot format quiet help; do
		said help "--$o " || return 1
	done
}

# Without a port to send data to, the client hears from the server why.
refused_port() {
	port=$(port_pair)
	spawn holder "$garbage" -L "$host" $((port + 1)) && until_said holder holding 10 || return 1
	spawn server "$perf" -p "$port" && until_said server 'waiting for a client' 20 && perf_client -n 5 || return 1
	ends_with client 1 'the server refused: .*[Aa]ddress already in use.*port '$((port + 1)) &&
		ends_with server 1 'refused a client: .*already in use'
}

refused_setting() {
	perf_server -C 2 && perf_client -C 3 || return 1
	ends_with client 1 'the server refused: .*FI_SDR_CHANNELS=2.*wants 3' && ends_with server 1 'refused a client'
}

no_such_domain() {
	port=$(port_pair)
	perf_client -d nosuch0 && ends_with client 1 'domain nosuch0' || return 1
	perf_server -d nosuch0 && perf_client && ends_with client 1 'the server refused: .*domain nosuch0'
}

no_server() {
	local start=$SECONDS
	port=$(port_pair)
	export FI_SDR_TIMEOUT=1000
	perf_client && ends_with client 1 'calling the server.*never answered' || return 1
	[ $((SECONDS - start)) -le $((1 + SLACK)) ] || no "it took $((SECONDS - start)) s"
}

# ---- the other side goes away -------------------------------------------------------------------

client_killed() {
	export FI_SDR_TIMEOUT=1000
	perf_server && perf_client -D 60 -s 64k && until_said server 'serving write' 20 || return 1
	kill9 client
	ends_with server 1 'stopped answering|restarted|reset|never answered'
}

server_killed() {
	export FI_SDR_TIMEOUT=1000
	perf_server && perf_client -D 60 -s 64k && until_said server 'serving write' 20 || return 1
	kill9 server
	ends_with client 1 'error completion while .*(stopped answering|never answered)'
}

# One after another, and what a refused client leaves does not matter to the next.
loop() {
	perf_server --loop && perf_client -n 20 -s 8k --verify && ends_with client 0 ' 8192 ' &&
		perf_client -d nosuch0 && ends_with client 1 nosuch0 &&
		perf_client --op lat -n 20 && ends_with client 0 'median us' || return 1
	alive server || no "the server has ended"
}

# ---- the drop-rate probe ------------------------------------------------------------------------

probe_columns=payload_bytes,wire_bytes,sent,received,lost,loss,loss_low,loss_high,burst_packets,reordered,duplicates
probe_columns=$probe_columns,rtt_min_s,rtt_median_s,rate_bps

probes() { # OPTIONS... : both sides end well
	perf_server --probe-loss && perf_client --probe-loss "$@" && both_end_well client server
}

# probe_is SENT SIZE,LOST,BURST,REORDERED,DUPLICATES... : a row for each size with these numbers.
probe_is() {
	local sent=$1
	shift
	grep -qxF "$probe_columns" "$tmp/client.txt" || { no "the columns are not those of sdr_perf(1)"; return 1; }
	grep '^[0-9]' "$tmp/client.txt" | awk -F, -v sent="$sent" -v want="$*" '
	BEGIN { n = split(want, row, " ") }
	{ split(row[NR], w, ","); bad = 0 }
	NF != 14 || $1 != w[1] || $2 < $1 + 28 || $3 != sent || $4 + $5 != $3 || $5 != w[2] { bad = 1 }
	$6 - $5 / $3 > 1e-8 || $5 / $3 - $6 > 1e-8 || $7 > $6 || $8 <= $6 || $8 > 1 || (!$5 && ($7 != 0 || $8 < 3 / $3)) { bad = 1 }
	($5 && $7 <= 0) || $9 != w[3] || $10 != w[4] || $11 != w[5] || $12 <= 0 || $13 < $12 || $14 <= 0 { bad = 1 }
	bad { print "not the row expected (" row[NR] "): " $0; wrong = 1 }
	END { if (NR != n) print "rows: " NR " of " n; exit wrong || NR != n }'
}

# Over a loopback whose buffers are large enough for everything nothing is lost.
probe_clean() {
	probes -n 300 --rate 100m --format csv &&
		probe_is 300 256,0,0,0,0 512,0,0,0,0 1024,0,0,0,0 1400,0,0,0,0 2048,0,0,0,0 4096,0,0,0,0 8192,0,0,0,0 &&
		said client 'sending 2100 packets of 7 sizes, 5\.[34] MB, to .* at 100 Mbit/s: about 0\.4 s'
}

probe_table() {
	probes -D 0.05 --rate 10m --payload 200,1k || return 1
	said client '^# drop rate of UDP packets to [^ ]+, 10 Mbit/s, [0-9.]+ s; 95 % confidence$' &&
		said client '^ +200 +228 +274 +0 +0\.000e\+00 +0\.000e\+00 +1\.337e-02 ' && said client '^ +1024 +1052 +59 +0 '
}

probe_json() {
	command -v python3 >/dev/null || { skip "python3 is missing"; return 0; }
	probes -n 100 --rate 100m --payload 300,9000 -q --format json || return 1
	python3 - "$tmp/client.txt" <<-'PY' || no "not the JSON of sdr_perf(1)"
	import json, sys
	o = json.load(open(sys.argv[1]))
	assert o["complete"] is True and o["asked_rate_bps"] == 1e8 and o["dropped_at_server_socket"] == 0, o
	a, b = o["results"]
	assert (a["payload_bytes"], a["wire_bytes"], b["payload_bytes"]) == (300, 328, 9000), o
	for r in a, b:
	    assert r["sent"] == r["received"] == 100 and r["lost"] == r["loss"] == r["loss_low"] == 0, r
	    assert 0.03 < r["loss_high"] < 0.04 and 0 < r["rtt_min_s"] <= r["rtt_median_s"], r
	PY
}

# A path that loses 3 in a row of each 100 of one size, swaps 1 of 50 of another, doubles 2 of 25 of a third.
probe_known_path() {
	local relay=$build/sdr_relay behind
	[ "$host" = 127.0.0.1 ] || { skip "only over 127.0.0.1"; return 0; }
	perf_server --probe-loss || return 1
	behind=$port
	port=$(free_port)
	spawn relay "$relay" "$port" "$behind" drop 1000 100 3 swap 700 50 1 double 500 25 2 &&
		until_said relay relaying 10 || return 1
	perf_client --probe-loss -n 1000 --rate 50m --payload 300,500,700,1000 --format csv && both_end_well client server &&
		probe_is 1000 300,0,0,0,0 500,0,0,0,80 700,0,0,20,0 1000,30,3,0,0
}

# The same with the kernel's own losses, where it has them: a namespace, so that nothing else is affected.
probe_netem() {
	unshare -n true 2>/dev/null || { skip "no network namespace without root"; return 0; }
	unshare -n sh -c 'ip link set lo up && tc qdisc add dev lo root netem limit 100000 loss 10%' 2>/dev/null ||
		{ skip "no netem here (sch_netem, tc)"; return 0; }
	spawn both unshare -n bash -c 'ip link set lo up && tc qdisc add dev lo root netem limit 100000 loss 10% || exit 3
		"$0" --probe-loss -q -A 127.0.0.1 & "$0" --probe-loss -q -n 4000 --rate 50m --payload 300,1000 --format csv 127.0.0.1 && wait $!' "$perf"
	ends_with both 0 "^$probe_columns\$" || return 1
	# 400 are expected, with a standard deviation of 19
	awk -F, '/^[0-9]/ { n++; bad += $5 < 300 || $5 > 500 || $7 > 0.1 * 1.3 || $8 < 0.1 * 0.7 }
		END { exit bad || n != 2 }' "$tmp/both.txt" || no "not 10 % of the packets were lost"
}

# An interface of 1500 bytes: six fragments of 8192, and with --no-fragment what goes without.
probe_fragments() {
	unshare -n sh -c 'ip link set lo mtu 1500 up' 2>/dev/null || { skip "no network namespace without root"; return 0; }
	spawn both unshare -n bash -c 'ip link set lo mtu 1500 up
		"$0" --probe-loss -q -A 127.0.0.1 & "$0" --probe-loss -q -n 100 --rate 50m --format csv 127.0.0.1 && wait $! || exit 9
		"$0" --probe-loss -q -A 127.0.0.1 & "$0" --probe-loss -q -n 100 --rate 50m --format csv --no-fragment 127.0.0.1 && wait $! || exit 9
		"$0" --probe-loss --no-fragment --payload 300,1473 127.0.0.1' "$perf"
	ends_with both 2 '--payload: 1473 bytes in one packet .*the interface carries \(1472\)' || return 1
	[ "$(grep '^[0-9]' "$tmp/both.txt" | cut -d, -f1-5 | tr '\n' ' ')" = "256,284,100,100,0 512,540,100,100,0 \
1024,1052,100,100,0 1400,1428,100,100,0 2048,2096,100,100,0 4096,4164,100,100,0 8192,8320,100,100,0 \
256,284,100,100,0 512,540,100,100,0 1024,1052,100,100,0 1400,1428,100,100,0 " ] || no "not these packets"
}

probe_plot() {
	command -v gnuplot >/dev/null || { skip "gnuplot is missing"; return 0; }
	probes -n 200 --rate 100m --payload 300,1000 --plot "$tmp/loss'x.svg" || return 1
	grep -q 'drop rate' "$tmp/loss'x.svg" && grep -q '</svg>' "$tmp/loss'x.svg" || no "not a whole SVG with its axis"
}

# What would make the picture fail is said before anything is sent.
probe_plot_never() {
	port=$(free_port)
	mkdir -p "$tmp/empty" && spawn client env PATH="$tmp/empty" "$perf" --probe-loss -p "$port" --plot "$tmp/a.svg" "$host" &&
		ends_with client 1 'needs gnuplot.*package gnuplot-nox' || return 1
	command -v gnuplot >/dev/null || return 0
	spawn client "$perf" --probe-loss -p "$port" --plot "$tmp/no/such/a.svg" "$host" && ends_with client 1 'cannot be written'
}

probe_bad_options() {
	local p=--probe-loss
	usage --payload $p --payload 63 $host && usage --payload $p --payload 65001 $host && usage --payload $p --payload 300,,400 $host &&
		usage --payload $p --payload '' $host && usage --payload $p --payload 300, $host && usage --payload $p --payload 300,x $host &&
		usage --payload $p --payload 300,300 $host && usage --payload $p --payload 100,101,102,103,104,105,106,107,108,109,110,111,112,113,114,115,116 $host &&
		usage --rate $p --rate 0 $host && usage --rate $p --rate nan $host && usage --rate $p --rate -1g $host &&
		usage --rate $p --rate 10x $host && usage --rate $p --rate 2000g $host && usage --plot $p --plot a.gif $host &&
		usage --iters $p -n 67108865 $host && usage --iters $p -n 60m --rate 1k $host && usage --duration $p -D 3600 --rate 1g $host &&
		usage --payload --payload 300 $host && usage --rate --rate 1g $host && usage --op $p --op lat $host &&
		usage --engine $p -e soft && usage --payload $p --payload 300 && usage --loop $p --loop $host &&
		usage --flows $p --flows 17 $host && usage --trials $p --trials 0 --append f $host && usage --append $p --trials 3 $host &&
		usage --append $p --append f $host && usage --every $p --trials 2 --append f --every 2d $host &&
		usage --every $p --trials 2 --append f --every 25h $host && usage --every $p --trials 2 --append f --every m $host
}

probe_no_server() {
	local start=$SECONDS
	port=$(free_port)
	perf_client --probe-loss && ends_with client 1 "UDP port $port .*start a server there: sdr_perf --probe-loss" || return 1
	[ $((SECONDS - start)) -le $((5 + SLACK)) ] || no "it took $((SECONDS - start)) s"
}

# SIGINT at either side: what there was until then, at the client.
probe_interrupted() { # SIDE STATUS_OF_SERVER TEXT
	perf_server --probe-loss && perf_client --probe-loss -D 20 --rate 20m --payload 300,1000 --format csv &&
		until_said server counting 20 && until_said client sending 20 || return 1
	sleep 0.5
	kill -INT "$(pid_of "$1")"
	ends_with client 0 "$3" && ends_with server "$2" . || return 1
	awk -F, '/^[0-9]/ { n++; bad += $3 < 1 || $5 != 0 } END { exit bad || !n }' "$tmp/client.txt" || no "no counts"
}
probe_client_interrupted() { probe_interrupted client 0 ': interrupted; this is what there was'; }
probe_server_interrupted() { probe_interrupted server 1 'the server was interrupted'; }

probe_server_killed() {
	perf_server --probe-loss && perf_client --probe-loss -D 20 --rate 20m --payload 300 && until_said server counting 20 || return 1
	kill9 server
	ends_with client 1 'the server has gone'
}

probe_client_killed() {
	perf_server --probe-loss && perf_client --probe-loss -D 20 --rate 20m --payload 300 && until_said server counting 20 || return 1
	kill9 client
	ends_with server 1 'the client has gone'
}

# A second client is refused with a reason; a server goes on to the next one afterwards, with garbage at its port.
probe_loop() {
	perf_server --probe-loss --loop && perf_client --probe-loss -D 20 --rate 20m --payload 300 && until_said server counting 20 || return 1
	spawn second "$perf" --probe-loss -p "$port" "$host" && ends_with second 1 'refused: it is busy' || return 1
	kill -INT "$(pid_of client)"
	ends_with client 0 'interrupted' || return 1
	spawn rain "$garbage" -r 20000 "$host" "$port"
	perf_client --probe-loss -n 50 --rate 20m --payload 300 && ends_with client 0 ' 300 ' || return 1
	kill9 rain
	alive server || no "the server has ended"
}

# Packets leave by as many ports as was asked for, and all of them count.
probe_flows() {
	local hex
	[ "$host" = 127.0.0.1 ] || { skip "only over 127.0.0.1"; return 0; }
	perf_server --probe-loss && perf_client --probe-loss -D 1 --rate 10m --payload 300 --flows 5 --format csv &&
		until_said server counting 20 || return 1
	hex=$(printf '0100007F:%04X' "$port")
	[ "$(awk -v to="$hex" '$3 == to' /proc/net/udp | wc -l)" = 5 ] || { no "not five ports"; return 1; }
	both_end_well client server || return 1
	awk -F, '/^300,/ { exit $3 != $4 }' "$tmp/client.txt" || no "some were lost"
}

# Trials over a path that loses 3 in a row of each 100 of one size: as many as were asked for; the same again
# goes on where it was, also behind a line that was never finished, and leaves other files alone.
probe_trials() {
	local relay=$build/sdr_relay behind file=$tmp/trials.csv
	[ "$host" = 127.0.0.1 ] || { skip "only over 127.0.0.1"; return 0; }
	perf_server --probe-loss --loop || return 1
	behind=$port
	port=$(free_port)
	spawn relay "$relay" "$port" "$behind" drop 1000 100 3 && until_said relay relaying 10 || return 1
	trials() { perf_client --probe-loss -n 1000 --rate 50m --payload 300,1000 --every 1s --append "$file" "$@"; }
	trials --trials 2 --format csv && ends_with client 0 '^1000,2,2000,60,0.03,0.03,0.03,0.03,0.03,0.03$' || return 1
	[ "$(cut -d, -f1,3,5,7 "$file" | tr '\n' ' ')" = "trial,payload_bytes,sent,lost 1,300,1000,0 1,1000,1000,30 \
2,300,1000,0 2,1000,1000,30 " ] || { no "not these trials: $(cat "$file")"; return 1; }
	printf '3,17' >>"$file"
	trials --trials 3 && ends_with client 0 'has 2 trials already' || return 1
	[ "$(cut -d, -f1 "$file" | uniq -c | tr '\n' ' ' | tr -s ' ')" = " 1 trial 2 1 2 2 2 3 " ] || { no "not three trials"; return 1; }
	trials --trials 3 --format json && ends_with client 0 '"payload_bytes":1000,"trials":3,"sent":3000,"lost":90' || return 1
	echo "a,b" >"$file"
	trials --trials 3 && ends_with client 1 'has other columns' && [ "$(cat "$file")" = a,b ] || no "the file was changed"
}

# Who is interrupted between two trials keeps those that there are.
probe_trials_interrupted() {
	perf_server --probe-loss --loop && perf_client --probe-loss -n 50 --rate 20m --payload 300 --every 1h --trials 2 \
		--append "$tmp/one.csv" && until_said client 'trial 1 of 2' 20 || return 1
	kill -INT "$(pid_of client)"
	ends_with client 0 'interrupted after 1 of 2 trials' && [ "$(wc -l <"$tmp/one.csv")" = 2 ] || no "not one trial"
}

all="op_write op_send op_tagged op_read op_lat both_ways_write both_ways_tagged both_ways_read all_sizes repairs
	memory_cuda memory_refused duration table json settings times_send times_lat times_nowhere progress_line bad_options bad_together help_lists refused_port refused_setting
	no_such_domain no_server client_killed server_killed loop
	probe_clean probe_table probe_json probe_known_path probe_netem probe_fragments probe_plot probe_plot_never probe_bad_options
	probe_no_server probe_client_interrupted probe_server_interrupted probe_server_killed probe_client_killed
	probe_loop probe_flows probe_trials probe_trials_interrupted"
[ $# -gt 0 ] || set -- $all
for c; do
	run_case "$c" "$c"
done
verdict
