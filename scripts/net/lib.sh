# shellcheck shell=bash disable=SC2154,SC2034  # what it shares with net-cases.sh and its other libraries
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Sourced by net-cases.sh: hosts, links and addresses; programs in hosts; what is measured of them.
#
# A host is a network namespace of one letter or two.  A case builds the network that it wants (`line`,
# `two_links`, `behind_nat`), which takes away the one before: no route, no neighbour and no path MTU is left of
# an earlier case.  What a case wants to have printed, good or bad, it gives to `tell`.

LIMIT=${LIMIT:-25}
. "$here/../fabtests/functional/cases.sh"

build=$(cd "$build" && pwd)
FI_PROVIDER_PATH=$(cd "$FI_PROVIDER_PATH" && pwd)
xfer=$build/sdr_xfer perf=$build/sdr_perf honest=$build/sdr_honest
patience=6	# FI_SDR_TIMEOUT of the cases, seconds
faulty='error completion'

tell() { echo "$*" >>"$tmp/say"; }
on() { ip netns exec "$@"; } # HOST COMMAND...
start() { # NAME HOST COMMAND... : as spawn
	local name=$1 h=$2
	shift 2
	spawn "$name" ip netns exec "$h" "$@"
}

ip link set lo up 2>/dev/null

# ---- networks --------------------------------------------------------------------------------------

# The networks of the case before go with their hosts, and what still ran in them.
hosts() { # NAME...
	local h
	for h in $(ip netns list 2>/dev/null | awk '{ print $1 }'); do
		ip netns del "$h"
	done
	for h; do
		ip netns add "$h" && on "$h" sh -c '
			ip link set lo up
			for f in all default; do
				echo 0 >/proc/sys/net/ipv6/conf/$f/accept_dad
				echo 0 >/proc/sys/net/ipv6/conf/$f/accept_ra
			done' || return 1
	done
}

routers() { # NAME...
	local h
	for h; do
		on "$h" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
			echo 1 >/proc/sys/net/ipv6/conf/all/forwarding' || return 1
	done
}

# link HOST IFACE HOST IFACE MTU NET : the first host is NET.1 and, with a NET of 10.N.0, fdN::1; the second 2.
link() {
	local six
	six=fd$(cut -d. -f2 <<<"$6")
	ip link add "$2" netns "$1" mtu "$5" type veth peer name "$4" netns "$3" mtu "$5" || return 1
	on "$1" sh -c "ip addr add $6.1/24 dev $2; ip addr add $six::1/64 dev $2 nodad; ip link set dev $2 up" &&
		on "$3" sh -c "ip addr add $6.2/24 dev $4; ip addr add $six::2/64 dev $4 nodad; ip link set dev $4 up"
}

route() { # HOST VIA... : default routes
	local h=$1 via
	shift
	for via; do
		on "$h" ip route add default via "$via" || return 1
	done
}

# line END MIDDLE : a - r = s - b; the links of a and b have the MTU END, that between the routers MIDDLE.
line() {
	hosts a r s b && routers r s &&
		link a eth0 r lan "$1" 10.1.0 && link r wan s wan "$2" 10.9.0 && link s lan b eth0 "$1" 10.2.0 &&
		route a 10.1.0.2 fd1::2 && route r 10.9.0.2 fd9::2 && route s 10.9.0.1 fd9::1 && route b 10.2.0.1 fd2::1 &&
		on r ip route add 10.1.0.0/16 dev lan 2>/dev/null
	A=10.1.0.1 B=10.2.0.2 A6=fd1::1 B6=fd2::2
	reachable a $B && reachable a $B6
}

middle() { # MTU : of the link between the routers, from now on
	on r ip link set dev wan mtu "$1" && on s ip link set dev wan mtu "$1"
}

# The first packet waits for a neighbour, or finds an interface that is not up yet.
reachable() { # HOST ADDRESS
	local t
	for t in {1..50}; do
		on "$1" timeout 1 bash -c 'exec 3<>"/dev/tcp/$0/9"' "$2" 2>&1 | grep -q refused && return 0
		sleep 0.05
	done
	no "$1 does not reach $2 ($t tries)"
}

# filter HOST CHAIN RULE... : a packet filter; CHAIN is input, forward, output
filter() {
	local h=$1 chain=$2
	shift 2
	on "$h" nft -f - <<-END
		add table inet net
		add chain inet net $chain { type filter hook $chain priority 0; }
		add rule inet net $chain $*
	END
}

forget_paths() {
	on a sh -c 'ip route flush cache; ip -6 route flush cache'
	on b sh -c 'ip route flush cache; ip -6 route flush cache'
}

sent() { on "$1" cat "/sys/class/net/$2/statistics/tx_bytes"; } # HOST IFACE : bytes
received() { on "$1" cat "/sys/class/net/$2/statistics/rx_bytes"; }

# through HOST IFACE : 4 MB more have left it: the transfer that was started is under way, and not at its end
through() {
	local from t
	from=$(sent "$1" "$2")
	for t in {1..200}; do
		[ $(($(sent "$1" "$2") - from)) -ge 4000000 ] && return 0
		sleep 0.05
	done
	no "no transfer began ($t looks)"
}

# ---- programs --------------------------------------------------------------------------------------

# listening NAME HOST PROTOCOL PORT : the process NAME has it, t (TCP) or u (UDP)
listening() {
	local t
	for t in {1..200}; do
		on "$2" ss -Hln"$3" "sport = :$4" | grep -q . && return 0
		alive "$1" || break
		sleep 0.05
	done
	no "$1 did not bind port $4 ($t looks)"
}

# transfer OPTIONS... : sdr_xfer, b serves a (or what $server, $client, $to say)
transfer_start() {
	start server "${server:-b}" "$xfer" -A "${to:-$B}" -B 20900 -T "$LIMIT" && listening server "${server:-b}" u 20900 &&
		start client "${client:-a}" "$xfer" -B 20900 -T "$LIMIT" -C "$@" "${to:-$B}"
}
transfer() { transfer_start "$@" && both_end_well client server; }

# pingpong OPTIONS... : fi_pingpong with checked data, to $to
pingpong() {
	local six=()
	[[ ${to:-$B} != *:* ]] || six=(-6)
	start server "${server:-b}" fi_pingpong -p sdr -e rdm -c "${six[@]}" "$@" &&
		listening server "${server:-b}" t 47592 &&
		start client "${client:-a}" fi_pingpong -p sdr -e rdm -c "${six[@]}" "$@" "${to:-$B}" &&
		both_end_well client server
}

# bandwidth OPTIONS... : sdr_perf; MB/s in $mbps
bandwidth_start() {
	start server "${server:-b}" "$perf" -q -A "${to:-$B}" && listening server "${server:-b}" u 18516 &&
		start client "${client:-a}" "$perf" -q --format csv "$@" "${to:-$B}"
}
bandwidth() {
	bandwidth_start "$@" && both_end_well client server || return 1
	mbps=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "bw_avg_MBps") c = i } END { print $c }' "$tmp/client.txt")
	[ -n "$mbps" ] || no "sdr_perf printed no bandwidth"
}

# ended : the client has ended with an error whose text matches, within FI_SDR_TIMEOUT (of $patience)
ended() { # PATTERN
	local begin=$SECONDS rc
	await client
	rc=$?
	[ $rc = 1 ] || { no "exit status $rc instead of 1"; return 1; }
	[ $((SECONDS - begin)) -le $((patience + SLACK)) ] || { no "the error came after $((SECONDS - begin)) s"; return 1; }
	tell "$(grep -E "$faulty" "$tmp/client.txt" | tail -n 1 | cut -c1-300)"
	said client "$faulty.*($1)"
}

# ---- Open MPI --------------------------------------------------------------------------------------

mpi_ready() {
	command -v mpirun.openmpi >/dev/null && command -v mpicc.openmpi >/dev/null ||
		{ skip "Open MPI is missing"; return 1; }
	[ -x "$tmp/sdr_mpi" ] || mpicc.openmpi -std=gnu11 -O1 -o "$tmp/sdr_mpi" "$here"/../fabtests/mpi/sdr_mpi*.c || return 1
	# What mpirun calls to start a daemon on another host: HOST COMMAND...
	cat >"$tmp/agent" <<-'END'
		#!/bin/bash
		for h in $(ip netns list 2>/dev/null | awk '{ print $1 }'); do
			if ip netns exec "$h" ip -o addr | grep -qF " $1/"; then
				name=$h
			fi
		done
		shift
		exec ip netns exec "$name" unshare --uts sh -c 'hostname "$0"; exec sh -c "$*"' "$name" "$@"
	END
	chmod +x "$tmp/agent"
}

# mpi_run PER_HOST FROM TO OPTIONS... : sdr_mpi, mpirun is in FROM's host a; OPTIONS of sdr_mpi.  In $mpi_env_a and
# $mpi_env_b: variables of the ranks of either host.  $mpi_oob: the interface of mpirun's own connections.  There may be
# more ranks than processors, and other tests beside them: the limit is for what hangs.
mpi_run() {
	local n=$1 from=$2 to=$3 v vars=() common
	shift 3
	for v in $(compgen -e | grep -E '^(FI_|IPATH_|LD_LIBRARY_PATH$)'); do
		vars+=(-x "$v")
	done
	common=(-np "$n" "${vars[@]}" --host)
	# shellcheck disable=SC2086
	start mpi a unshare --uts sh -c 'hostname a; exec "$@"' sh timeout -k 2 $((4 * LIMIT)) mpirun.openmpi --allow-run-as-root \
		--oversubscribe --mca plm rsh --mca plm_rsh_agent "$tmp/agent" --mca oob_tcp_if_include "${mpi_oob:-eth0}" \
		--mca orte_keep_fqdn_hostnames 1 --mca orte_tmpdir_base "$tmp" --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include sdr --mca btl self \
		--mca osc pt2pt --mca coll ^sm --mca mtl_base_verbose 10 --mca opal_common_ofi_verbose 1 \
		"${common[@]}" "$from:$n" env ${mpi_env_a:-A=a} "$tmp/sdr_mpi" "$@" : \
		"${common[@]}" "$to:$n" env ${mpi_env_b:-B=b} "$tmp/sdr_mpi" "$@" || return 1
}
mpi_well() { # RANKS
	local rc n
	await mpi
	rc=$?
	[ $rc = 0 ] && grep -q '^[1-9][0-9]* passed, 0 failed' "$tmp/mpi.txt" || { no "mpirun: exit status $rc"; return 1; }
	n=$(grep -c 'mtl:ofi:prov: *sdr' "$tmp/mpi.txt")
	[ "$n" -ge "$1" ] || no "$n of $1 ranks used the provider"
}
mpi() { mpi_run "$@" && mpi_well $((2 * $1)); }

# ---- cases -----------------------------------------------------------------------------------------

# run_case shows what a case says of itself too.
shown() {
	rm -f "$tmp/say"
	if [ "$NET_INSIDE" != yes ]; then
		echo "SKIP: $1: no network namespaces here (${NET_INSIDE#no: })"
		skipped=$((skipped + 1))
		return
	fi
	unset to server client mpi_oob mpi_env_a mpi_env_b ${!FI_LOG_@}
	run_case "$1" "$1"
	[ ! -f "$tmp/skip" ] || skipped=$((skipped + 1))
	[ ! -s "$tmp/say" ] || cut -c1-300 "$tmp/say" | sed 's/^/    /'
	[ -z "${NET_KEEP:-}" ] || { mkdir -p "$NET_KEEP/$1" && cp "$tmp"/*.txt "$tmp/why" "$NET_KEEP/$1/" 2>/dev/null; }
}

skipped=0
# As that of cases.sh, but that nothing could run is no failure: the reason has been said, the status is 77.
verdict() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ $failed = 0 ] || return 1
	[ $passed -gt 0 ] || return 77
}

median() { tr ' ' '\n' <<<"$*" | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
rounds() { if [ -n "$bars" ]; then echo 1 2 3 4 5; else echo 1; fi; } # of a measurement
# bar RATIO LEAST TEXT : printed always, judged with --bars
bar() {
	tell "$3: $1 (bar $2)"
	[ -z "$bars" ] || awk -v r="$1" -v l="$2" 'BEGIN { exit !(r >= l) }' || no "$3: $1, at least $2 is wanted"
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", (b > 0 ? a / b : 0) }'; }
