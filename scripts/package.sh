#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Makes packages of this tree: Debian's, by debian/, or RPMs, by scripts/package/sdr.spec.in.  What is built is a copy
# of the tracked files as they lie here (of all files but build*/, where there is no git), under build/package/; so
# the tree is not touched, and what builds have left in it does not get in.  The version is configure.ac's, and
# debian/changelog must say the same.

set -u
. "$(dirname "$0")/lib.sh"

usage() {
	cat <<-END
	usage: scripts/package.sh [options] DIR
	  DIR             where the packages go; made if it is not there
	  --rpm           RPMs (libfabric-sdr, libsdr, libsdr-devel) in place of Debian's packages
	  --check         run "make check" in the build
	  --no-install    do not install what is missing for building, only say what it is
	  -h, --help      this text
	Debian's: libfabric-sdr (provider, tools, man pages), libsdr0 and libsdr-dev (the SDK), their debug symbols, and
	the source package; scripts/package-test.sh tests them. Prints what it has made, a file a line; what the build
	said is in build/logs/package-*.log.
	END
}

KIND=deb CHECK=0 INSTALL=1 OUT=
while [ $# -gt 0 ]; do
	case $1 in
	--rpm) KIND=rpm ;;
	--check) CHECK=1 ;;
	--no-install) INSTALL=0 ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; exit 2 ;;
	*)
		[ -z "$OUT" ] || { usage >&2; exit 2; }
		OUT=$1 ;;
	esac
	shift
done
[ -n "$OUT" ] || { usage >&2; exit 2; }
mkdir -p "$OUT" "$LOGS" && OUT=$(cd "$OUT" && pwd) || die "cannot write to $OUT"

VERSION=$(sed -n 's/^AC_INIT(\[sdr\], \[\([^]]*\)\].*/\1/p' "$SRC/configure.ac")
[ -n "$VERSION" ] || die "no version in configure.ac"
WORK=$BUILD/package/$KIND
LOG=$LOGS/package-$KIND.log

# Without dpkg, packages are the user's affair, and rpmbuild names those that are missing.
case $KIND in
deb) want="$PKGS_BUILD $PKGS_PACKAGE" ;;
rpm) want=$(command -v dpkg-query >/dev/null && echo "$PKGS_BUILD rpm") ;;
esac
# shellcheck disable=SC2086
if [ $INSTALL = 1 ]; then
	[ -z "$want" ] || packages_install $want >&2
else
	missing=$([ -z "$want" ] || packages_missing $want | tr '\n' ' ')
	[ -z "$missing" ] || die "missing packages: $missing"
fi

# The tree to build, in DIR.  Of a tarball without what was made in it: build/, build-*/, and build-aux/, which
# autogen.sh makes anew.
copy_tree() { # DIR
	mkdir -p "$1" || return 1
	if [ "$(git -C "$SRC" rev-parse --show-toplevel 2>/dev/null)" = "$SRC" ]; then
		git -C "$SRC" ls-files -z | tar -C "$SRC" --null -T - -cf - | tar -C "$1" -xf -
	else
		tar -C "$SRC" --exclude='./build*' --exclude=./figures -cf - . | tar -C "$1" -xf -
	fi
}

make_deb() {
	local tree=$WORK/libfabric-sdr-$VERSION said options="parallel=$JOBS"
	copy_tree "$tree" || return 1
	cd "$tree" || return 1
	said=$(dpkg-parsechangelog -S Version)
	[ "$said" = "$VERSION" ] || { echo "debian/changelog says $said, configure.ac $VERSION"; return 1; }
	[ $CHECK = 1 ] || options+=" nocheck"
	# nocheck leaves programs out that nobody would run, and what they need
	DEB_BUILD_OPTIONS=$options DEB_BUILD_PROFILES=$([ $CHECK = 1 ] || echo nocheck) \
		dpkg-buildpackage -us -uc || return 1
	cd "$WORK" && find . -maxdepth 1 -type f ! -name begun -exec mv -t "$OUT" {} +
}

make_rpm() {
	local tree=$WORK/sdr-$VERSION options=()
	copy_tree "$tree" && mkdir -p "$WORK/SOURCES" "$WORK/SPECS" || return 1
	tar -C "$WORK" -czf "$WORK/SOURCES/sdr-$VERSION.tar.gz" "sdr-$VERSION" || return 1
	sed "s/@VERSION@/$VERSION/" "$SRC/scripts/package/sdr.spec.in" >"$WORK/SPECS/sdr.spec" || return 1
	# Debian's rpm knows no packages, and has nothing to take debug symbols apart
	! command -v dpkg-query >/dev/null || options+=(--nodeps --define "debug_package %{nil}")
	[ $CHECK = 0 ] || options+=(--with check)
	rpmbuild -ba --define "_topdir $WORK" --define "_smp_mflags -j$JOBS" "${options[@]}" "$WORK/SPECS/sdr.spec" ||
		return 1
	find "$WORK/RPMS" "$WORK/SRPMS" -name '*.rpm' -exec mv -t "$OUT" {} +
}

rm -rf "$WORK"
mkdir -p "$WORK" || die "cannot write to $WORK"
touch "$WORK/begun"
if ! ("make_$KIND") >"$LOG" 2>&1 </dev/null; then
	tail -n 30 "$LOG" >&2
	die "no packages were made (log: $LOG)"
fi
find "$OUT" -maxdepth 1 -type f -newer "$WORK/begun" | sort
rm -rf "$WORK"
