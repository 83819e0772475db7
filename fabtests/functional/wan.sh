#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# sdr_wan: its self-test (counts; times are for `sdr_wan --self-test`), what it says of bad options,
# that it ends what it started, and a transfer of sdr over it.  Where there are no network namespaces
# or no TUN devices, what needs them is skipped.
#
#   fabtests/functional/wan.sh [CASE...]	cases: see the end

. "${SDR_SRCDIR:-.}/fabtests/functional/cases.sh"
wan=$build/sdr_wan

possible() {
	"$wan" --quiet --run a:true >"$tmp/possible.txt" 2>&1
	[ $? != 77 ] || { skip "$(tail -n 1 "$tmp/possible.txt")"; return 1; }
}

# field NAME : a number of the direction ab of the whole run, of $tmp/j
field() { sed -n '/^ "directions"/s/.*"direction":"ab"[^}]*"'"$1"'":\([0-9.e-]*\).*/\1/p' "$tmp/j" | head -n 1; }

# status WANT PATTERN COMMAND... : exit status and what was said (-: anything)
status() {
	local want=$1 pattern=$2 rc
	shift 2
	timeout 30 "$@" >"$tmp/said.txt" 2>&1
	rc=$?
	[ $rc = "$want" ] || { no "$*: exit status $rc instead of $want"; return 1; }
	[ "$pattern" = - ] || grep -Eq -- "$pattern" "$tmp/said.txt" || no "$*: did not say \"$pattern\""
}

self_test() {
	possible || return 0
	spawn self "$wan" --self-test --no-times && await self && said self '^[1-9][0-9]* passed, 0 failed'
}

bad_options() {
	status 2 'nothing to do' "$wan" && status 2 'no command "x"' "$wan" x && status 2 'nothing to run' "$wan" --rtt 1ms &&
		status 2 'rate: "x" is none' "$wan" --rate x --run a:true &&
		status 2 'needs a rate' "$wan" --queue 1bdp --run a:true &&
		status 2 'there is no host "a2"' "$wan" --run a2:true && status 2 'ab or ba' "$wan" --set x:rate=1g --run a:true &&
		status 2 'path "2"' "$wan" --set /2:rate=1g --run a:true &&
		status 2 'no setting "speed"' "$wan" --set speed=1 --run a:true &&
		status 2 '--at: .*is no time' "$wan" --at x:rate=1g --run a:true &&
		status 2 '--at: .*loss: "7" is none' "$wan" --at 5s:loss=7 --run a:true &&
		status 2 'hosts: "65"' "$wan" --hosts 65 --run a:true && status 2 'no option "--no-such"' "$wan" --no-such &&
		status 2 'no HOST:COMMAND' "$wan" --run true && status 2 'for commands of a run' "$wan" exec a true &&
		status 2 'for commands of a run' "$wan" set rate=1g && status 2 'one IPv4 address' "$wan" ping x &&
		status 0 'usage: sdr_wan' "$wan" --help && status 0 'usage: sdr_wan ping' "$wan" ping --help
}

statuses() {
	possible || return 0
	status 7 - "$wan" --run 'a:exit 7' --run 'b:true' && status 127 'no-such-command: ' "$wan" -- no-such-command &&
		status 3 - "$wan" -- sh -c 'sdr_wan=$0; "$sdr_wan" exec a sh -c "exit 3"' "$wan" &&
		status 1 'ended by --limit' "$wan" --limit 200ms --run 'a:sleep 20'
}

# Interrupted: the result is there, and nothing is left of what it ran.
interrupted() {
	local mark=$((100000 + RANDOM))
	possible || return 0
	spawn run "$wan" --json "$tmp/j" -- bash -c "sleep $mark & trap '' TERM; echo up; sleep $mark; sleep $mark" &&
		until_said run up 10 || return 1
	kill -INT "$(pid_of run)"
	await run
	[ $? = 130 ] || no "not the status of a process that was interrupted"
	grep -q '"phases"' "$tmp/j" || no "no result"
	! pgrep -f "sleep $mark" >/dev/null || no "something is left"
}

# Killed without a chance to say anything: the kernel ends the rest.
killed() {
	local mark=$((200000 + RANDOM)) t
	possible || return 0
	spawn run "$wan" --quiet -- bash -c "setsid sleep $mark & echo up; sleep $mark" && until_said run up 10 || return 1
	kill9 run
	for t in {1..100}; do
		pgrep -f "sleep $mark" >/dev/null || return 0
		sleep 0.05
	done
	no "something is left ($t looks)"
}

changes_and_phases() {
	possible || return 0
	status 0 - "$wan" --rtt 4ms --json "$tmp/j" --series "$tmp/series" --every 10ms -- sh -c '
		"$0" exec a "$0" ping --every 5ms --for 100ms $SDR_WAN_B >/dev/null && "$0" phase "now \"down\"" && "$0" set ab:link=down &&
		"$0" exec a "$0" ping --every 5ms --for 100ms $SDR_WAN_B >/dev/null' "$wan" || return 1
	grep -q '"name":"now \\"down\\""' "$tmp/j" || { no "no such phase"; return 1; }
	# how many pings there were depends on how busy the machine is
	[ "$(field link_down_drops)" -gt 0 ] && [ "$(field packets)" -gt 0 ] &&
		[ $(($(field link_down_drops) + $(field packets))) = "$(field in_packets)" ] ||
		{ no "not some packets through, and the others not"; return 1; }
	head -n 1 "$tmp/series" | grep -q '^t_s,phase,what,bytes,' && grep -q ',ab,' "$tmp/series" &&
		grep -q ',a1>b1,' "$tmp/series" || no "not the time series of sdr_wan(1)"
}

transfer() { # VARIABLE : of the server's address
	possible || return 0
	status 0 'every byte verified' "$wan" --rtt 2ms --rate 200mbit --queue 1bdp --loss 1% --json "$tmp/j" --limit 30s \
		--serve "b:exec $build/sdr_perf -q -A \$$1" --run "a:sleep 0.3; exec $build/sdr_perf -q --verify -n 64 -s 64k \$$1" || return 1
	[ "$(field lost)" -gt 0 ] || no "nothing was lost"
}
transfer_four() { transfer SDR_WAN_B; }
transfer_six() { transfer SDR_WAN_6_B; }

# All the hosts that there may be.
many() {
	possible || return 0
	status 0 'fd77:2::40' "$wan" --hosts 64:64 --quiet --run 'b64:ip -6 addr show dev wan0' \
		--run "a64:$wan ping --every 10ms --for 50ms 10.77.2.64 | grep -q '\"received\":5'"
}

# What leaves by an interface takes its path: each has its own round trip, and one its outage.
multihomed() {
	local i sent
	possible || return 0
	status 0 - "$wan" --rtt 2ms --paths 3 --multihomed --set /2:rtt=40ms --set /3:link=down --json "$tmp/j" --series "$tmp/series" --every 10ms -- sh -c '
		for to in $SDR_WAN_B $SDR_WAN_B_2 $SDR_WAN_B1_3; do
			"$0" exec a "$0" ping --every 5ms --for 100ms $to || exit
		done
		"$0" exec b ip -6 addr show dev wan1 | grep -q "fd78:2::1/" && [ "$SDR_WAN_6_B_2" = fd78:2::1 ]' "$wan" || return 1
	for i in 1 2; do
		[ "$(sed -n "$i"'s/.*"sent":\([0-9]*\),"received":\1,.*/yes/p' "$tmp/said.txt")" = yes ] || { no "path $i lost: $(cat "$tmp/said.txt")"; return 1; }
	done
	[ "$(sed -n '2s/.*"p50_s":0\.04.*/yes/p' "$tmp/said.txt")" = yes ] || { no "not the round trip of path 2: $(cat "$tmp/said.txt")"; return 1; }
	grep -q '"received":0' "$tmp/said.txt" || { no "path 3 is not down"; return 1; }
	# a busy host sends some later than every 5 ms
	sent=$(sed -n '2s/.*"sent":\([0-9]*\),.*/\1/p' "$tmp/said.txt")
	grep -q "\"path\":\"ab/2\",\"in_packets\":$sent," "$tmp/j" && grep -q ',ba/2,' "$tmp/series" || no "not the counters of paths"
}

all="bad_options statuses interrupted killed changes_and_phases transfer_four transfer_six many multihomed self_test"
[ $# -gt 0 ] || set -- $all
for c; do
	run_case "$c" "$c"
done
verdict
