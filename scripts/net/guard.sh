# shellcheck shell=bash disable=SC2154,SC2034  # what it shares with lib.sh and net-cases.sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Sourced by net-cases.sh: forgers on the path, firewalls of this host, flows and threads beside each other.

forger=$here/net/forge.py

# forged KIND COUNT : r listens to a stream from a to b, and sends copies of what it has seen to one of them
forged() {
	local victim=$1 alone beside line
	shift
	line 1500 1500 && start server b "$honest" -T "$LIMIT" serve $B 20900 && listening server b u 20900 &&
		start client a "$honest" -b $A -T 3 stream $B 20900 && await client || return 1
	alone=$(sed -n 's/^stream MBps=\([0-9.]*\).*/\1/p' "$tmp/client.txt")
	start client a "$honest" -b $A -T 4 stream $B 20900 && until_said client streaming 10 &&
		start forger r python3 "$forger" "$victim" 20900 "$@" && await client ||
		{ no "the transfer did not survive"; return 1; }
	beside=$(sed -n 's/^stream MBps=\([0-9.]*\).*/\1/p' "$tmp/client.txt")
	await forger || { no "the forger did not do its work"; return 1; }
	line=$(tail -n 1 "$tmp/forger.txt")
	tell "$line"
	awk '{ for (i = 1; i <= NF; i++) { split($i, f, "="); v[f[1]] = f[2] } } END { exit !(v["got"] <= 3 * v["sent"] && v["packets"] >= 10000) }' <<<"$line" ||
		{ no "the forger got more than three times what it sent, or did not send: $line"; return 1; }
	start again a "$honest" -b $A once $B 20900 && await again || { no "the server serves nobody any more"; return 1; }
	tell "MB/s alone: $alone, beside the forger: $beside, $(sed -n 's/.*\(gap_ms=.*\)/\1/p' "$tmp/client.txt")"
	bar "$(ratio "$beside" "$alone")" 0.9 "speed beside 10000 forged packets" || return 1
	awk -v r="$(ratio "$beside" "$alone")" 'BEGIN { exit !(r > 0.2) }' || no "the forger stopped the transfer: $beside of $alone MB/s"
}
guard_forged_to_server() { forged b 10000; }
guard_forged_to_client() { forged a 10000; }

# A whole transfer, byte by byte, while somebody forges.
guard_forged_bytes() {
	export FI_SDR_CC=fixed FI_SDR_RATE=200mbit
	line 1500 1500 && transfer_start -m write -o -S 64m -I 1 -W 0 && through a eth0 || return 1
	start forger r python3 "$forger" b 20900 10000 && start forger2 r python3 "$forger" a 20900 10000 && both_end_well client server || return 1
	await forger && await forger2 || { no "the forger did not do its work"; return 1; }
	tell "$(cat "$tmp/forger.txt" "$tmp/forger2.txt" | tr '\n' ' ')"
}

# This host's own filter refuses what is sent: an error that names firewalls, in time.
denied() {
	export FI_SDR_TIMEOUT=${patience}000
	"$@" && ended "this host itself refuses"
}
denied_from_start() {
	line 1500 1500 && filter a output udp dport 20900 drop &&
		start server b "$xfer" -A $B -B 20900 -T "$LIMIT" && listening server b u 20900 &&
		start client a "$xfer" -B 20900 -T "$LIMIT" -S 8 $B
}
denied_later() {
	export FI_SDR_CC=fixed FI_SDR_RATE=100mbit
	line 1500 1500 && transfer_start -m tagged -o -S 64m -I 1 -W 0 && through a eth0 || return 1
	filter a output udp dport 20900 drop
}
guard_output_refused() { denied denied_from_start; }
guard_output_refused_later() { denied denied_later; }

# For a second: nothing is lost to the application, and the counter says whose fault it was.
guard_output_refused_for_a_while() {
	export FI_SDR_STATS=$tmp/stats.txt
	denied_later || return 1
	sleep 1
	on a nft flush ruleset && both_end_well client server || return 1
	tell "$(grep -oh '"tx_denied":[0-9]*' "$tmp/stats.txt" | sort -u | tr '\n' ' ')"
	grep -q '"tx_denied":[1-9]' "$tmp/stats.txt" || no "tx_denied does not count what this host refused"
}

guard_input_dropped() {
	export FI_SDR_TIMEOUT=${patience}000
	line 1500 1500 && filter b input udp dport 20900 drop && transfer_start -S 8 && ended 'never answered'
}

# Two transfers over the narrow path at once.
guard_two_flows() {
	line 9000 1420 && start server2 b "$xfer" -A $B -B 20901 -T "$LIMIT" && listening server2 b u 20901 &&
		transfer_start -m write -S 64k,1m,16m -I 3 && start client2 a "$xfer" -B 20901 -T "$LIMIT" -C -m tagged -S 64k,1m,16m -I 3 $B &&
		both_end_well client server && both_end_well client2 server2
}
# Three hosts: one server, clients before and behind the narrow middle, of different paths and packets.
guard_three_hosts() {
	hosts a r s b c && routers r s && link a eth0 r lan 9000 10.1.0 && link r wan s wan 1420 10.9.0 && link s lan b eth0 9000 10.2.0 &&
		link c eth0 s lan2 9000 10.3.0 && route a 10.1.0.2 && route r 10.9.0.2 && route s 10.9.0.1 && route b 10.2.0.1 && route c 10.3.0.2 || return 1
	B=10.2.0.2
	reachable a $B && reachable c $B && start server b "$honest" -T 30 serve $B 20900 && listening server b u 20900 &&
		start far a "$honest" -b 10.1.0.1 -T 3 stream $B 20900 && start near c "$honest" -b 10.3.0.1 -T 3 stream $B 20900 && await far && await near ||
		{ no "a client was not served"; return 1; }
	tell "through the narrow middle: $(tail -n 1 "$tmp/far.txt"); beside it: $(tail -n 1 "$tmp/near.txt")"
	awk -F'[= ]' '/MBps/ { if ($3 < 20) exit 1 }' "$tmp/far.txt" "$tmp/near.txt" || no "a client was nearly stopped"
}

# A process starts again at its old port, over a narrow path.
guard_restarted() {
	export FI_SDR_CC=fixed FI_SDR_RATE=100mbit
	line 1500 1420 && transfer_start -m tagged -o -S 64m -I 1 -W 0 && through a eth0 || return 1
	kill9 server
	start server b "$xfer" -A $B -B 20900 -T "$LIMIT" && listening server b u 20900 && ended 'restarted|reset' || return 1
	start client a "$xfer" -B 20900 -T "$LIMIT" -S 8,64k,1m -I 1 $B && both_end_well client server
}

# Blocking waits and posts of different threads: fi_pingpong waits by polling, sdr_perf can sleep.
guard_sleeper() {
	line 9000 1420 && bandwidth -b -s 256k -n 500 --wait sleep --verify && bandwidth_start --op lat -s 8 -n 300 --wait sleep --verify &&
		both_end_well client server
}

guard_cases="guard_forged_to_server guard_forged_to_client guard_forged_bytes guard_output_refused guard_output_refused_later guard_output_refused_for_a_while
	guard_input_dropped guard_two_flows guard_three_hosts guard_restarted guard_sleeper"
