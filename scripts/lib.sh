# shellcheck shell=bash disable=SC2034  # what is set here is for those that source it
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# What quickstart.sh, figures.sh, package.sh and test.sh share: where things lie, packages, building, steps with a
# log and elapsed time.  Sourced, never run.  Everything made lies under build/ (and
# build-*/ for other compilers and sanitizers) of the tree.

SRC=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$SRC/build
LOGS=$BUILD/logs
JOBS=$(nproc 2>/dev/null || echo 2)
# What configure has libtool and make run by: a script for each object and program, and dash takes two thirds of the time.
QUICK_SHELL=$(command -v dash || command -v bash)

PKGS_BUILD="gcc libc6-dev make autoconf automake libtool pkg-config
	libfabric-dev libfabric-bin libisal-dev libsodium-dev libibverbs-dev libcmocka-dev pandoc python3"
PKGS_TEST="clang clang-format clang-tidy cppcheck shellcheck libclang-rt-14-dev
	openmpi-bin libopenmpi-dev netpipe-openmpi xz-utils iproute2 nftables conntrack"
PKGS_FIGURES="gnuplot-nox"
PKGS_PACKAGE="dpkg-dev debhelper lintian mmdebstrap rpm iproute2"
PKGS_RXE="qemu-system-x86 busybox-static cpio xz-utils zstd iproute2 ibverbs-providers ibverbs-utils perftest"

die() {
	printf '%s: %s\n' "$(basename "$0")" "$*" >&2
	exit 1
}

say() {
	printf '[%4d s] %s\n' "$SECONDS" "$*"
}

# packages_missing NAME... : prints those that are not installed.
packages_missing() {
	local p
	for p in "$@"; do
		dpkg-query -W -f='${db:Status-Status}\n' "$p" 2>/dev/null | grep -qx installed || echo "$p"
	done
}

# packages_install NAME... : installs what is missing; without root says what and stops.
packages_install() {
	local missing
	command -v dpkg-query >/dev/null ||
		die "this script sets up Debian 12 (no dpkg here); on another system install the" \
			"equivalents of: $(echo $PKGS_BUILD) and run ./autogen.sh && ./configure && make"
	missing=$(packages_missing "$@" | tr '\n' ' ')
	[ -n "$missing" ] || return 0
	[ "$(id -u)" = 0 ] ||
		die "missing packages: ${missing}- install them as root (apt-get install $missing) and run this again"
	say "installing packages: $missing"
	mkdir -p "$LOGS"
	# shellcheck disable=SC2086
	if ! { apt-get -o DPkg::Lock::Timeout=600 update &&
		DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 \
			install -y --no-install-recommends $missing; } >"$LOGS/packages.log" 2>&1 </dev/null; then
		tail -n 15 "$LOGS/packages.log" >&2
		die "apt-get failed (log: $LOGS/packages.log)"
	fi
}

# The configure script; once it is there, make keeps it up to date.
autogen() {
	[ -x "$SRC/configure" ] && [ -f "$SRC/Makefile.in" ] || "$SRC/autogen.sh"
}

# configure_tree DIR [configure arguments...] : configures DIR if needed, and goes there.
configure_tree() {
	local dir=$1
	shift
	mkdir -p "$dir" && cd "$dir" || return 1
	[ ! -f Makefile ] || [ "$*" != "$(cat .configured 2>/dev/null)" ] || return 0
	# other flags: objects of the earlier ones must not stay
	[ ! -f Makefile ] || make clean >/dev/null 2>&1
	CONFIG_SHELL=$QUICK_SHELL "$SRC/configure" "$@" && printf '%s' "$*" >.configured
}

# build_tree DIR [configure arguments...] : builds everything there.
build_tree() {
	configure_tree "$@" && make -j"$JOBS" all && make -j"$JOBS" tests
}

# A port that nothing listens on now, below the ephemeral range and beside those that the tests use.
free_port() {
	python3 - <<-'PY'
	import random, socket
	while True:
	    port = random.randrange(18000, 20000)
	    try:
	        for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
	            s = socket.socket(socket.AF_INET, kind)
	            s.bind(("0.0.0.0", port))
	            s.close()
	    except OSError:
	        continue
	    print(port)
	    break
	PY
}
