#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# A server (sdr_honest) whose port any host can reach, and strangers (sdr_stranger) that do.  Whatever
# they do, the server's memory stays within its limits, it lives, and a client who comes afterwards is
# served.  How fast all that is depends on the machine: it is printed, and judged with --bars only.
#
#   stranger.sh [--bars] [CASE...]     names of cases, default all

. "$(dirname "$0")/cases.sh"

stranger=$build/sdr_stranger
honest=$build/sdr_honest
host=127.0.0.1		# strangers come from many addresses of the loopback
# What the messages of strangers may take of the server, all together: half of what all may.
strangers_mib=$(($(sed -n 's/.*SDR_REL_UNEXP_TOTAL[[:space:]]*(\([0-9]*\)u << 20).*/\1/p' \
	"$(dirname "$0")/../../prov/sdr/rel/sdr_rel_cfg.h") / 2))
slack_mib=48		# connections, lists and the allocator
clients=66500		# more than there are places in a table of 65536
patience=20		# seconds within which a client is served on a busy machine
bars=
# A sanitizer has memory of its own, and takes its time: no verdict on memory there, and fewer clients.
sanitized=
nm -D "$honest" 2>/dev/null | grep -q '__[at]san_init' && sanitized=1 clients=3000

victim_up() { # OPTIONS...
	port=$(free_port)
	spawn victim "$honest" -T "$LIMIT" "$@" serve $host "$port" && until_said victim '^serving' 20 || return 1
	rss0=$(mib VmRSS)
}

mib() { awk -v k="$1:" '$1 == k { print int($2 / 1024) }' "/proc/$(pid_of victim)/status"; }

cpu_ms() { awk -v hz="$(getconf CLK_TCK)" '{ print int(($14 + $15) * 1000 / hz) }' "/proc/$(pid_of victim)/stat"; }

# A client comes; what it needed is in $ms.
served() {
	ms=
	spawn client timeout -s KILL $patience "$honest" once $host "$port" && await client ||
		{ no "a client was not served${1:+ $1}"; return 1; }
	ms=$(sed -n 's/^once ms=//p' "$tmp/client.txt")
}

# attack MODE OPTIONS... : it could be tried, whether or not the victim let all of it happen.
attack() {
	local mode=$1 rc
	shift
	spawn stranger "$stranger" -T 30 "$@" "$mode" $host "$port" || return 1
	await stranger
	rc=$?
	[ $rc = 0 ] || [ $rc = 3 ] || { no "sdr_stranger $mode: exit status $rc"; return 1; }
	cat "$tmp/stranger.txt" >>"$tmp/say"
	told=$(cat "$tmp/stranger.txt")
}

field() { sed -n "s/.* $1=\([0-9.]*\).*/\1/p" <<<"$told"; } # NAME : of the stranger's line

# The peak, since memory may have been given back by now.
within() { # MIB
	local peak
	alive victim || { no "the victim died"; return 1; }
	peak=$(mib VmHWM)
	echo "memory: ${rss0} MiB before, peak ${peak} MiB, limit ${rss0} + $1" >>"$tmp/say"
	[ -n "$sanitized" ] || [ $((peak - rss0)) -le "$1" ] || no "memory grew from $rss0 to $peak MiB, $1 more are allowed"
}

# flood MODE OPTIONS... : messages that want to be kept.
flood() {
	# A victim that has enough is silent: then it is soon over.
	victim_up && attack "$@" -g 2 -s 500 || return 1
	[ "$(field recs)" -ge 1000 ] || { no "nothing was tried: $told"; return 1; }
	within $((strangers_mib + slack_mib)) && served "after it"
}

early_repeated() { flood early -n 4 -M 240m; }
early_from_many() { flood early -n 128 -M 480m; }
early_and_empty() { flood early -n 128 -M 20m -p 0; }
unexpected_inline() { flood unexpected -M 480m; }
unexpected_and_empty() { flood unexpected -M 20m -p 0; }

clients_come_and_go() {
	victim_up && attack clients -n $clients && within $slack_mib || return 1
	served "after $clients that said goodbye" || return 1
	echo "a client after $clients: $ms ms" >>"$tmp/say"
	[ "$(field "done")" = $clients ] || no "not all were served: $told"
}

# speed SECONDS : of a client that streams; in $mbps and $gap.
stream_start() {
	spawn stream timeout -s KILL $(($1 + patience + 10)) "$honest" -T "$1" stream $host "$port" &&
		until_said stream '^streaming' $patience
}
stream_end() {
	await stream || { no "the running transfer did not survive"; return 1; }
	mbps=$(sed -n 's/^stream MBps=\([0-9.]*\).*/\1/p' "$tmp/stream.txt")
	gap=$(sed -n 's/.*gap_ms=\([0-9.]*\).*/\1/p' "$tmp/stream.txt")
}

# beside LEAST_PERCENT MOST_GAP_MS MODE OPTIONS... : a transfer keeps going while the victim is attacked.
beside() {
	local least=$1 most=$2 alone
	shift 2
	victim_up && stream_start 1 && stream_end || return 1
	alone=$mbps
	stream_start 3 && attack "$@" && stream_end || return 1
	echo "transfer: $alone MB/s alone, $mbps MB/s beside it, $gap ms without a byte at most" >>"$tmp/say"
	served "after it" || return 1
	[ -z "$bars" ] || awk -v a="$alone" -v b="$mbps" -v g="$gap" -v l="$least" -v m="$most" \
		'BEGIN { exit !(b * 100 >= a * l && g <= m) }' ||
		no "less than $least % of $alone MB/s, or more than $most ms without a byte: $mbps MB/s, $gap ms"
}

# worth MS MODE OPTIONS... : packets cost the victim no more of a processor than that.  It sleeps between them, so that
# this is work and not time; limits are far from what is right (a few ms) and from what is wrong (tens of seconds).
worth() {
	local most=$1 cpu0 cpu
	shift
	victim_up -i || return 1
	cpu0=$(cpu_ms)
	attack "$@" && served "after it" || return 1
	cpu=$(($(cpu_ms) - cpu0))
	echo "processor: $cpu ms for $(field packets) packets and a client, limit $most" >>"$tmp/say"
	[ $cpu -le $most ] || no "$cpu ms of a processor for $(field packets) packets, at most $most"
}

refused_cost() { worth 2000 refused -n 2400; }
ends_cost() { worth 4000 ends -n 100; }
refused_transfers() { beside 50 500 refused -n 600 -r 5; }
ends_of_nothing() { beside 50 500 ends -n 20 -r 10; }

# Who has seen the number of a connection sends under it from elsewhere, and answers challenges or does not.
seen_number() {
	export FI_SDR_SHM=off	# what is not on the wire nobody sees
	"$stranger" -T 0 seen $host 1 >"$tmp/may" 2>&1
	[ $? != 1 ] || { skip "this user may not look at packets of the loopback"; return; }
	beside 90 500 seen -n 10000 -r 5000 || return 1
	[ "$(field packets)" -ge 10000 ] || { no "nothing was tried: $told"; return 1; }
	# Without headers, which are the same both ways: a challenge has some more bytes than the least packet.
	[ "$(field back)" -le $((3 * $(field bytes))) ] || no "more than three times the bytes came back: $told"
}

# Thousands of handshakes a second share a socket with the transfer: there is no limit for that yet.
clients_beside() {
	[ -n "$bars" ] || { skip "only with --bars"; return; }
	beside 0 10000 clients -n $clients
}

# Only with --bars: it takes half a gigabyte.
idle_crowd() {
	[ -n "$bars" ] || { skip "only with --bars"; return; }
	victim_up && attack idle -n 66000 && served "beside them" || return 1
	echo "a client beside 66000: $ms ms; memory $(mib VmRSS) MiB" >>"$tmp/say"
}

# run_case shows what a case says of itself too.
shown() {
	rm -f "$tmp/say"
	run_case "$1" "$1"
	[ ! -s "$tmp/say" ] || sed 's/^/    /' "$tmp/say"
}

[ "${1:-}" = --bars ] && { bars=1; shift; }
all="early_repeated early_from_many early_and_empty unexpected_inline unexpected_and_empty clients_come_and_go
	refused_cost ends_cost refused_transfers ends_of_nothing seen_number clients_beside idle_crowd"
[ $# -gt 0 ] || set -- $all
for c; do
	shown "$c"
done
verdict
