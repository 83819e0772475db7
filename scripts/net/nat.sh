# shellcheck shell=bash disable=SC2154,SC2034  # what it shares with lib.sh and net-cases.sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Sourced by net-cases.sh: a side, or both, behind address translation (nftables).
#
# behind_nat: a (192.168.7.1) is behind n (10.9.0.1), b (10.9.0.2) is outside and cannot begin: what comes from
# outside passes n only as an answer.  two_sites: both are behind a router, with ports forwarded, and have a link
# ctl0 besides, for mpirun's own connections.

nat_tables() { # HOST RULES... : of the chains pre (dnat) and post (snat)
	local h=$1
	shift
	on "$h" nft -f - <<-END
		add table ip nat
		flush table ip nat
		add chain ip nat pre { type nat hook prerouting priority -100; }
		add chain ip nat post { type nat hook postrouting priority 100; }
		$(printf '%s\n' "$@")
	END
}
answers_only() { # HOST : nothing from wan passes but answers, and what nat_tables forwards
	on "$1" nft -f - <<-END
		add table ip fw
		add chain ip fw forward { type filter hook forward priority 0; policy drop; }
		add rule ip fw forward iifname != "wan" accept
		add rule ip fw forward ct state established,related accept
		add rule ip fw forward ct status dnat accept
	END
}
mapped_to() { # PORTS : what n calls a's sockets outside
	nat_tables n "add rule ip nat post oifname wan meta l4proto udp masquerade to :$1" \
		"add rule ip nat post oifname wan masquerade"
}
behind_nat() {
	hosts a n b && routers n && link a eth0 n lan 1500 10.7.0 && link n wan b eth0 1500 10.9.0 && route a 10.7.0.2 &&
		on a sh -c 'ip addr flush dev eth0; ip addr add 192.168.7.1/24 dev eth0; ip route add default via 192.168.7.2' &&
		on n sh -c 'ip addr flush dev lan; ip addr add 192.168.7.2/24 dev lan' &&
		route b 10.9.0.1 && answers_only n && mapped_to 30000-30999 || return 1
	B=10.9.0.2
	reachable a $B
}
# n forgets, as a router that was restarted: the next packet from inside is another address outside.
remap() { # PORTS
	mapped_to "$1" && on n conntrack -F >/dev/null 2>&1
}
needs_conntrack() { command -v conntrack >/dev/null || { skip "conntrack is missing"; return 1; }; }

nat_pingpong() { behind_nat && pingpong -S all; }
nat_tagged_msgs() { behind_nat && pingpong -m tagged -S all; }
nat_perf() { behind_nat && bandwidth --op "$1" -s 1m -n 64 --verify; }
nat_write() { nat_perf write; }
nat_read() { nat_perf read; }
nat_tagged() { nat_perf tagged; }
nat_both_ways() { behind_nat && bandwidth -b -s 1m -n 64 --verify; }
nat_xfer() { behind_nat && transfer -m tagged -S 8,1000,64k,64m -I 1 -W 0; }

# 64 MiB of 200 Mbit/s are 2.7 s; the address outside changes twice meanwhile.
moves() {
	local i
	needs_conntrack || return 0
	export FI_SDR_CC=fixed FI_SDR_RATE=200mbit
	behind_nat && "$@" || return 1
	case $towards in
	outside) through n wan ;;
	inside) through n lan ;;
	*) sleep 1 ;;
	esac || return 1
	for i in 31000-31999 32000-32999; do
		alive client && alive server || { no "a side was done, or gave up, before the mapping changed"; return 1; }
		remap $i || return 1
		sleep 0.8
	done
	both_end_well client server || return 1
	tell "$(on n conntrack -L -p udp 2>/dev/null | grep -o 'dport=3[0-9]*' | sort | uniq -c | tr '\n' ' ')"
}
nat_moves_write() { towards=outside moves transfer_start -m write -o -S 64m -I 1 -W 0; }
nat_moves_tagged() { towards=outside moves transfer_start -m tagged -o -S 64m -I 1 -W 0; }
nat_moves_perf_write() { towards=outside moves bandwidth_start -s 64m -n 1 --verify; }
nat_moves_perf_read() { towards=inside moves bandwidth_start --op read -s 64m -n 1 --verify; }
nat_moves_perf_tagged() { towards=outside moves bandwidth_start --op tagged -s 16m -n 4 --verify; }
# Both directions, messages one after another: some wait, and nothing is under way, when the mapping changes.
nat_moves_small() { FI_SDR_FAULT=delay=5ms towards=small moves transfer_start -m tagged -S 1-100 -I 1 -W 0; }

# The client's process is gone with its mapping, and comes back with another port outside.
nat_peer_again() {
	needs_conntrack || return 0
	behind_nat && start server b "$honest" -T 30 serve $B 20900 && listening server b u 20900 || return 1
	export FI_SDR_CC=fixed FI_SDR_RATE=200mbit
	start client a "$honest" -b 192.168.7.1 -T 20 stream $B 20900 && until_said client streaming 10 || return 1
	sleep 0.5
	kill9 client
	remap 33000-33999 || return 1
	start client a "$honest" -b 192.168.7.1 -s 65536 once $B 20900 && await client || { no "the client was not served again"; return 1; }
	tell "$(cat "$tmp/client.txt")"
}

# Nothing but a receive of the client waits, the server has not filled its buffers yet, when the mapping changes: the
# client's keepalive tells the server the new one.
nat_idle() {
	needs_conntrack || return 0
	export FI_SDR_KEEPALIVE=1000
	behind_nat && transfer_start -m tagged -S 64m -I 1 -W 0 && until_linked || return 1
	remap 31000-31999 && both_end_well client server
}
until_linked() {
	local t
	for t in {1..100}; do
		# answered; ASSURED is said after two seconds only
		on n conntrack -L -p udp 2>/dev/null | grep -v UNREPLIED | grep -q dport=20900 && return 0
		sleep 0.05
	done
	no "no connection through n ($t looks)"
}

two_sites() {
	local h
	hosts a n m b && routers n m && link a wan0 n lan 1500 10.7.0 && link n wan m wan 1500 10.9.0 && link m lan b wan0 1500 10.8.0 &&
		link a ctl0 b ctl0 1500 10.5.0 && route a 10.7.0.2 && route b 10.8.0.1 &&
		answers_only n && answers_only m || return 1
	# what is forwarded is so for those inside too (hairpin)
	nat_tables n 'add rule ip nat pre ip daddr 10.9.0.1 udp dport 20100-20109 dnat to 10.7.0.1' \
		'add rule ip nat post oifname wan udp sport 20100-20109 snat to 10.9.0.1' \
		'add rule ip nat post oifname wan masquerade' \
		'add rule ip nat post oifname lan ct status dnat ip saddr 10.7.0.0/24 masquerade' &&
		nat_tables m 'add rule ip nat pre ip daddr 10.9.0.2 udp dport 20200-20209 dnat to 10.8.0.2' \
			'add rule ip nat post oifname wan masquerade' \
			'add rule ip nat post oifname lan ct status dnat ip saddr 10.8.0.0/24 masquerade' || return 1
}
nat_mpi() {
	mpi_ready || return 0
	two_sites || return 1
	mpi_env_a="FI_SDR_IFACE=wan0 FI_SDR_ADVERTISE=10.9.0.1 FI_SDR_PORT_RANGE=20100-20109"
	mpi_env_b="FI_SDR_IFACE=wan0 FI_SDR_ADVERTISE=10.9.0.2 FI_SDR_PORT_RANGE=20200-20209"
	mpi_oob=ctl0 mpi "${1:-2}" 10.5.0.1 10.5.0.2 --quick --only sizes,storm,ring,coll_all
}
# Without two ranks on one side nothing goes in at the router it came from.
nat_mpi_one_each() { nat_mpi 1; }

nat_cases="nat_pingpong nat_tagged_msgs nat_write nat_read nat_tagged nat_both_ways nat_xfer nat_moves_write nat_moves_tagged
	nat_moves_perf_write nat_moves_perf_read nat_moves_perf_tagged nat_moves_small nat_idle nat_peer_again nat_mpi_one_each nat_mpi"
