#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# What the provider does with what it should not be given: settings that make no sense, alone or
# together, ports and addresses that are not to be had, files that cannot be
# written, and malicious datagrams.
#
#   badinput.sh [CASE...]    names of cases, default all

. "$(dirname "$0")/cases.sh"

AT_ONCE=4	# fi_info at a time: it sleeps more than it works

# What it says is in $log.
info() {
	log=$tmp/info.$BASHPID	# a process each
	FI_LOG_LEVEL=warn timeout -s KILL 20 fi_info -p sdr >"$log" 2>&1
}

# refuses NAME VALUE [PATTERN] : no sdr, and one line with name, value and what would do.
refuses() {
	local rc why=${3:-must be|allowed are}
	export "FI_SDR_$1=$2"
	info
	rc=$?
	unset "FI_SDR_$1"
	[ $rc -lt 128 ] || { no "FI_SDR_$1=$2: fi_info died, exit status $rc"; return 1; }
	[ $rc != 0 ] || { no "FI_SDR_$1=$2 was taken"; return 1; }
	grep -F -- "FI_SDR_$1" "$log" | grep -F -- "$2" | grep -Eq -- "$why" ||
		no "FI_SDR_$1=$2: no line that names it and says what is allowed"
}

takes() { # NAME VALUE
	local rc
	export "FI_SDR_$1=$2"
	info
	rc=$?
	unset "FI_SDR_$1"
	[ $rc = 0 ] || no "FI_SDR_$1=$2 was not taken (exit status $rc)"
}

# env_case NAME BAD...: each value is refused, and an empty one is none at all.  All are tried, so
# that a report is complete.
env_case() {
	local name=$1 v n=0
	shift
	for v; do
		refuses "$name" "$v" &
		[ $((++n % AT_ONCE)) != 0 ] || wait
	done
	wait
	takes "$name" "" && [ ! -s "$tmp/why" ]
}

env_ENGINE() { env_case ENGINE magic SOFT "soft,verbs" "auto, soft" 1; }
env_RELIABILITY() { env_case RELIABILITY none bogus SR "sr," "sr, sr_rto" ecc EC; }
env_EC_CODE() { env_case EC_CODE rs 1 "mds, xor"; }
env_EC_K() { env_case EC_K 0 256 -1 x 3.5 "4 "; }
env_EC_M() { env_case EC_M 0 256 -1 x; }
env_EC_DECODE() { env_case EC_DECODE both "row, chunk"; }
env_EC_SCRATCH() { env_case EC_SCRATCH 0 1048575 65g -1 512mb; }
env_EC_THREADS() { env_case EC_THREADS 65 -1 1.5 all; }
env_OBJECTIVE() { env_case OBJECTIVE p50 p42 "p99, p999"; }
env_MAX_OVERHEAD() { env_case MAX_OVERHEAD -1 -0.1 4.1 nan inf 1e999 25%; }
env_MTU() { env_case MTU 1 255 258 8193 -4096 4096x 0x1000 1e99; }
env_CHUNK_SIZE() { env_case CHUNK_SIZE 0 255 2g 64kb -1; }
env_IMM_SPLIT() { env_case IMM_SPLIT 10+18 1+2+3 0+28+4 10+18+5 13+15+4 10-18-4 10+18+4+0 abc; }
env_CHANNELS() { env_case CHANNELS 0 17 1.5 -1 many; }
env_GENERATIONS() { env_case GENERATIONS 0 3 5 6 7 12 17 -4; }
env_CC() { env_case CC magic "bbr, fixed" BBR; }
env_RATE() { env_case RATE -1 5 1foo 2000gbit 10gbps; }
env_RATE_MAX() { env_case RATE_MAX 999 10gbit/ 10gbit/site /host 10gbit/host/host -1/host 10gbps; }
env_ECN() { env_case ECN yes 1 ect0 "on, off"; }
env_DSCP() { env_case DSCP 64 -1 AF51 CS8 0x2e 46.5 EF+; }
env_RTT_INIT() { env_case RTT_INIT -5 10000001 25ms; }
env_RTO_RTTS() { env_case RTO_RTTS 0 0.5 101 x; }
env_VERBS_LATE() { env_case VERBS_LATE epoch MR "root,mw" 1; }
env_VERBS_RX_DEPTH() { env_case VERBS_RX_DEPTH 0 63 16385 -1 x; }
env_VERBS_TX_DEPTH() { env_case VERBS_TX_DEPTH 0 15 16385 1.5; }
env_TIMEOUT() { env_case TIMEOUT 0 99 30s 99999999999; }
env_FAULT() {
	env_case FAULT nonsense drop drop= =1 drop=2 drop=-1 drop=x drop=0.1,,dup=0.1 drop=0.1, \
		delay=5 delay=5parsec rate=1tbit burst=0 blackout=3s blackout=+ seed=x seed=-1 \
		corrupt=nan queue=-1 "drop=0.1 dup=0.1" drop=0.99,burst=1.5
}
env_STATS() {
	local long
	long=/$(printf '%0300d' 0)
	refuses STATS "$long" '[Ll]onger than|must be' 2>/dev/null && return 0
	# the value itself may be too long to be repeated
	rm -f "$tmp/why"
	export FI_SDR_STATS=$long
	info && { no "a name of 300 characters was taken"; return 1; }
	grep -q 'FI_SDR_STATS.*longer' "$log" || no "the line does not name FI_SDR_STATS"
}

# A value as long as a page breaks nothing and is still named.
env_long_values() {
	local n rc long
	long=$(printf '%04096d' 0)x
	for n in ENGINE MTU RATE IMM_SPLIT FAULT RTO_RTTS; do
		export "FI_SDR_$n=$long"
		info
		rc=$?
		unset "FI_SDR_$n"
		[ $rc != 0 ] && [ $rc -lt 128 ] || { no "FI_SDR_$n: exit status $rc"; return 1; }
		grep -q "FI_SDR_$n" "$log" || { no "FI_SDR_$n is not named"; return 1; }
	done
}

env_schemes() {
	local v
	for v in auto hybrid sr sr_rto sr_nack ec ec_sr; do
		takes RELIABILITY $v || return 1
	done
}

# Right by themselves, wrong together: the line has both, whichever is asked about.
env_code_together() {
	local bad="must be .* at most" rc=0
	export FI_SDR_EC_M=10
	refuses EC_K 250 "FI_SDR_EC_M=10.*$bad" || rc=1
	takes EC_K 246 || rc=1
	export FI_SDR_RELIABILITY=ec FI_SDR_EC_K=32
	refuses CHUNK_SIZE 16777216 "FI_SDR_EC_M=10.*$bad" || rc=1
	takes CHUNK_SIZE 6m || rc=1
	export FI_SDR_RELIABILITY=ec_sr FI_SDR_EC_M=1
	refuses CHUNK_SIZE 33554432 "$bad.*FI_SDR_RELIABILITY=ec" || rc=1
	export FI_SDR_EC_M=32
	refuses EC_SCRATCH 1048576 "must be 2097152 bytes at least.*FI_SDR_EC_M" || rc=1
	unset FI_SDR_RELIABILITY FI_SDR_EC_K FI_SDR_EC_M
	return $rc
}

# Without a device: no entry, and the reason; with one, another of its names.
verbs_without_device() {
	if [ -n "$(ls /sys/class/infiniband_verbs 2>/dev/null)" ]; then
		export FI_SDR_ENGINE=verbs
		FI_LOG_LEVEL=warn timeout -s KILL 20 fi_info -p sdr -d no-such-device >"$tmp/none.txt" 2>&1
		[ $? = 61 ] || no "fi_info -d no-such-device does not say FI_ENODATA"
		unset FI_SDR_ENGINE
		return
	fi
	refuses ENGINE verbs 'no RDMA device'
}

# Devices are looked for, and nothing is said, when a socket will do.
verbs_not_asked_for() {
	info || { no "fi_info -p sdr failed"; return 1; }
	! grep -qi 'rdma\|verbs' <(grep -v '^ *\|^provider' "$log") || no "something is said of RDMA"
}

env_together() {
	local rc
	refuses CC fixed 'needs FI_SDR_RATE' || return 1
	export FI_SDR_MTU=4096
	refuses CHUNK_SIZE 1024 'smaller than a packet'
	rc=$?
	unset FI_SDR_MTU
	return $rc
}

env_defaults() {
	local name def n=0
	while read -r name def; do
		export "$name=$def"
		n=$((n + 1))
	done < <(fi_info -g sdr | awk '/^# FI_SDR_/ { sub(":", "", $2); v = $2 }
		/\(default: / { sub(/.*\(default: /, ""); sub(/\)$/, ""); if ($0 != "none") print v, $0 }')
	[ $n -ge 16 ] || { no "only $n variables with a default"; return 1; }
	info || no "the defaults that fi_info -g prints, set as they are, are refused"
}

env_misspelt() {
	export FI_SDR_RELIABLITY=sr
	info || { no "a stranger's variable is no error"; return 1; }
	grep -q 'FI_SDR_RELIABLITY.*no such variable' "$log" || no "nothing was said about it"
}

# The ends of what is allowed are allowed.
env_extremes() {
	local settings p
	for settings in "FI_SDR_MTU=256 FI_SDR_CHUNK_SIZE=256" "FI_SDR_MTU=8192 FI_SDR_CHUNK_SIZE=1g" \
		"FI_SDR_IMM_SPLIT=1+23+8 FI_SDR_GENERATIONS=1" "FI_SDR_CHANNELS=16 FI_SDR_GENERATIONS=16" \
		"FI_SDR_IMM_SPLIT=12+20+0 FI_SDR_RTT_INIT=1" \
		"FI_SDR_RELIABILITY=ec FI_SDR_EC_K=255 FI_SDR_EC_M=1" \
		"FI_SDR_RELIABILITY=ec FI_SDR_EC_K=1 FI_SDR_EC_M=255 FI_SDR_CHUNK_SIZE=256 FI_SDR_MTU=256" \
		"FI_SDR_RELIABILITY=ec_sr FI_SDR_EC_CODE=xor FI_SDR_EC_K=4 FI_SDR_EC_M=8" \
		"FI_SDR_RELIABILITY=ec FI_SDR_CHUNK_SIZE=16m FI_SDR_EC_M=4 FI_SDR_EC_SCRATCH=64m" \
		"FI_SDR_RELIABILITY=ec FI_SDR_EC_SCRATCH=1m" \
		"FI_SDR_RELIABILITY=hybrid FI_SDR_MAX_OVERHEAD=0"; do
		p=$(free_port)
		# shellcheck disable=SC2163  # several NAME=VALUE, to be split
		export $settings
		server_at server "$p" && client_at client "$p" -S 0,8,64k,1000001 -I 2 && both_end_well client server ||
			{ no "$settings"; return 1; }
		unset ${!FI_SDR_@}
	done
}

# What both sides must agree on and do not: an error that says so, at once.
settings_differ() {
	local setting p
	for setting in GENERATIONS=2 CHANNELS=3 IMM_SPLIT=8+22+2; do
		p=$(free_port)
		server_at server "$p" || return 1
		export "FI_SDR_$setting"
		client_at client "$p" -S 8
		unset ${!FI_SDR_@}
		await client && { no "$setting at one side worked"; return 1; }
		said client 'error completion.*refused the connection: both sides need the same FI_SDR_' || return 1
		kill9 server
	done
}

# What only the sender needs to know may differ.
schemes_differ() {
	local pair p
	for pair in "sr ec" "ec_sr sr" "auto ec" "hybrid sr_nack"; do
		p=$(free_port)
		FI_SDR_RELIABILITY=${pair% *} FI_SDR_EC_K=7 FI_SDR_EC_M=3 server_at server "$p" || return 1
		FI_SDR_RELIABILITY=${pair#* } FI_SDR_EC_K=20 FI_SDR_CHUNK_SIZE=16k client_at client "$p" -S 8,64k,1m -I 2 &&
			both_end_well client server || { no "server and client: $pair"; return 1; }
	done
}

# An application that does not log at all still gets the sentence, once, on stderr.
told_without_log() {
	export FI_SDR_MTU=1
	client_at client "$(free_port)" -S 8
	await client && { no "FI_SDR_MTU=1 was taken"; return 1; }
	[ "$(grep -c 'FI_SDR_MTU="1": must be' "$tmp/client.txt")" = 1 ] || no "not reported exactly once"
}

# ---- addresses and ports -----------------------------------------------------------------------

# fails_to_start NAME PATTERN OPTIONS... : a server that does not come up and says why.
fails_to_start() {
	local name=$1 pattern=$2 rc
	shift 2
	spawn "$name" env FI_LOG_LEVEL=warn "$xfer" -T 10 "$@" || return 1
	await "$name"
	rc=$?
	[ $rc = 1 ] || { no "exit status $rc instead of 1"; return 1; }
	said "$name" "$pattern"
}

port_in_use() {
	local p
	p=$(free_port)
	spawn holder "$garbage" -L "$host" "$p" && until_said holder holding 10 &&
		fails_to_start server "[Aa]ddress already in use" -A "$host" -B "$p" &&
		grep -q "sdr.*$host:$p" "$tmp/server.txt" || no "the provider does not name address and port"
}

port_in_use_by_sdr() {
	local p
	p=$(free_port)
	server_at first "$p" && fails_to_start second "[Aa]ddress already in use" -A "$host" -B "$p" || return 1
	# and the one that was there first does not mind
	client_at client "$p" -S 8,64k -I 2 && both_end_well client first
}

not_local() { fails_to_start server '203\.0\.113\.7' -A 203.0.113.7 -B "$(free_port)"; }

unknown_host() { fails_to_start client 'no\.such\.host\.invalid' -B "$(free_port)" no.such.host.invalid; }

# In a network of our own whose device carries 1500 bytes.
mtu_above_path() {
	unshare -rn ip link set lo up mtu 1500 2>/dev/null ||
		{ skip "no network namespace without privileges, or no ip(8)"; return 0; }
	cat >"$tmp/inside" <<-END
	ip link set lo up mtu 1500
	FI_SDR_MTU=4096 "$xfer" -A $host -B 7000 -T 10
	[ \$? = 1 ] || { echo "FI_SDR_MTU=4096 did not fail"; exit 1; }
	"$xfer" -A $host -B 7000 -T 20 >server.txt 2>&1 &
	sleep 1
	"$xfer" -B 7000 -T 20 -S 8,64k,1m -I 2 $host || exit 1
	wait \$! && echo fits
	END
	spawn inside unshare -rn bash -c "cd '$tmp' && . ./inside"
	await inside || { no "see inside"; return 1; }
	said inside 'mtu 4096.*1500' && said inside '^fits'
}

stats_unwritable() {
	local p rc
	p=$(free_port)
	export FI_SDR_STATS=$tmp/none/stats
	server_at server "$p" && client_at client "$p" -S 8,64k -I 2 && both_end_well client server || return 1
	said client 'FI_SDR_STATS="[^"]*/none/stats": No such file' && said server 'FI_SDR_STATS.*No such file'
}

# ---- garbage -----------------------------------------------------------------------------------

port_of() { # PID : the local UDP port that it has
	local inode
	for inode in $(find "/proc/$1/fd" -lname 'socket:*' -printf '%l\n' 2>/dev/null | tr -dc '0-9\n'); do
		awk -v i="$inode" '$10 == i { split($2, a, ":"); print a[2] }' /proc/net/udp
	done | while read -r p; do echo $((16#$p)); done | head -n 1
}

client_port() { # NAME : once it has one
	local p
	for _ in {1..200}; do
		p=$(port_of "$(pid_of "$1")")
		[ -n "$p" ] && { echo "$p"; return 0; }
		sleep 0.05
	done
	no "$1 has no UDP port"
}

bad_packets() { # statistics file, what
	local n
	n=$(grep '"peer":"total"' "$1" | grep -o '"pkts_bad":[0-9]*' | tr -dc '0-9')
	[ "${n:-0}" -gt 0 ] || no "$2: pkts_bad is ${n:-not there}"
}

# rain OPTIONS... : garbage at both ports while a verified transfer runs.
rain() {
	local p cp
	p=$(free_port)
	export FI_SDR_CC=fixed FI_SDR_RATE=400mbit	# two times 52 MiB in 2 s: the garbage falls into it
	FI_SDR_STATS=$tmp/stats.server server_at server "$p" || return 1
	FI_SDR_STATS=$tmp/stats.client client_at client "$p" -S 8,64k,4m -I 12 || return 1
	cp=$(client_port client) || return 1
	spawn rain "$garbage" "$@" "$host" "$p" "$cp" || return 1
	alive client || { no "the client was too fast"; return 1; }
	await rain || { no "sdr_garbage failed"; return 1; }
	grep -q ' sent=[1-9]' "$tmp/rain.txt" || { no "nothing was sent"; return 1; }
	both_end_well client server && bad_packets "$tmp/stats.server" server &&
		bad_packets "$tmp/stats.client" client
}
garbage_random() { rain -s 1 -r 200000; }
garbage_mutated() { rain -s 2 -m 200000; }

rss_kib() { awk '/^VmRSS:/ { print $2 }' "/proc/$1/status"; }

# Handshakes by the thousand that are not continued: our own peer still gets through, memory
# stays where it was, and what is answered is no more than three times what was asked.
hello_flood() {
	local p pid before after
	p=$(free_port)
	server_at server "$p" || return 1
	pid=$(pid_of server)
	sleep 0.3
	before=$(rss_kib "$pid")
	spawn early "$garbage" -s 3 -H 20000 -k 4000 "$host" "$p" && await early || { no "sdr_garbage failed"; return 1; }
	after=$(rss_kib "$pid")
	spawn flood "$garbage" -s 4 -H 400000 -k 4000 "$host" "$p" || return 1
	client_at client "$p" -S 8,64k -I 50 || return 1
	await client || { no "the client did not get through"; return 1; }
	await server || { no "the server failed"; return 1; }
	kill9 flood
	[ $((after - before)) -lt 32768 ] || { no "memory grew by $((after - before)) KiB"; return 1; }
	echo "memory grew by $((after - before)) KiB; $(cat "$tmp/early.txt")"
	awk '/^hello/ { for (i = 2; i <= NF; i++) { split($i, a, "="); v[a[1]] = a[2] } }
		END { exit !(v["ack"] > 0 && v["retry"] > 0 && v["rx_bytes"] <= 3 * v["tx_bytes"]) }' "$tmp/early.txt" ||
		no "not answered as it should be: $(cat "$tmp/early.txt")"
}

all="env_ENGINE env_RELIABILITY env_EC_CODE env_EC_K env_EC_M env_EC_DECODE env_EC_SCRATCH env_EC_THREADS env_OBJECTIVE env_MAX_OVERHEAD
	env_MTU env_CHUNK_SIZE env_IMM_SPLIT env_CHANNELS env_GENERATIONS env_CC env_RATE env_RATE_MAX env_ECN env_DSCP env_RTT_INIT env_RTO_RTTS
	env_TIMEOUT env_FAULT env_STATS env_long_values env_schemes env_code_together verbs_without_device
	verbs_not_asked_for env_VERBS_LATE env_VERBS_RX_DEPTH env_VERBS_TX_DEPTH env_together env_defaults env_misspelt
	env_extremes settings_differ schemes_differ told_without_log port_in_use port_in_use_by_sdr not_local unknown_host mtu_above_path stats_unwritable
	garbage_random garbage_mutated hello_flood"
command -v fi_info >/dev/null || { echo "badinput.sh: fi_info is missing (libfabric-bin)"; exit 77; }
[ $# -gt 0 ] || set -- $all
for c; do
	run_case "$c" "$c"
done
verdict
