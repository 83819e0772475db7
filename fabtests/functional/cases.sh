# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Sourced by the scripts of this folder that run processes against each other: starting and
# ending them by name, waiting for what they say, counting cases.
#
# A process started with `spawn NAME` writes to $tmp/NAME.txt and its endpoints' statistics to
# $tmp/last.NAME, and is killed at the end of its case or 12 seconds after LIMIT, whatever happens to this
# script; sdr_xfer ends itself at LIMIT and says what it waited for.  A case is a function that returns 0,
# or says what is wrong with `no` and returns 1; `skip` ends it without a verdict.  It begins without any
# FI_SDR_ variable and may export what it likes.  Of one that fails the ends of these files are shown.
#
# Environment: SDR_TEST_HOST, an address of this machine (default 127.0.0.1); SDR_TEST_ENGINE, what
# FI_SDR_ENGINE is at the start of each case (default: not set).

set -u
build=${SDR_BUILDDIR:-$PWD}
xfer=$build/sdr_xfer
# shellcheck disable=SC2034  # for those that source this file
garbage=$build/sdr_garbage
export FI_PROVIDER_PATH=${FI_PROVIDER_PATH:-$build/.libs} IPATH_NO_BACKTRACE=1
host=${SDR_TEST_HOST:-127.0.0.1}
LIMIT=${LIMIT:-50}	# seconds a process may live
SLACK=${SLACK:-10}	# seconds that a busy machine may add to a deadline
tmp=$(mktemp -d)
ports=${TMPDIR:-/tmp}/sdr-ports.$UID	# a link a port, to the number of the script that has it
declare -A job=()
passed=0 failed=0
trap 'kill_all; rm -rf "$tmp"; find "$ports" -lname $$ -delete 2>/dev/null' EXIT
trap 'exit 130' INT TERM HUP

no() { echo "$*" >>"$tmp/why"; return 1; }
skip() { echo "$*" >"$tmp/skip"; return 0; }

spawn() { # NAME COMMAND...
	local name=$1 says
	shift
	rm -f "$tmp/$name.pid"
	says=("FI_SDR_STATS=${FI_SDR_STATS:-$tmp/last.$name}")
	case " $* " in *" $xfer "*) [ -n "${FI_LOG_LEVEL:-}" ] || says+=(FI_LOG_LEVEL=warn FI_LOG_PROV=sdr) ;; esac
	env "${says[@]}" timeout -s KILL $((LIMIT + 12)) bash -c 'echo $$ >"$0"; exec "$@"' "$tmp/$name.pid" "$@" \
		>"$tmp/$name.txt" 2>&1 </dev/null &
	job[$name]=$!
	for _ in {1..500}; do
		[ -s "$tmp/$name.pid" ] && return 0
		sleep 0.02
	done
	no "$name did not start"
}

pid_of() { cat "$tmp/$1.pid"; }

# Ends a process that spawn started; its job is waited for, so that its number is not reused before.
kill9() { # NAME
	[ -n "${job[$1]:-}" ] || return 0
	[ -s "$tmp/$1.pid" ] && kill -9 "$(pid_of "$1")" 2>/dev/null
	wait "${job[$1]}" 2>/dev/null
	unset "job[$1]"
	return 0
}

kill_all() {
	local name
	for name in "${!job[@]}"; do
		kill9 "$name"
	done
}

# Exit status of a process; 137 when it had to be killed.
await() { # NAME
	local rc
	wait "${job[$1]}" 2>/dev/null
	rc=$?
	unset "job[$1]"
	return $rc
}

alive() { [ -n "${job[$1]:-}" ] && kill -0 "${job[$1]}" 2>/dev/null; }

# until_said NAME PATTERN SECONDS : the process has written a line that matches.
until_said() {
	local end=$((SECONDS + $3))
	while [ $SECONDS -le $end ]; do
		grep -Eq -- "$2" "$tmp/$1.txt" && return 0
		alive "$1" || break
		sleep 0.05
	done
	grep -Eq -- "$2" "$tmp/$1.txt" || no "$1 did not say \"$2\" within $3 s"
}

said() { # NAME PATTERN
	grep -Eq -- "$2" "$tmp/$1.txt" || no "$1 did not say \"$2\""
}

# ends_with NAME STATUS PATTERN : the process ends with that status, and has said that.
ends_with() {
	local rc
	await "$1"
	rc=$?
	[ $rc = "$2" ] || { no "$1: exit status $rc instead of $2"; return 1; }
	said "$1" "$3"
}

# A port that nobody has, and that no other script will be given while this one runs: they run side by side, and the
# port of a server that one of them has just killed looks free to the others.
free_port() {
	local p
	mkdir -p "$ports"
	while :; do
		p=$((20000 + RANDOM % 12000))
		has_port $p || ! claim_port $p || break
	done
	echo $p
}

# A port whose successor is free, too.
port_pair() {
	local p
	while :; do
		p=$(free_port)
		has_port $((p + 1)) || ! claim_port $((p + 1)) || break
	done
	echo "$p"
}

# Somebody has it; local ports in these files are hexadecimal.
has_port() {
	grep -qi ":$(printf '%04X' "$1") " /proc/net/udp /proc/net/udp6 /proc/net/tcp /proc/net/tcp6 2>/dev/null
}

claim_port() {
	ln -s $$ "$ports/$1" 2>/dev/null && return 0
	# of one that is gone and could not clean up
	kill -0 "$(readlink "$ports/$1")" 2>/dev/null || rm -f "$ports/$1"
	return 1
}

# bound PORT : an UDP socket has it, or a TCP socket listens there.
bound() {
	grep -Eqi " [0-9A-F]+:$(printf '%04X' "$1") 0+:0000 " \
		/proc/net/udp /proc/net/udp6 /proc/net/tcp /proc/net/tcp6 2>/dev/null
}

# server_at NAME PORT OPTIONS... : sdr_xfer's server, up and bound.
server_at() {
	local name=$1 p=$2
	shift 2
	spawn "$name" "$xfer" -A "$host" -B "$p" -T "$LIMIT" "$@" || return 1
	for _ in {1..400}; do
		bound "$p" && return 0
		alive "$name" || break
		sleep 0.05
	done
	no "$name did not bind port $p"
}

client_at() { # NAME PORT OPTIONS...
	local name=$1 p=$2
	shift 2
	spawn "$name" "$xfer" -B "$p" -T "$LIMIT" "$@" "$host"
}

# Both sides of a transfer end well.
both_end_well() { # CLIENT SERVER
	local rc
	await "$1"
	rc=$?
	[ $rc = 0 ] || { no "$1: exit status $rc"; return 1; }
	await "$2"
	rc=$?
	[ $rc = 0 ] || no "$2: exit status $rc"
}

run_case() { # NAME COMMAND...
	local name=$1 start=$SECONDS rc f
	shift
	rm -f "$tmp"/*.txt "$tmp"/*.pid "$tmp/why" "$tmp/skip" "$tmp/stats"* "$tmp"/last.*
	unset ${!FI_SDR_@}
	[ -z "${SDR_TEST_ENGINE:-}" ] || export FI_SDR_ENGINE=$SDR_TEST_ENGINE
	"$@" >>"$tmp/why" 2>&1
	rc=$?
	kill_all
	if [ -f "$tmp/skip" ]; then
		echo "SKIP: $name: $(cat "$tmp/skip")"
	elif [ $rc = 0 ]; then
		passed=$((passed + 1))
		echo "PASS: $name ($((SECONDS - start)) s)"
	else
		failed=$((failed + 1))
		echo "FAIL: $name ($((SECONDS - start)) s)"
		head -n 12 "$tmp/why" | cut -c1-300 | sed 's/^/    /'
		for f in "$tmp"/*.txt; do
			[ -s "$f" ] && grep -av ':core:core:' "$f" | tail -n 6 | cut -c1-300 | sed "s/^/    $(basename "$f" .txt): /"
		done
		for f in "$tmp"/last.*; do	# of all peers; what is 0 says nothing
			[ -s "$f" ] && grep '"total"' "$f" | tail -n 1 | sed -E 's/"[a-z_0-9]*":0(\.0*)?[,}]//g' | cut -c1-900 |
				sed "s/^/    ${f##*/last.} counted: /"
		done
	fi
}

# verdict : the last line, and the script's exit status.
verdict() {
	echo "$passed passed, $failed failed"
	[ $failed = 0 ] && [ $passed -gt 0 ]
}
