# shellcheck shell=bash disable=SC2154,SC2034  # what it shares with lib.sh and net-cases.sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Sourced by net-cases.sh: paths whose middle carries less than their ends, with and without ICMP, from the start and
# from the middle of a transfer on; what a path too small, or one that lets only small packets through, ends with.

# Every kind of program over one path; PATH is a function that builds it.
mtu_pingpong() { "$@" && pingpong -S all; }
mtu_writes() { "$@" && bandwidth -s 1m -n 300 --verify; }
mtu_sizes() {
	local all=1-200,500-700,980-1540,2400-3100,4000-4200,5400-5900,8000-9000	# one packet, two, four, eight
	"$@" && transfer -m tagged -W 0 -I 1 -S $all || return 1
	forget_paths
	transfer -m write -W 0 -I 1 -S $all
}
mtu_mpi() {
	mpi_ready || return 0
	"$@" && mpi 1 "$A" "$B" --quick --only sizes,storm,ring,coll_all
}

no_icmp() {
	filter r output 'meta l4proto { icmp, ipv6-icmp } icmpv6 type != { nd-neighbor-solicit, nd-neighbor-advert } drop' 2>/dev/null
	filter r output 'ip protocol icmp drop' && filter s output 'ip protocol icmp drop' &&
		filter r output 'icmpv6 type packet-too-big drop' && filter s output 'icmpv6 type packet-too-big drop'
}
dark() { line "$1" "$2" && no_icmp; }
six() { line "$1" "$2" && to=$B6; }

for path in 1500_1500 1500_1420 1500_1280 9000_1500; do
	for what in pingpong writes sizes mpi; do
		eval "mtu_${path}_$what() { mtu_$what line ${path/_/ }; }"
	done
done
for what in pingpong writes sizes; do
	eval "mtu_9000_1500_dark_$what() { mtu_$what dark 9000 1500; }"
done
for what in pingpong writes sizes; do
	eval "mtu_1500_1280_ipv6_$what() { mtu_$what six 1500 1280; }"
done

# Open MPI's own connections are of IPv4, and of TCP, which stops in the dark: they have a link of their own.
mtu_9000_1500_dark_mpi() {
	mpi_ready || return 0
	dark 9000 1500 && link a ctl0 b ctl0 1500 10.5.0 || return 1
	FI_SDR_IFACE=eth0 mpi_oob=ctl0 mpi 1 10.5.0.1 10.5.0.2 --quick --only sizes,storm,ring,coll_all
}
mtu_1500_1280_ipv6_mpi() {
	mpi_ready || return 0
	line 1500 1280 && link a ctl0 b ctl0 1500 10.5.0 && on a ip addr del $A/24 dev eth0 && on b ip addr del $B/24 dev eth0 || return 1
	FI_SDR_IFACE=eth0 mpi_oob=ctl0 mpi 1 10.5.0.1 10.5.0.2 --quick --only sizes,storm,ring,coll_all
}

# The path is wide when the programs start; it is narrow before they are half through.
narrows() { # CLIENT [SECONDS] : after so long, or with the first 4 MB
	if [ $# = 2 ]; then sleep "$2"; else through a eth0; fi || return 1
	alive "$1" || { no "$1 was done before the path became narrow"; return 1; }
	middle 1420
}
mtu_narrows_writes() {
	line 1500 1500 && bandwidth_start -s 1m -D 4 --verify && narrows client && both_end_well client server
}
mtu_narrows_sizes() {
	line 1500 1500 && FI_SDR_FAULT=delay=0.2ms transfer_start -m tagged -W 0 -I 1 -S 1-3000 && narrows client 1.5 &&
		both_end_well client server
}
mtu_narrows_pingpong() {
	line 1500 1500 && start server b fi_pingpong -p sdr -e rdm -c -I 15 -S all && listening server b t 47592 &&
		start client a fi_pingpong -p sdr -e rdm -c -I 15 -S all $B && narrows client 0.7 && both_end_well client server
}
mtu_narrows_large() {
	export FI_SDR_CC=fixed FI_SDR_RATE=200mbit
	line 1500 1500 && transfer_start -m tagged -W 0 -I 1 -o -S 64m && narrows client && both_end_well client server
}
mtu_narrows_dark() {
	export FI_SDR_CC=fixed FI_SDR_RATE=200mbit
	dark 9000 9000 && transfer_start -m write -W 0 -I 1 -o -S 64m && narrows client && both_end_well client server
}
mtu_narrows_mpi() {
	mpi_ready || return 0
	line 1500 1500 && mpi_run 1 $A $B --quick --only sizes,storm,ring,coll_all && sleep 1 && middle 1420 && mpi_well 2
}

# first PATH... : ms from the first packet of a new connection until its first 64 KiB have arrived; in $ms
first() {
	"$@" && FI_SDR_FAULT=delay=20ms start server b "$honest" -T "$LIMIT" serve $B 20900 && listening server b u 20900 &&
		FI_SDR_FAULT=delay=20ms start client a "$honest" -b $A -s 65536 once $B 20900 && await client ||
		{ no "no first message over $*"; return 1; }
	kill9 server
	ms=$(sed -n 's/^once ms=//p' "$tmp/client.txt")
}
# later BAR PATH... : how many round trips of 40 ms later than over a path without the narrow middle
later() {
	local bar=$1 wide rtts
	shift
	first line "$2" "$2" || return 1
	wide=$ms
	first "$@" || return 1
	rtts=$(awk -v a="$ms" -v b="$wide" 'BEGIN { printf "%.1f", (a - b) / 40 }')
	tell "first 64 KiB: $wide ms over a wide path, $ms ms over $*: $rtts round trips later (bar $bar)"
	awk -v r="$rtts" -v b="$bar" -v s="$([ -n "$bars" ] && echo 0 || echo 6)" 'BEGIN { exit !(r <= b + s) }' ||
		no "$rtts round trips later, at most $bar are allowed"
}
mtu_first_icmp() { later 2 line 1500 1420; }
mtu_first_dark() { later 6 dark 9000 1500; }
# The route says so: the sender knows before it has sent anything.
routed() { line "$@" && on a ip route change default via 10.1.0.2 mtu "$2" && on b ip route change default via 10.2.0.1 mtu "$2" && no_icmp; }
mtu_first_route() { later 2 routed 1500 1420; }

# The same path, entered with the right MTU or with a larger one.
mtu_speed() {
	local i found=() right=()
	for i in $(rounds); do
		line 9000 1500 && bandwidth -s 1m -D 1 && found+=("$mbps") &&
			line 1500 1500 && bandwidth -s 1m -D 1 && right+=("$mbps") || return 1
	done
	tell "MB/s found: ${found[*]}; right from the start: ${right[*]}"
	bar "$(ratio "$(median "${found[@]}")" "$(median "${right[@]}")")" 0.9 "ends 9000, middle 1500, over ends 1500"
}
mtu_jumbo_speed() {
	local i large=() small=()
	for i in $(rounds); do
		line 9000 9000 && bandwidth -s 128m -Q 4 -n 4 && large+=("$mbps") &&
			FI_SDR_MTU=4096 bandwidth -s 128m -Q 4 -n 4 && small+=("$mbps") || return 1
	done
	tell "MB/s by default: ${large[*]}; FI_SDR_MTU=4096: ${small[*]}"
	bar "$(ratio "$(median "${large[@]}")" "$(median "${small[@]}")")" 1.1 "128 MiB over MTU 9000, default over 4096"
}

# too_large BYTES [FROM...] : r drops what is longer.  It sees the trains that a sender's kernel leaves to the device
# to segment as one packet, which no wire does: a and b are to send them in pieces.
too_large() {
	local n=$1 h
	shift
	for h in a b; do
		on $h ip link set dev eth0 gso_max_segs 1 || return 1
	done
	filter r forward "$* meta length gt $n drop"
}

# FI_SDR_MTU bounds everything that is sent, and what the path does not carry is found all the same.
mtu_setting_small() {
	FI_SDR_MTU=512
	export FI_SDR_MTU
	line 1500 1280 && too_large 620 && transfer -m tagged -W 0 -I 2 -S 8,1000,4k,64k,1m
}
mtu_setting_large() {
	export FI_SDR_MTU=8192
	line 9000 1420 && transfer -m write -W 0 -I 2 -S 8,1000,4k,64k,1m
}

# Below the least that a path must carry: an error that says so, not a hang.
small_text='large|path MTU|firewall'
mtu_below_least() {
	export FI_SDR_TIMEOUT=${patience}000
	line 1500 1500 && too_large 600 && transfer_start -m tagged -W 0 -I 1 -o -S 64k &&
		ended "$small_text"
}
mtu_below_least_write() {
	export FI_SDR_TIMEOUT=${patience}000
	line 1500 1500 && too_large 600 && transfer_start -m write -W 0 -I 1 -o -S 1m &&
		ended "$small_text"
}
mtu_below_least_one_way() {
	export FI_SDR_TIMEOUT=${patience}000
	line 1500 1500 && too_large 600 ip saddr 10.1.0.1 &&
		transfer_start -m tagged -W 0 -I 1 -o -S 64k && ended "$small_text"
}
# Control datagrams of every size pass, probes among them; data packets (opcode 0x2b) do not.
mtu_data_swallowed() {
	export FI_SDR_TIMEOUT=${patience}000
	line 1500 1500 && filter r forward 'udp dport 20900 @th,64,8 0x2b drop' &&
		transfer_start -m tagged -W 0 -I 1 -o -S 4m && ended "$small_text|data"
}

mtu_cases=$(
	for path in 1500_1500 1500_1420 1500_1280 9000_1500 9000_1500_dark 1500_1280_ipv6; do
		for what in pingpong writes sizes mpi; do
			printf 'mtu_%s_%s ' "$path" "$what"
		done
	done
)
mtu_cases="$mtu_cases mtu_narrows_writes mtu_narrows_sizes mtu_narrows_pingpong mtu_narrows_large mtu_narrows_dark
	mtu_narrows_mpi mtu_first_icmp mtu_first_route mtu_first_dark mtu_speed mtu_jumbo_speed mtu_setting_small
	mtu_setting_large mtu_below_least mtu_below_least_write mtu_below_least_one_way mtu_data_swallowed"
