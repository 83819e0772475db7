#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# How things end when one side is not there: killed, cut off for a while, not started yet, never
# started, or started again.  Each operation ends, in the time that FI_SDR_TIMEOUT promises, with
# a text that says why.
#
#   ends.sh [CASE...]        names of cases, default all

. "$(dirname "$0")/cases.sh"

timeout_s=3

# Client sends, server receives; returns in the middle of a message.  One of 16 MiB takes more
# than five seconds at this rate: what happens one and a half seconds after its announcement
# happens in its middle, on a slow machine too.  (A larger one at a higher rate took a build with
# ThreadSanitizer half a minute before its first packet, on a machine where memory comes slowly.)
transfer_midway() {
	export FI_SDR_FAULT=delay=12.5ms FI_SDR_CC=fixed FI_SDR_RATE=25mbit
	port=$(free_port)
	server_at server "$port" && client_at client "$port" -S 8,16m -I 5 -W 0 -o -C &&
		until_said client '^sdr,[a-z]+,to,8,' 40 || return 1
	sleep 1.5
	alive client && alive server || no "a side ended by itself"
}

# ended_by NAME SECONDS PATTERN : an error with that text, at most so late after now.
ended_by() {
	local start=$SECONDS rc
	await "$1"
	rc=$?
	[ $rc = 1 ] || { no "$1: exit status $rc instead of 1"; return 1; }
	[ $((SECONDS - start)) -le $(($2 + SLACK)) ] ||
		{ no "$1 needed $((SECONDS - start)) s to see it"; return 1; }
	said "$1" "$3"
}

receiver_killed() {
	export FI_SDR_TIMEOUT=${timeout_s}000
	transfer_midway || return 1
	kill9 server
	ended_by client $timeout_s 'error completion.*stopped answering'
}

sender_killed() {
	export FI_SDR_TIMEOUT=${timeout_s}000
	transfer_midway || return 1
	kill9 client
	ended_by server $timeout_s 'error completion.*stopped answering'
}

# Another process at the address of the one that died: reported at once, not when time is up (30 s).
peer_restarts() {
	transfer_midway || return 1
	kill9 server
	server_at again "$port" || return 1
	ended_by client 5 'error completion.*(restarted|reset)' || return 1
	client_at new "$port" -S 8,64k -I 2 && both_end_well new again
}

# Messages of 8 MiB, 0.7 s each, one after another for eleven seconds of sending: the silence, 10 s to 20 s
# after a side opens its endpoint, falls on one of them or between two, where the sides agree on the next.
# So what tells is the whole run: who survives the silence cannot be done before it is over, and who is
# done earlier has not been through it.  A machine may take ten seconds to start the programs.
blackout() {
	local start
	export FI_SDR_FAULT=delay=12.5ms,blackout=10s+10s FI_SDR_CC=fixed FI_SDR_RATE=100mbit
	port=$(free_port)
	server_at server "$port" && start=$SECONDS && client_at client "$port" -S 8m -I 16 -W 0 -o -C &&
		both_end_well client server || return 1
	[ $((SECONDS - start)) -ge 20 ] || { no "done in $((SECONDS - start)) s: nothing waited for the blackout"; return 1; }
}

client_first() {
	port=$(free_port)
	client_at client "$port" -S 8,64k,1m -I 2 || return 1
	sleep 2
	alive client || { no "the client did not wait"; return 1; }
	# not server_at: all may be over before its port is looked for
	spawn server "$xfer" -A "$host" -B "$port" -T "$LIMIT" && both_end_well client server
}

nobody_there() {
	port=$(free_port)
	FI_SDR_TIMEOUT=${timeout_s}000 client_at client "$port" -S 8 || return 1
	ended_by client $timeout_s 'error completion.*never answered'
}

# Faults delay what a side sends, its farewell too: no round trip is shorter than both delays.
close_keeps_the_delay() {
	local side ns
	export FI_SDR_FAULT=delay=25ms
	port=$(free_port)
	FI_SDR_STATS=$tmp/stats.server server_at server "$port" &&
		FI_SDR_STATS=$tmp/stats.client client_at client "$port" -S 8,64k -I 2 && both_end_well client server ||
		return 1
	for side in client server; do
		ns=$(grep '"total"' "$tmp/stats.$side" | grep -o '"rtt_min_ns":[0-9]*' | grep -o '[0-9]*')
		[ "${ns:-0}" -ge 50000000 ] || { no "$side: a round trip of ${ns:-?} ns"; return 1; }
	done
}

all="receiver_killed sender_killed peer_restarts client_first nobody_there close_keeps_the_delay blackout"
[ $# -gt 0 ] || set -- $all
for c; do
	run_case "$c" "$c"
done
verdict
