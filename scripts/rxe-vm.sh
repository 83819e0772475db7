#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# RDMA devices on a machine that has none: runs a command in a QEMU guest whose kernel is Debian's
# own, with two soft-RoCE devices (rdma_rxe) on a veth pair.  Emulated (TCG): no /dev/kvm, no
# root.  There is no disk image: the guest has an initramfs of busybox and kernel modules, and its
# root is this machine's, read-only over 9p, below a tmpfs.  So it has the same programs and the
# same build tree at the same paths, and what it writes is gone when it ends.
#
# The kernel package is downloaded from the distribution and unpacked, never installed.  What is
# made of it (35 MB on disk) lies in the cache, under a name that follows from how it is made.

set -u
. "$(dirname "$0")/lib.sh"

# What goes wrong before the command runs is not the command's exit status.
die() {
	printf 'rxe-vm.sh: %s\n' "$*" >&2
	exit 125
}

CACHE=${RXE_VM_CACHE:-}
[ -n "$CACHE" ] || CACHE=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
[ -n "${RXE_VM_CACHE:-}" ] || CACHE=${CACHE:-$BUILD}/sdr-rxe
KERNEL=${RXE_VM_KERNEL:-linux-image-amd64}
BOOT_LIMIT=180	# seconds until the command starts: 6 on a quiet machine

usage() {
	cat <<-END
	usage: scripts/rxe-vm.sh prepare [-f]
	       scripts/rxe-vm.sh run [options] -- COMMAND [ARGUMENT...]
	       scripts/rxe-vm.sh shell [options]
	prepare   installs what is missing (root; otherwise says what to install), downloads the kernel,
	          makes the initramfs; -f does so even if it was made before.  "run" does it by itself.
	run       boots the guest and runs COMMAND in it, as root, without input; its output comes as it
	          is written, both streams on standard output.  Exit status: COMMAND's; or 124, out of
	          time; or 125, there is no guest: it did not boot, or died (the end of its console is
	          shown), or it cannot be made.
	shell     a shell in the guest
	options:
	  -t SECONDS   time for COMMAND (default 300); the boot has $BOOT_LIMIT s of its own
	  -o DIR       DIR, made if needed, is \$OUT in the guest: what is written there stays; also gets
	               console.txt and dmesg.txt
	  -C DIR       COMMAND's working directory (default: the one this is called from)
	  -n MTU       of the veth pair (default 5000); 0: no network is set up (scripts/rxe-net.sh up)
	  -m SIZE      memory, as QEMU has it (default 2G)
	  -s CPUS      processors (default 2)
	  -h, --help   this text
	environment:
	  RXE_VM_CACHE    where the kernel lies (now $CACHE)
	  RXE_VM_KERNEL   another kernel package (now $KERNEL)
	In the guest: rxe0 (va, 10.9.0.1, fd09::1) and rxe1 (vb, 10.9.0.2, fd09::2); scripts/rxe-net.sh makes a
	third one with a peer in a namespace, and netem.  RXE_VM=1 is set.  Process start is slow there
	(0.1 s): run few and long ones.  Do not edit a script while the guest runs it: the tree is shared.
	END
}

# Loaded before the command: what the root needs, then what it is all for.
MODULES="virtio_pci 9pnet_virtio 9p overlay crc32_generic veth ib_uverbs rdma_ucm rdma_rxe sch_netem"
# Loaded by the kernel on demand.
MODULES_SPARE="ib_umad tun dummy ifb act_mirred cls_u32 cls_matchall sch_ingress sch_prio sch_tbf sch_fq"

# ---- prepare -------------------------------------------------------------------------------

# module_files MODULES.DEP NAME... : their files and those that they need.  A name that has no
# file is built into the kernel, or loading it will say that it is missing.
module_files() {
	local dep=$1
	shift
	awk -v names="${*//-/_}" '
	function need(file,   i, n, v) {
		if (seen[file]++)
			return
		print file
		n = split(deps[file], v, " ")
		for (i = 1; i <= n; i++)
			need(v[i])
	}
	{
		file = $1
		sub(/:$/, "", file)
		name = file
		sub(/.*\//, "", name)
		sub(/\.ko.*/, "", name)
		gsub(/-/, "_", name)
		files[name] = file
		$1 = ""
		deps[file] = $0
	}
	END {
		n = split(names, want, " ")
		for (j = 1; j <= n; j++)
			if (want[j] in files)
				need(files[want[j]])
	}' "$dep"
}

unpacked() { # FILE : its bytes, decompressed as its name says
	case $1 in
	*.xz) xz -dc "$1" ;;
	*.zst) zstd -qdc "$1" ;;
	*) cat "$1" ;;
	esac
}

# The number at an offset of a file, little endian.
number_at() { # FILE OFFSET BYTES
	od -An -t "u$3" -j "$2" -N "$3" --endian=little "$1" | tr -d ' '
}

# The ELF kernel out of a bzImage, whose header says where it lies (boot protocol 2.08): booted
# directly, it saves the guest from decompressing itself, which takes half of the time to boot.
elf_kernel() { # BZIMAGE ELF
	local setup at len
	setup=$(number_at "$1" $((0x1f1)) 1)
	at=$((((setup ? setup : 4) + 1) * 512 + $(number_at "$1" $((0x248)) 4)))
	len=$(number_at "$1" $((0x24c)) 4)
	tail -c +$((at + 1)) "$1" | head -c "$len" >"$2.packed"
	case $(od -An -t x1 -N 4 "$2.packed" | tr -d ' ') in
	fd377a58) xz -dc --single-stream "$2.packed" >"$2" ;;
	28b52ffd) zstd -qdc "$2.packed" >"$2" ;;	# what follows is the length: no frame
	*) false ;;
	esac 2>/dev/null
	rm -f "$2.packed"
	[ "$(head -c 4 "$2" 2>/dev/null | tail -c 3)" = ELF ]
}

# What the initramfs runs.  Everything that must work is checked: "fail" ends the guest before the
# command has started, which the host takes for a boot that failed.
guest_init() {
	cat <<-INIT
	#!/bin/busybox sh
	/bin/busybox --install -s /bin
	export PATH=/bin
	fail() { echo "rxe-vm: \$*"; sync; poweroff -f; }
	mount -t proc proc /proc && mount -t sysfs sysfs /sys && mount -t devtmpfs dev /dev || fail "no /proc, /sys or /dev"
	echo /bin/modprobe >/proc/sys/kernel/modprobe
	for m in $MODULES; do
	    modprobe \$m || fail "cannot load the module \$m"
	done
	mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288,ro,cache=loose host /host || fail "no root over 9p"
	mount -t tmpfs -o size=75% tmpfs /top && mkdir /top/upper /top/work &&
	    mount -t overlay -o lowerdir=/host,upperdir=/top/upper,workdir=/top/work overlay /new || fail "no overlay"
	mkdir -p /new/proc /new/sys /new/dev /new/run /new/tmp
	for d in proc sys dev; do
	    mount --move /\$d /new/\$d || fail "cannot move /\$d"
	done
	mkdir -p /new/dev/pts /new/dev/shm
	mount -t devpts -o ptmxmode=666 devpts /new/dev/pts && mount -t tmpfs tmpfs /new/dev/shm &&
	    mount -t tmpfs tmpfs /new/run || fail "no /dev/pts, /dev/shm or /run"
	mkdir /new/run/rxe-vm /new/run/out
	mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288,cache=none control /new/run/rxe-vm || fail "no control share"
	mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288,cache=none out /new/run/out || fail "no output share"
	hostname rxe-vm
	rm -f /new/etc/hosts
	printf '127.0.0.1 localhost rxe-vm\n::1 localhost\n' >/new/etc/hosts
	ip link set lo up
	stty -F /new/dev/ttyS1 raw -echo
	chroot /new /bin/bash /run/rxe-vm/command </new/dev/null >/new/dev/ttyS1 2>&1
	echo \$? >/new/run/rxe-vm/status
	dmesg >/new/run/out/dmesg.txt
	sync
	poweroff -f
	INIT
}

# Names the package, e.g. linux-image-6.1.0-56-amd64: the one that $KERNEL depends on, or itself.
kernel_package() {
	local p
	p=$(apt-cache depends "$KERNEL" 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)$/\1/p' | head -n 1)
	[ -n "$p" ] || ! apt-cache show "$KERNEL" >/dev/null 2>&1 || p=$KERNEL
	echo "$p"
}

kernel_download() { # DIR
	local package try
	for try in 1 2; do
		package=$(kernel_package)
		[ -n "$package" ] && (cd "$1" && apt-get -qq -o APT::Sandbox::User="$(id -un)" download "$package") >&2 && return 0
		# the package lists are missing or older than what the mirror has
		[ "$try" = 1 ] && [ "$(id -u)" = 0 ] && apt-get -qq -o DPkg::Lock::Timeout=600 update >&2 || break
	done
	die "cannot download ${package:-$KERNEL}: no package lists (apt-get update, as root), or no network"
}

# initramfs ROOT VERSION FILE : from the unpacked kernel package.
initramfs() {
	local root=$1 version=$2 out=$3 dir=$1/initramfs f from to
	from=$root/lib/modules/$version
	to=$dir/lib/modules/$version
	mkdir -p "$dir"/{bin,proc,sys,dev,host,top,new} "$to"
	cp "$(command -v busybox)" "$dir/bin/busybox"
	busybox depmod -b "$root" "$version" || return 1
	# shellcheck disable=SC2086
	for f in $(module_files "$from/modules.dep" $MODULES $MODULES_SPARE); do
		mkdir -p "$to/$(dirname "$f")"
		f=${f%.xz}
		f=${f%.zst}
		unpacked "$(echo "$from/$f"*)" >"$to/$f" || return 1
	done
	cp "$from"/modules.builtin* "$from/modules.order" "$to" && busybox depmod -b "$dir" "$version" || return 1
	guest_init >"$dir/init"
	chmod 755 "$dir/init"
	(cd "$dir" && find . | cpio -o -H newc -R 0:0 --quiet) | gzip -1 >"$out"
}

# prepared : the directory of what this script would make; complete once it is there.
prepared() {
	echo "$CACHE/$( (declare -f elf_kernel guest_init initramfs module_files; echo "$KERNEL $MODULES $MODULES_SPARE") | sha256sum | cut -c1-16)"
}

# All is made beside and put in its place at the end; who comes second waits for who is first.
prepare() { # [FORCE]
	local dir version
	# shellcheck disable=SC2086
	if [ "$INSTALL" = 1 ]; then
		packages_install $PKGS_RXE
	else
		work=$(packages_missing $PKGS_RXE | tr '\n' ' ')
		[ -z "$work" ] || die "missing packages: $work"
	fi
	dir=$(prepared)
	[ ! -d "$dir" ] || [ -n "${1:-}" ] || return 0
	mkdir -p "$CACHE" || die "cannot write to $CACHE (RXE_VM_CACHE names another place)"
	exec 9>"$CACHE/lock" && flock 9 || die "cannot lock $CACHE"
	if [ -d "$dir" ] && [ -z "${1:-}" ]; then
		exec 9>&-
		return 0
	fi
	work=$(mktemp -d "$CACHE/new.XXXXXX") || die "cannot write to $CACHE"
	chmod 755 "$work"
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT TERM HUP
	say "downloading the kernel" >&2
	kernel_download "$work"
	say "unpacking $(basename "$work"/*.deb)" >&2
	dpkg-deb -x "$work"/*.deb "$work/root" || die "cannot unpack the kernel package (is the disk full?)"
	version=$(ls "$work/root/lib/modules")
	mkdir "$work/done"
	echo "$version" >"$work/done/version"
	elf_kernel "$work/root/boot/vmlinuz-$version" "$work/done/kernel" ||
		cp "$work/root/boot/vmlinuz-$version" "$work/done/kernel" || die "no kernel in the package"
	initramfs "$work/root" "$version" "$work/done/initramfs" || die "cannot make the initramfs"
	rm -rf "$dir" "$CACHE"/[0-9a-f]???????????????	# and those of earlier versions of this script
	mv "$work/done" "$dir" || die "cannot write to $CACHE"
	rm -rf "$work"
	trap - EXIT INT TERM HUP
	exec 9>&-
	say "prepared $version in $CACHE ($(du -sh "$dir" | cut -f1))" >&2
}

# ---- run -----------------------------------------------------------------------------------

# The script that the guest's init starts.  Without the file "started" the command never was.
guest_command() { # COMMAND...
	cat <<-END
	export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	export HOME=/root TERM=${TERM:-dumb} LANG=C.UTF-8 RXE_VM=1 OUT=/run/out
	exec 3>&1 4>&2 >/run/rxe-vm/setup.txt 2>&1
	END
	[ "$mtu" = 0 ] || printf 'bash %q up %q || exit 125\n' "$SRC/scripts/rxe-net.sh" "$mtu"
	printf 'cd %q || exit 125\n' "$dir"
	echo 'exec >&3 2>&4 3>&- 4>&-'
	echo 'read -r up rest </proc/uptime; echo "$up" >/run/rxe-vm/started'
	if [ "$verb" = shell ]; then
		# shellcheck disable=SC2016
		printf 'stty -F /dev/ttyS1 sane rows %d cols %d\n' "$(tput lines 2>/dev/null || echo 24)" \
			"$(tput cols 2>/dev/null || echo 80)"
		echo 'exec setsid -c bash -i </dev/ttyS1 >/dev/ttyS1 2>&1'
	else
		printf 'exec'
		printf ' %q' "$@"
		echo
	fi
}

cleanup() {
	[ -z "$qemu" ] || { kill -9 "$qemu" 2>/dev/null; wait "$qemu" 2>/dev/null; }
	[ -z "$tty" ] || stty "$tty"
	rm -rf "$control"
}

run() { # COMMAND...
	local made rc=125 end why='' input=/dev/null
	made=$(prepared)
	control=$(mktemp -d) && chmod 755 "$control" || die "no temporary directory"
	qemu='' tty=''
	trap cleanup EXIT
	trap 'exit 130' INT TERM HUP
	[ -n "$out" ] || { out=$control/out; mkdir "$out"; }
	guest_command "$@" >"$control/command"
	if [ "$verb" = shell ]; then
		[ -t 0 ] || die "shell: standard input is no terminal"
		tty=$(stty -g)
		stty raw -echo
		input=/dev/stdin
	fi
	# mitigations=off, nokaslr, tsc=reliable: seconds of boot, and nothing is here to protect
	qemu-system-x86_64 -M q35 -accel tcg,thread=multi -cpu max -smp "$cpus" -m "$memory" \
		-nodefaults -no-user-config -display none -monitor none -nic none -no-reboot \
		-kernel "$made/kernel" -initrd "$made/initramfs" \
		-append "console=ttyS0 quiet loglevel=3 panic=-1 mitigations=off nokaslr tsc=reliable random.trust_cpu=on" \
		-serial "file:$control/console.txt" -serial stdio \
		-virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
		-virtfs "local,path=${control//,/,,},mount_tag=control,security_model=none" \
		-virtfs "local,path=${out//,/,,},mount_tag=out,security_model=none" \
		<"$input" 2>"$control/qemu.txt" &
	qemu=$!
	end=$((SECONDS + BOOT_LIMIT)) why="the guest did not start the command within $BOOT_LIMIT s"
	while kill -0 "$qemu" 2>/dev/null; do
		if [ "$rc" = 125 ] && [ -s "$control/started" ]; then
			rc=124 end=$((SECONDS + limit)) why="out of time after $limit s"
			[ "$verb" = run ] || end=$((SECONDS + 1000000))
		fi
		[ "$SECONDS" -lt "$end" ] || break
		sleep 0.1
	done
	if ! kill -0 "$qemu" 2>/dev/null; then
		wait "$qemu"
		qemu=''
		if [ ! -s "$control/started" ]; then
			rc=125 why="the guest did not start the command"
		elif [ -s "$control/status" ]; then
			rc=$(cat "$control/status") why=
		else
			rc=125 why="the guest died"
		fi
	fi
	[ "$out" = "$control/out" ] || cp "$control/console.txt" "$out" 2>/dev/null
	if [ -n "$why" ]; then
		echo "rxe-vm.sh: $why; the end of what it said:"
		tail -qn 20 "$control"/{qemu,console,setup}.txt 2>/dev/null | tr -d '\r' | grep . ||
			echo "(nothing; is -m $memory too little memory?)"
	fi >&2
	exit "$rc"
}

# ---- options -------------------------------------------------------------------------------

number() { # OPTION VALUE
	case $2 in
	'' | *[!0-9]*) die "$1 takes a number, not \"$2\"" ;;
	esac
}

verb=${1:-}
case $verb in
prepare | run | shell) shift ;;
-h | --help) usage; exit 0 ;;
*) usage >&2; exit 2 ;;
esac
INSTALL=1 force='' limit=300 out='' dir=$PWD mtu=5000 memory=2G cpus=2
while [ $# -gt 0 ]; do
	case $1 in
	-f) force=1 ;;
	-t) number -t "${2:-}"; limit=$2; shift ;;
	-o) out=${2:?}; shift ;;
	-C) dir=${2:?}; shift ;;
	-n) number -n "${2:-}"; mtu=$2; shift ;;
	-m) memory=${2:?}; shift ;;
	-s) number -s "${2:-}"; cpus=$2; shift ;;
	--no-install) INSTALL=0 ;;
	-h | --help) usage; exit 0 ;;
	--) shift; break ;;
	*) usage >&2; exit 2 ;;
	esac
	shift
done
if [ "$verb" = run ]; then
	[ $# -gt 0 ] || die "run: no command"
else
	[ $# = 0 ] || die "$verb takes no command"
fi
if [ -n "$out" ]; then
	mkdir -p "$out" && out=$(cd "$out" && pwd) || die "cannot write to $out"
fi
[ -d "$dir" ] || die "no such directory: $dir"
dir=$(cd "$dir" && pwd)
prepare "$force"
[ "$verb" = prepare ] || run "$@"
