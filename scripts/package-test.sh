#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# What scripts/package.sh has made: checked by lintian, for what is in it, and in a clean Debian where it is installed,
# used without any path set, upgraded and removed; nothing may stay of it then.
#
# The clean system is a folder that mmdebstrap makes of this machine's own Debian release, from the mirror
# that its apt uses.  It is entered by chroot, in namespaces of its own; what is run in it beside apt and
# dpkg has no network but loopback.  That takes root, or a user who may have namespaces and a range of user
# ids (package uidmap); where neither is to be had those cases are skipped, with the reason.
#
# The older version of the upgrade is in the folder of --from.  Without it the packages stand in for it, under
# the number 0.1.0 and each with a file more, which must go: a test of what dpkg does, not of older code.
#
# A case prints "ok - NAME" or "not ok - NAME", behind what was wrong.

set -u
. "$(dirname "$0")/lib.sh"

usage() {
	cat <<-END
	usage: scripts/package-test.sh [options] DIR
	  DIR           folder with the packages, as scripts/package.sh has left them; RPMs in it are looked at, too
	  --from DIR    packages of an older version, to upgrade from
	  --keep        leave the clean system where it was made (build/package/root)
	  -h, --help    this text
	END
}

ARGS=("$@") NEW='' OLD='' KEEP=0
while [ $# -gt 0 ]; do
	case $1 in
	--from) OLD=$(cd "${2:?}" && pwd) || exit 2 ; shift ;;
	--keep) KEEP=1 ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; exit 2 ;;
	*) NEW=$(cd "$1" && pwd) || exit 2 ;;
	esac
	shift
done
[ -n "$NEW" ] || { usage >&2; exit 2; }

# ---- namespaces --------------------------------------------------------------------------------

# Once inside, this script is root: of the machine, or of a user namespace.
if [ -z "${PACKAGE_INSIDE:-}" ]; then
	export PACKAGE_INSIDE=yes
	room=(unshare --mount --pid --fork --kill-child --mount-proc)
	[ "$(id -u)" = 0 ] || room=(unshare --user --map-root-user --map-auto "${room[@]:1}")
	# what it will do there: mount, and files of other users
	why=$("${room[@]}" sh -c 'mount -t tmpfs none /tmp && touch /tmp/f && chown 1:1 /tmp/f &&
		unshare --net ip link set lo up' 2>&1) && exec "${room[@]}" "$0" "${ARGS[@]}"
	PACKAGE_INSIDE="no: $(tail -n 1 <<<"$why")"
fi

# ---- cases -------------------------------------------------------------------------------------

FAILED=0 WHY=()
no() { WHY+=("$*"); }

# A case is a function of its name; it fails when it says no() or returns non-zero.
shown() { # NAME
	WHY=()
	"$1" || [ ${#WHY[@]} -gt 0 ] || no "exit status $?"
	if [ ${#WHY[@]} = 0 ]; then
		echo "ok - $1"
	else
		printf '    %s\n' "${WHY[@]}"
		echo "not ok - $1"
		FAILED=$((FAILED + 1))
	fi
}

# said COMMAND... : runs it, and says why the case failed with the end of what it printed.
said() {
	local out
	out=$("$@" 2>&1 </dev/null) && return 0
	no "${*%%$'\n'*}: $(tail -n 8 <<<"$out")"
	return 1
}

NAMES="libfabric-sdr libsdr0 libsdr-dev"
ARCH=$(dpkg --print-architecture)
TRIPLET=$(dpkg-architecture -q DEB_HOST_MULTIARCH)
WORK=$BUILD/package/test
ROOT=$BUILD/package/root

deb() { # FOLDER NAME : the package's file
	find "$1" -maxdepth 1 -name "$2_*_$ARCH.deb" | sort -V | tail -n 1
}

debs() { # FOLDER : those of all packages
	local n
	for n in $NAMES; do deb "$1" "$n"; done
}

# What lintian has to say, down to warnings.  An override has its reason in debian/.
lintian_has_nothing_to_say() {
	local changes
	changes=$(find "$NEW" -maxdepth 1 -name '*.changes' | sort -V | tail -n 1)
	[ -n "$changes" ] || { no "there is no .changes file in $NEW"; return 1; }
	said lintian --allow-root --fail-on error,warning --no-tag-display-limit "$changes"
}

holds() { # FOLDER PATH... : each is a file there
	local p
	for p in "${@:2}"; do
		compgen -G "$1/$p" >/dev/null || no "$p is not in ${1##*/}"
	done
}

packages_hold_what_they_should() {
	local fi=$WORK/libfabric-sdr n
	holds "$fi" "usr/lib/$TRIPLET/libfabric/libsdr-fi.so" usr/share/man/man7/{fi_sdr,sdr-protocol}.7.gz \
		usr/share/doc/libfabric-sdr/{README,CHANGELOG}.md'*' usr/share/sdr/test_configs/sdr/sdr.exclude
	for n in sdr_model sdr_perf sdr_sim sdr_wan; do
		holds "$fi" "usr/bin/$n" "usr/share/man/man1/$n.1.gz"
	done
	holds "$WORK/libsdr0" "usr/lib/$TRIPLET/libsdr.so.0"
	holds "$WORK/libsdr-dev" usr/include/sdr/{sdr,model,fec}.h usr/include/rdma/fi_ext_sdr.h usr/share/man/man3/sdr_sdk.3.gz
	n=$(cd "$WORK" && find . -name '*.la')
	[ -z "$n" ] || no "$n"
}

# What the names in debian/libsdr-dev promise to those who build against them, with the compiler of this machine.
programs_build_with_pkg_config() {
	local pc="$WORK/sdk/usr/lib/$TRIPLET/pkgconfig" flags
	cat >"$WORK/sdk.c" <<-'C'
	#include <stdio.h>
	#include <sdr/model.h>
	#include <sdr/sdr.h>
	int main(void)
	{
		return printf("%s %s\n", sdr_strerror(0), sdr_model_scheme_name(0)) < 0;
	}
	C
	cat >"$WORK/ext.c" <<-'C'
	#include <rdma/fi_ext_sdr.h>
	size_t stats_size(void)
	{
		return sizeof(struct fi_sdr_stats);
	}
	C
	export PKG_CONFIG_PATH=$pc PKG_CONFIG_SYSROOT_DIR=$WORK/sdk
	flags=$(pkg-config --cflags --libs libsdr) || no "pkg-config: no libsdr"
	# shellcheck disable=SC2086
	said gcc -Wall -Werror -o "$WORK/sdk.out" "$WORK/sdk.c" $flags &&
		LD_LIBRARY_PATH=$WORK/sdk/usr/lib/$TRIPLET said "$WORK/sdk.out"
	flags=$(pkg-config --cflags libsdr-fi) || no "pkg-config: no libsdr-fi"
	# shellcheck disable=SC2086
	said gcc -Wall -Werror -c -o "$WORK/ext.o" "$WORK/ext.c" $flags
}

rpms_hold_what_they_should() {
	local files
	files=$(find "$NEW" -maxdepth 1 -name '*.rpm' ! -name '*.src.rpm' -exec rpm -qlp {} +) || no "rpm cannot read them"
	for f in /libfabric/libsdr-fi.so /bin/sdr_perf /libsdr.so.0 /sdr/sdr.h /fi_sdr.7 /README.md /CHANGELOG.md; do
		grep -q -- "$f" <<<"$files" || no "no $f in the RPMs"
	done
	! grep '\.la$' <<<"$files" || no "libtool's files in the RPMs"
}

# ---- the clean system -----------------------------------------------------------------------------

inside() { # COMMAND... : in the clean system
	chroot "$ROOT" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive ${http_proxy:+"http_proxy=$http_proxy"} "$@"
}

# The same with loopback for a network, and a limit of 90 seconds.
alone() { # COMMAND...
	unshare --net sh -c 'ip link set lo up && exec "$@"' sh \
		timeout -k 5 90 chroot "$ROOT" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"
}

apt_get() { inside apt-get -y --no-install-recommends "$@"; }

# Everything that a package could leave: names, kinds, owners, rights, targets and contents, but for what apt, dpkg and
# ldconfig write by themselves.
everything() { # FILE
	(cd "$ROOT" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./sys -o -path ./run -o -path ./tmp \
		-o -path ./packages -o -path ./var/cache -o -path ./var/log -o -path ./var/lib/apt -o -path ./etc/ld.so.cache \
		-o -path './var/lib/dpkg/status*' -o -path './var/lib/dpkg/available*' -o -path './var/lib/dpkg/lock*' \
		-o -path ./var/lib/dpkg/triggers -o -path ./var/lib/dpkg/updates \) -prune \
		-o -printf '%p %y %m %U:%G %l\n' -type f -exec sha256sum {} +) | sort >"$1"
}

same() { # FILE FILE : what differs
	local what
	what=$(diff "$1" "$2") || no "$(grep '^[<>]' <<<"$what" | head -n 20)"
}

a_clean_system_can_be_made() {
	local proxy
	apt-get indextargets --format '$(ORIGIN) deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
		sed -n 's/^Debian deb/deb/p' | sort -u >"$WORK/sources.list"
	[ -s "$WORK/sources.list" ] || { no "this machine's apt names no Debian mirror"; return 1; }
	proxy=$(apt-config dump --format '%v' Acquire::http::Proxy)
	# shellcheck source=/dev/null
	said mmdebstrap --mode=root --variant=minbase ${proxy:+"--aptopt=Acquire::http::Proxy \"$proxy\""} \
		"$(. /etc/os-release && echo "$VERSION_CODENAME")" "$ROOT" "$WORK/sources.list" || return 1
	said cp -L --remove-destination /etc/resolv.conf "$ROOT/etc/resolv.conf"
	said mount -t proc none "$ROOT/proc"
	said mount -t tmpfs -o mode=755 none "$ROOT/dev" && mkdir "$ROOT/dev/shm" && chmod 1777 "$ROOT/dev/shm"
	for n in null zero full random urandom tty; do
		touch "$ROOT/dev/$n" && said mount --bind "/dev/$n" "$ROOT/dev/$n"
	done
	mkdir -p "$ROOT/packages/new" "$ROOT/packages/old"
	# shellcheck disable=SC2046
	cp $(debs "$NEW") "$ROOT/packages/new" && older
}

# The older packages, or what stands in for them.
older() {
	local n dir=$WORK/older version
	if [ -n "$OLD" ]; then
		# shellcheck disable=SC2046
		cp $(debs "$OLD") "$ROOT/packages/old"
		return
	fi
	version=$(dpkg-deb -f "$(deb "$NEW" libsdr0)" Version)
	for n in $NAMES; do
		rm -rf "$dir"
		dpkg-deb -R "$(deb "$NEW" "$n")" "$dir" &&
			sed -i "s/^Version: .*/Version: 0.1.0/; s/(= $version)/(= 0.1.0)/" "$dir/DEBIAN/control" &&
			echo "not in later versions" >"$dir/usr/share/doc/$n/0.1.0" &&
			said dpkg-deb --root-owner-group -b "$dir" "$ROOT/packages/old/${n}_0.1.0_$ARCH.deb" || return 1
	done
}

# First what the packages depend on, as apt finds it out, then they themselves: what is there in between is what must be
# there again when they have gone.
packages_install_in_a_clean_system() {
	local needs
	said apt_get update || return 1
	needs=$(inside sh -c 'apt-get -s --no-install-recommends install libfabric-bin /packages/new/*.deb' 2>&1) ||
		{ no "apt finds no way to install them: $(tail -n 8 <<<"$needs")"; return 1; }
	needs=$(awk '/^Inst / { print $2 }' <<<"$needs" | grep -vxF "$(tr ' ' '\n' <<<"$NAMES")")
	# shellcheck disable=SC2086
	said apt_get install $needs || return 1
	everything "$WORK/before"
	! alone fi_info -p sdr >/dev/null 2>&1 || no "the system has an sdr before it was installed"
	said inside sh -c 'apt-get -y --no-install-recommends install /packages/new/*.deb' || return 1
	everything "$WORK/installed"
	! diff -q "$WORK/before" "$WORK/installed" >/dev/null || no "nothing was installed"
}

provider_is_found_with_no_path_set() {
	local out
	out=$(alone env FI_PROVIDER=sdr fi_info -t FI_EP_RDM 2>&1) || no "fi_info: $out"
	grep -q '^provider: sdr$' <<<"$out" && grep -q 'domain: lo$' <<<"$out" || no "fi_info: $out"
}

# The client is tried until the server listens.
pingpong_over_loopback() {
	# shellcheck disable=SC2016
	said alone env FI_PROVIDER=sdr sh -c 'fi_pingpong -e rdm -c & server=$!
		for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
			sleep 0.5
			fi_pingpong -e rdm -c 127.0.0.1 && wait $server && exit 0
		done
		exit 1'
}

tools_run() {
	said alone sdr_model predict --scheme sr_rto,hybrid --bandwidth 100e9 --rtt 25e-3 --size 64M --drop-packet 1e-4
	said alone sdr_sim message --scheme hybrid --bandwidth 10e9 --rtt 5e-3 --size 1M --drop-packet 1e-3
	# shellcheck disable=SC2016
	said alone sh -c 'sdr_perf & sleep 1; sdr_perf -s 64k 127.0.0.1; rc=$?; kill $! 2>/dev/null; exit $rc'
	said alone sdr_wan --version
}

# What is there is what was there before; and dpkg remembers nothing.
purge_leaves_nothing() {
	local left
	# shellcheck disable=SC2086
	said apt_get purge $NAMES || return 1
	everything "$WORK/after"
	same "$WORK/before" "$WORK/after"
	left=$(inside dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' |
		grep -E ' (libfabric-sdr|libsdr0|libsdr-dev)$' | grep -v '^un')
	[ -z "$left" ] || no "dpkg: $left"
	! alone fi_info -p sdr >/dev/null 2>&1 || no "fi_info still finds the provider"
}

# is_version FOLDER : the packages of that folder are installed.
is_version() {
	local n want have
	for n in $NAMES; do
		want=$(dpkg-deb -f "$(deb "$ROOT/packages/$1" "$n")" Version)
		have=$(inside dpkg-query -W -f '${db:Status-Abbrev}${Version}' "$n")
		[ "$have" = "ii $want" ] || no "$n: \"$have\", not \"ii $want\""
	done
}

upgrade_from_the_older_version() {
	said inside sh -c 'apt-get -y --no-install-recommends install /packages/old/*.deb' || return 1
	is_version old
	provider_is_found_with_no_path_set
	pingpong_over_loopback
	said inside sh -c 'apt-get -y --no-install-recommends install /packages/new/*.deb' || return 1
	is_version new
	everything "$WORK/upgraded"
	same "$WORK/installed" "$WORK/upgraded"
	provider_is_found_with_no_path_set
	pingpong_over_loopback
}

purge_after_the_upgrade_leaves_nothing() { purge_leaves_nothing; }

# ---- the run ------------------------------------------------------------------------------------------

# Mounts are this script's alone, and its end is theirs; nothing is removed through one that is still there.
clean() {
	umount -R "$ROOT/proc" "$ROOT/dev" 2>/dev/null
	rm -rf --one-file-system "$WORK"
	[ $KEEP = 1 ] || rm -rf --one-file-system "$ROOT"
}

rm -rf --one-file-system "$WORK" "$ROOT"
mkdir -p "$WORK" || die "cannot write to $WORK"
trap clean EXIT
for n in $NAMES; do
	f=$(deb "$NEW" "$n")
	[ -n "$f" ] || die "there is no $n for $ARCH in $NEW"
	dpkg-deb -x "$f" "$WORK/$n" || die "cannot unpack $f"
	[ "$n" = libfabric-sdr ] || dpkg-deb -x "$f" "$WORK/sdk"
done

shown lintian_has_nothing_to_say
shown packages_hold_what_they_should
shown programs_build_with_pkg_config
if compgen -G "$NEW/*.rpm" >/dev/null; then
	shown rpms_hold_what_they_should
else
	echo "skip - rpms_hold_what_they_should: there are none in $NEW"
fi
if [ "$PACKAGE_INSIDE" != yes ]; then
	echo "skip - install, upgrade, purge: no clean system without root or user namespaces ($PACKAGE_INSIDE)"
	exit $((FAILED > 0))
fi
# Without the one the next says nothing.
before=$FAILED
shown a_clean_system_can_be_made
[ $FAILED -gt "$before" ] || shown packages_install_in_a_clean_system
if [ $FAILED -gt "$before" ]; then
	echo "not ok - what follows is not run: there is nothing to use, upgrade or purge"
	exit 1
fi
for c in provider_is_found_with_no_path_set pingpong_over_loopback tools_run purge_leaves_nothing \
	upgrade_from_the_older_version purge_after_the_upgrade_leaves_nothing; do
	shown $c
done
exit $((FAILED > 0))
