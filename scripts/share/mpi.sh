#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Inside a run of sdr_wan: an all-to-all of 4 ranks in each of a and b, by sdr and by libfabric's tcp with
# the kernel's congestion controls, one after the other, each a phase of its name.  Prints a line for each:
# its name and the seconds of one all-to-all.
#
# mpi.sh WAN PROGRAM DIRECTORY BYTES ROUNDS

set -u
wan=$1 program=$2 dir=$3 bytes=$4 rounds=$5
# What mpirun calls to start a daemon on another host: HOST COMMAND...
cat >"$dir/agent" <<END
#!/usr/bin/env bash
[ "\$1" = "$SDR_WAN_A" ] && h=a || h=b
shift
exec "$wan" exec \$h unshare --uts sh -c 'hostname "\$0"; exec sh -c "\$*"' \$h "\$@"
END
chmod +x "$dir/agent"

ranks() { # PROVIDER
	local v vars=() common
	for v in $(compgen -e | grep -E '^(FI_|IPATH_|LD_LIBRARY_PATH$)'); do
		vars+=(-x "$v")
	done
	common=(-np 4 "${vars[@]}" --host)
	timeout -k 2 100 "$wan" exec a unshare --uts sh -c 'hostname a; exec "$@"' sh mpirun.openmpi --allow-run-as-root \
		--oversubscribe --mca plm rsh --mca plm_rsh_agent "$dir/agent" --mca oob_tcp_if_include wan0 \
		--mca orte_keep_fqdn_hostnames 1 --mca orte_tmpdir_base "$dir" --mca pml cm --mca mtl ofi \
		--mca mtl_ofi_provider_include "$1" --mca btl self --mca coll ^sm \
		"${common[@]}" "$SDR_WAN_A:4" "$program" "$bytes" "$rounds" : \
		"${common[@]}" "$SDR_WAN_B:4" "$program" "$bytes" "$rounds" 2>"$dir/mpi.err" </dev/null | tail -n 1
}

for how in sdr bbr cubic; do
	for h in a b; do
		# by the route: what a namespace may have as its default is the initial one's to say
		[ $how = sdr ] || "$wan" exec $h ip route replace default dev wan0 congctl $how
	done
	"$wan" phase $how
	if [ $how = sdr ]; then
		echo "sdr $(ranks sdr)"
	else
		echo "$how $(FI_TCP_IFACE=wan0 ranks 'tcp;ofi_rxm')"
	fi
	tail -n 3 "$dir/mpi.err" >&2
done
