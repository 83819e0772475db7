/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Hosts: network namespaces, each with TUN devices (one, or one for each path) whose other ends are
 * the emulator's.
 *
 * Who is not root becomes it in a user namespace of his own, where the kernel allows that.  The
 * process visits one new network namespace after the other, makes the devices there and keeps
 * descriptors: the namespace's and the devices'.  Nothing has a name outside, so that nothing can
 * be left behind.  A device offers the offloads of a network card, so that TCP and UDP hand over
 * super-packets; MTU, addresses, a default route and generous limits of TCP's buffers are set.
 *
 * Whatever fails ends the process, with the cause and what to do about it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/route.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/common/tool.h"
#include "wan.h"

#ifndef TUN_F_USO4
#define TUN_F_USO4 0x20
#define TUN_F_USO6 0x40
#endif
#define WAN_TX_QUEUE 20000 /* packets between a host and the emulator */

static void wan_cannot(const char *fmt, const char *what)
{
	tool_warn(fmt, what, strerror(errno));
	exit(WAN_SKIP);
}

/* Writes a text to a file of the kernel's; -1: errno. */
static int wan_write(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC), err;
	ssize_t n;

	if (fd < 0)
		return -1;
	n = write(fd, text, strlen(text));
	err = errno;
	close(fd);
	errno = err;
	return n == (ssize_t)strlen(text) ? 0 : -1;
}

/* ---- namespaces ---------------------------------------------------------------------------- */

static void wan_become_root(void)
{
	char map[64];
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (unshare(CLONE_NEWUSER))
		wan_cannot("%s: %s; run it as root, or as root allow user namespaces: sysctl "
			   "kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000, "
			   "kernel.apparmor_restrict_unprivileged_userns=0 (those that exist)",
			   "no user namespace can be made");
	wan_write("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", (unsigned int)uid);
	if (wan_write("/proc/self/uid_map", map))
		wan_cannot("%s: %s; run it as root", "the user namespace cannot be filled");
	snprintf(map, sizeof(map), "0 %u 1", (unsigned int)gid);
	if (wan_write("/proc/self/gid_map", map))
		wan_cannot("%s: %s; run it as root", "the user namespace cannot be filled");
}

void wan_hosts_enter(void)
{
	const int what = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET;

	if (geteuid() == 0 && unshare(what) == 0)
		return;
	wan_become_root();
	if (unshare(what))
		wan_cannot("%s: %s; run it as root, outside of a sandbox that forbids them",
			   "no namespaces can be made");
}

int wan_host_join(int ns)
{
	if (setns(ns, CLONE_NEWNET))
		return -1;
	/* what /sys says of interfaces is of the namespace in which it was mounted */
	if (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
		(void)!mount("sysfs", "/sys", "sysfs", 0, NULL);
	return 0;
}

/* ---- devices ------------------------------------------------------------------------------- */

static void wan_device(unsigned int interface, char out[IFNAMSIZ])
{
	snprintf(out, IFNAMSIZ, WAN_DEVICE "%u", interface);
}

static int wan_tun_open(const struct wan_plan *plan, unsigned int interface, int *joins)
{
	static const unsigned int offload[] = {
		TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN | TUN_F_USO4 | TUN_F_USO6,
		TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN, /* before Linux 6.2 */
	};
	struct ifreq ifr = { .ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR };
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	int len = sizeof(struct virtio_net_hdr);

	if (fd < 0 && errno == EACCES)
		wan_cannot("%s: %s; as root: chmod 666 /dev/net/tun", "/dev/net/tun");
	if (fd < 0)
		wan_cannot("%s: %s; as root: modprobe tun (in a container: give it the device)",
			   "/dev/net/tun");
	wan_device(interface, ifr.ifr_name);
	if (ioctl(fd, TUNSETIFF, &ifr) || ioctl(fd, TUNSETVNETHDRSZ, &len))
		wan_cannot("%s: %s; is the module tun there, and are TUN devices allowed?",
			   "no TUN device can be made");
	*joins = 0;
	if (plan->no_offload)
		return fd;
	for (unsigned int i = 0; i < 2; i++) {
		if (ioctl(fd, TUNSETOFFLOAD, offload[i]) == 0) {
			*joins = i ? 1 : 2;
			return fd;
		}
	}
	tool_warn("the TUN device takes no super-packets (%s): more work for each packet, no other "
		  "result",
		  strerror(errno));
	return fd;
}

static void wan_try(int failed, const char *what)
{
	if (failed)
		tool_die("%s: %s; a kernel with IPv4, IPv6 and TUN is needed", what,
			 strerror(errno));
}

void wan_host_address(const struct wan_names *names, uint16_t host, unsigned int interface,
		      bool six, char out[64])
{
	unsigned int side = host >= names->n[0], i = host - (side ? names->n[0] : 0u) + 1u;

	snprintf(out, 64, six ? "fd%02x:%x::%x" : "10.%u.%u.%u",
		 (six ? WAN_NET_6 : WAN_NET_4) + interface, side + 1, i);
}

/* By netlink: the ioctl wants a capability that no user namespace gives. */
static int wan_tx_queue(const char *device)
{
	struct {
		struct nlmsghdr h;
		struct ifinfomsg link;
		struct rtattr attr;
		uint32_t len;
	} msg = { .h = { .nlmsg_len = sizeof(msg),
			 .nlmsg_type = RTM_SETLINK,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		  .link = { .ifi_index = (int)if_nametoindex(device) },
		  .attr = { .rta_len = RTA_LENGTH(4), .rta_type = IFLA_TXQLEN },
		  .len = WAN_TX_QUEUE };
	struct {
		struct nlmsghdr h;
		struct nlmsgerr err;
		char more[256];
	} answer;
	int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), err = EIO;

	if (s < 0)
		return -1;
	if (send(s, &msg, sizeof(msg), 0) == (ssize_t)sizeof(msg) &&
	    recv(s, &answer, sizeof(answer), 0) >= (ssize_t)offsetof(typeof(answer), more) &&
	    answer.h.nlmsg_type == NLMSG_ERROR)
		err = -answer.err.error;
	close(s);
	errno = err;
	return err ? -1 : 0;
}

/* The first has the default route, the others the way to the addresses of their path. */
static void wan_up4(const struct wan_plan *plan, uint16_t host, unsigned int interface)
{
	struct sockaddr_in *in;
	struct rtentry rt = { .rt_flags = RTF_UP };
	struct ifreq ifr = { .ifr_mtu = (int)plan->mtu };
	char addr[64], dev[IFNAMSIZ];
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	wan_try(s < 0, "socket");
	wan_device(interface, dev);
	strcpy(ifr.ifr_name, "lo");
	ifr.ifr_flags = IFF_UP;
	wan_try(ioctl(s, SIOCSIFFLAGS, &ifr), "lo up");
	memcpy(ifr.ifr_name, dev, sizeof(dev));
	ifr.ifr_mtu = (int)plan->mtu;
	wan_try(ioctl(s, SIOCSIFMTU, &ifr), "MTU of a TUN device");
	wan_try(wan_tx_queue(dev), "queue length of a TUN device");
	wan_host_address(&plan->names, host, interface, false, addr);
	memset(&ifr.ifr_addr, 0, sizeof(ifr.ifr_addr));
	in = (struct sockaddr_in *)(void *)&ifr.ifr_addr;
	in->sin_family = AF_INET;
	inet_pton(AF_INET, addr, &in->sin_addr);
	wan_try(ioctl(s, SIOCSIFADDR, &ifr), "IPv4 address of a TUN device");
	in->sin_addr.s_addr = htonl(interface ? 0xffff0000 : 0xffffff00);
	wan_try(ioctl(s, SIOCSIFNETMASK, &ifr), "IPv4 address of a TUN device");
	wan_try(ioctl(s, SIOCGIFFLAGS, &ifr), "TUN device up");
	ifr.ifr_flags |= IFF_UP | IFF_RUNNING;
	wan_try(ioctl(s, SIOCSIFFLAGS, &ifr), "TUN device up");
	rt.rt_dst.sa_family = rt.rt_gateway.sa_family = rt.rt_genmask.sa_family = AF_INET;
	rt.rt_dev = dev;
	wan_try(!interface && ioctl(s, SIOCADDRT, &rt), "IPv4 route");
	close(s);
}

/* linux/ipv6.h and net/if.h do not go together. */
struct wan_ifreq6 {
	struct in6_addr addr;
	uint32_t prefix;
	int index;
};

static void wan_up6(const struct wan_plan *plan, uint16_t host, unsigned int interface)
{
	struct in6_rtmsg rt = { .rtmsg_flags = RTF_UP, .rtmsg_metric = 100 };
	struct wan_ifreq6 ifr = { .prefix = interface ? 16 : 64 };
	char addr[64], dev[IFNAMSIZ];
	int s = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (s < 0) /* a kernel without it */
		return;
	wan_device(interface, dev);
	wan_host_address(&plan->names, host, interface, true, addr);
	inet_pton(AF_INET6, addr, &ifr.addr);
	ifr.index = (int)if_nametoindex(dev);
	rt.rtmsg_ifindex = ifr.index;
	if (ioctl(s, SIOCSIFADDR, &ifr) || (!interface && ioctl(s, SIOCADDRT, &rt)))
		tool_warn("no IPv6 in the hosts: %s", strerror(errno));
	close(s);
}

/* What would make TCP slower than its congestion control, and remember earlier connections. */
static void wan_tune(const struct wan_plan *plan)
{
	static const char *const set[][2] = {
		{ "/proc/sys/net/ipv6/conf/all/accept_ra", "0" },
		{ "/proc/sys/net/ipv6/conf/default/accept_ra", "0" },
		{ "/proc/sys/net/ipv6/conf/default/accept_dad", "0" },
		{ "/proc/sys/net/ipv4/tcp_rmem", "4096 1048576 134217728" },
		{ "/proc/sys/net/ipv4/tcp_wmem", "4096 1048576 134217728" },
		{ "/proc/sys/net/ipv4/tcp_no_metrics_save", "1" },
		{ "/proc/sys/net/ipv4/ip_unprivileged_port_start", "0" },
	};

	(void)plan;
	for (unsigned int i = 0; i < sizeof(set) / sizeof(set[0]); i++)
		(void)wan_write(set[i][0], set[i][1]);
}

void wan_hosts_make(const struct wan_plan *plan, struct wan_host *host)
{
	uint16_t n = (uint16_t)(plan->names.n[0] + plan->names.n[1]);
	struct wan_net names = { .names = plan->names };
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	wan_try(home < 0, "/proc/self/ns/net");
	for (uint16_t i = 0; i < n; i++) {
		wan_net_host_name(&names, i, host[i].name);
		if (unshare(CLONE_NEWNET))
			tool_die("network namespace %u of %u: %s; fewer hosts, or a higher limit: "
				 "sysctl user.max_net_namespaces",
				 i + 1u, n, strerror(errno));
		wan_tune(plan);
		host[i].ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
		wan_try(host[i].ns < 0, "/proc/self/ns/net");
		for (unsigned int k = 0; k < wan_ifs(&plan->names); k++) {
			host[i].tun[k] = wan_tun_open(plan, k, &host[i].joins);
			wan_up4(plan, i, k);
			wan_up6(plan, i, k);
		}
	}
	wan_try(setns(home, CLONE_NEWNET), "setns");
	close(home);
}

void wan_host_drops(const struct wan_host *h, uint64_t *before, uint64_t *behind)
{
	unsigned long long v[16] = { 0 };
	char line[512], *at;
	FILE *f;

	*before = *behind = 0;
	if (setns(h->ns, CLONE_NEWNET))
		return;
	f = fopen("/proc/self/net/dev", "r");
	while (f && fgets(line, sizeof(line), f)) {
		at = strstr(line, WAN_DEVICE);
		at = at ? strchr(at, ':') : NULL;
		if (!at)
			continue;
		at++;
		for (int i = 0; i < 16; i++)
			v[i] = strtoull(at, &at, 10);
		*behind += v[2] + v[3];	  /* received by the host: errors, drops */
		*before += v[10] + v[11]; /* sent by it */
	}
	if (f)
		fclose(f);
}
