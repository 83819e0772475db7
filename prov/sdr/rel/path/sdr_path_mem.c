/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What paths were found to carry, for connections that begin: rate of the bottleneck, smallest
 * round trip, losses that are the path's own, and a size that passed.  One object for all endpoints
 * that should know from each other; it outlives them all.
 *
 * What is known has two keys: the peer's host, and as second choice the network that this is in,
 * which counts half.  A key is bytes to this file; what they are made of is for the connection to
 * say (conn/sdr_conn_known.c).  There are not many of them (sdr_path_keys.c).
 *
 * Several connections that begin at once must not each take the whole rate.  Those that began to
 * open of late are counted (sdr_path_opens.c), and those that moved a noticeable share of the rate
 * (PATH_MOVER), in this second of the caller's clock or the last.  One that has opened and moves
 * little, as the connection over which two sides agree about others, does not count for long; who
 * is idle drops out by itself.  Opening makes no key, as what strangers say must not cost memory;
 * where nothing is known yet those that open together are counted for a few paths only, that what
 * they find out is shared, and what they send to find it out.
 *
 * Knowledge fades: older than SDR_PATH_FRESH_NS the rate counts half, than SDR_PATH_OLD_NS a
 * quarter, and after SDR_PATH_LIFE_NS nothing is known.  What is told moves what is known: a rate
 * up at once, down by quarters, since a connection that had competition or little to send knows
 * less than the path can do; all of it at once when the round trip shows that it is another path.
 * All that our connections moved together in a second is a rate that the path was seen to carry.
 *
 * Nothing here is a promise: a controller checks what it is given before it relies on it.  No
 * clock, no I/O, no threads; callers in several threads give a lock.  Called when a connection
 * opens, once a second while it moves data, and when it ends; it allocates only for new keys.
 */
#include <stdlib.h>
#include <string.h>
#include "sdr_path_keys.h"
#include "sdr_path_mem.h"
#include "sdr_path_opens.h"

#define PATH_SECOND_NS 1000000000ull
#define PATH_MOVER     32u	  /* of the rate: who moves less takes no share */
#define PATH_NET_SHARE 2u	  /* what is known of another host of its network: 1 in */
#define PATH_OTHER_NS  5000000ull /* round trips that differ by less are of the same path */
#define PATH_PKTS_MAX  16384.0	  /* of losses: a new connection still learns its own */

struct sdr_path_mem {
	struct sdr_path_keys keys;
	uint64_t news;	 /* calls of tell */
	uint32_t opened; /* of open */
	struct sdr_path_new fresh[SDR_PATH_NEW];
	void (*lock)(void *arg);
	void (*unlock)(void *arg);
	void *arg;
};

struct sdr_path_mem *sdr_path_mem_new(uint64_t hash_key)
{
	struct sdr_path_mem *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	sdr_path_keys_init(&m->keys, hash_key);
	return m;
}

void sdr_path_mem_free(struct sdr_path_mem *m)
{
	if (!m)
		return;
	sdr_path_keys_destroy(&m->keys);
	free(m);
}

void sdr_path_mem_lock_set(struct sdr_path_mem *m, void (*lock)(void *arg),
			   void (*unlock)(void *arg), void *arg)
{
	m->lock = lock;
	m->unlock = unlock;
	m->arg = arg;
}

static void path_lock(struct sdr_path_mem *m)
{
	if (m->lock)
		m->lock(m->arg);
}

static void path_unlock(struct sdr_path_mem *m)
{
	if (m->unlock)
		m->unlock(m->arg);
}

/* ---- who shares it --------------------------------------------------------------------------- */

static void path_second(struct sdr_path_entry *e, uint64_t now)
{
	uint64_t second = now / PATH_SECOND_NS;
	bool next = second == e->second + 1;

	if (second <= e->second)
		return;
	e->movers_before = next ? e->movers : 0;
	e->moved_before = next ? e->moved : 0;
	e->movers = 0;
	e->moved = 0;
	e->second = second;
}

static uint32_t path_users(struct sdr_path_entry *e, uint64_t now, uint64_t opened)
{
	path_second(e, now);
	return (e->movers > e->movers_before ? e->movers : e->movers_before) +
	       sdr_path_opens_count(&e->opens, e->f.rtt_ns, now, opened);
}

static void path_open(struct sdr_path_mem *m, const struct sdr_path_key *k, uint64_t now)
{
	struct sdr_path_entry *e = sdr_path_keys_find(&m->keys, k);

	if (e)
		sdr_path_opens_add(&e->opens, e->f.rtt_ns, now);
	else
		sdr_path_new_add(m->fresh, k, now);
}

void sdr_path_mem_open(struct sdr_path_mem *m, const struct sdr_path_ends *e, uint64_t now)
{
	path_lock(m);
	path_open(m, &e->host, now);
	path_open(m, &e->net, now);
	__atomic_fetch_add(&m->opened, 1, __ATOMIC_RELAXED);
	path_unlock(m);
}

uint32_t sdr_path_mem_opened(const struct sdr_path_mem *m)
{
	return __atomic_load_n(&m->opened, __ATOMIC_RELAXED);
}

static uint32_t path_together(struct sdr_path_mem *m, const struct sdr_path_key *k, uint64_t now,
			      uint64_t opened)
{
	struct sdr_path_entry *e = sdr_path_keys_find(&m->keys, k);

	if (e)
		return path_users(e, now, opened);
	return sdr_path_new_count(m->fresh, k, now, opened);
}

uint32_t sdr_path_mem_together(struct sdr_path_mem *m, const struct sdr_path_ends *e, uint64_t now,
			       uint64_t opened)
{
	uint32_t host, net;

	path_lock(m);
	host = path_together(m, &e->host, now, opened);
	net = path_together(m, &e->net, now, opened);
	path_unlock(m);
	host = host > net ? host : net;
	return host ? host : 1;
}

static bool path_use(struct sdr_path_mem *m, const struct sdr_path_key *k, uint64_t now,
		     uint64_t moved_Bps)
{
	struct sdr_path_entry *e = sdr_path_keys_touch(&m->keys, k, now);
	bool counts;

	if (!e)
		return false;
	counts = e->f.rate_Bps && moved_Bps > e->f.rate_Bps / PATH_MOVER;
	path_second(e, now);
	e->movers += counts;
	e->moved += moved_Bps;
	return counts;
}

bool sdr_path_mem_use(struct sdr_path_mem *m, const struct sdr_path_ends *e, uint64_t now,
		      uint64_t moved_Bps)
{
	bool counts;

	path_lock(m);
	counts = path_use(m, &e->host, now, moved_Bps);
	path_use(m, &e->net, now, moved_Bps);
	path_unlock(m);
	return counts;
}

static void path_leave(struct sdr_path_mem *m, const struct sdr_path_key *k, uint64_t now,
		       uint64_t first, uint64_t last)
{
	struct sdr_path_entry *e = sdr_path_keys_find(&m->keys, k);

	if (!e)
		return;
	path_second(e, now);
	first /= PATH_SECOND_NS;
	last /= PATH_SECOND_NS;
	if (last == e->second && e->movers)
		e->movers--;
	if (first < e->second && last + 1 >= e->second && e->movers_before)
		e->movers_before--;
}

void sdr_path_mem_leave(struct sdr_path_mem *m, const struct sdr_path_ends *e, uint64_t now,
			uint64_t first, uint64_t last)
{
	path_lock(m);
	path_leave(m, &e->host, now, first, last);
	path_leave(m, &e->net, now, first, last);
	path_unlock(m);
}

/* ---- what is known --------------------------------------------------------------------------- */

static bool path_knows(const struct sdr_path_entry *e)
{
	return e && (e->f.rate_Bps || e->f.pkts > 0 || e->f.mtu);
}

/* Their round trips are too far apart. */
static bool path_other(uint64_t known, uint64_t found)
{
	if (!known || !found)
		return false;
	return found > 2 * known + PATH_OTHER_NS || known > 2 * found + PATH_OTHER_NS;
}

static void path_tell(struct sdr_path_mem *m, const struct sdr_path_key *k, uint64_t now,
		      const struct sdr_path_facts *f)
{
	struct sdr_path_entry *e = sdr_path_keys_touch(&m->keys, k, now);
	uint64_t rate = f->rate_Bps;

	if (!e)
		return;
	if (path_other(e->f.rtt_ns, f->rtt_ns))
		memset(&e->f, 0, sizeof(e->f));
	path_second(e, now);
	if (rate && rate < e->moved)
		rate = e->moved;
	if (rate && rate < e->moved_before)
		rate = e->moved_before;
	if (rate >= e->f.rate_Bps)
		e->f.rate_Bps = rate;
	else if (rate)
		e->f.rate_Bps -= (e->f.rate_Bps - rate) / 4;
	if (f->rtt_ns && (!e->f.rtt_ns || f->rtt_ns < e->f.rtt_ns))
		e->f.rtt_ns = f->rtt_ns;
	else if (f->rtt_ns)
		e->f.rtt_ns += (f->rtt_ns - e->f.rtt_ns) / 8;
	if (f->pkts > 0) {
		e->f.pkts = f->pkts;
		e->f.lost = f->lost;
		e->f.bursts = f->bursts;
	}
	if (f->mtu)
		e->f.mtu = f->mtu;
	e->found_ns = (int64_t)now;
}

void sdr_path_mem_tell(struct sdr_path_mem *m, const struct sdr_path_ends *e, uint64_t now,
		       const struct sdr_path_facts *f)
{
	path_lock(m);
	m->news++;
	path_tell(m, &e->host, now, f);
	path_tell(m, &e->net, now, f);
	path_unlock(m);
}

static uint64_t path_age(const struct sdr_path_entry *e, uint64_t now)
{
	return (int64_t)now > e->found_ns ? now - (uint64_t)e->found_ns : 0;
}

static void path_scale(struct sdr_path_facts *f, uint32_t by)
{
	f->rate_Bps /= by;
	f->pkts /= by;
	f->lost /= by;
	f->bursts /= by;
}

static bool path_ask(struct sdr_path_mem *m, const struct sdr_path_ends *ends, uint64_t now,
		     uint64_t opened, struct sdr_path_facts *f, uint64_t *age_ns)
{
	struct sdr_path_entry *host = sdr_path_keys_find(&m->keys, &ends->host),
			      *net = sdr_path_keys_find(&m->keys, &ends->net), *e;
	uint32_t users = host ? path_users(host, now, opened) : 0,
		 n = net ? path_users(net, now, opened) : 0;
	double most;

	e = path_knows(host) ? host : net;
	if (!path_knows(e) || path_age(e, now) > SDR_PATH_LIFE_NS)
		return false;
	*f = e->f;
	*age_ns = path_age(e, now);
	most = f->pkts > PATH_PKTS_MAX ? f->pkts / PATH_PKTS_MAX : 1;
	f->pkts /= most;
	f->lost /= most;
	f->bursts /= most;
	if (*age_ns > SDR_PATH_FRESH_NS)
		path_scale(f, *age_ns > SDR_PATH_OLD_NS ? 4 : 2);
	if (e == net) {
		path_scale(f, PATH_NET_SHARE);
		f->mtu = 0;
	}
	/* They may meet behind this host only, but they may as well meet before. */
	users = users > n ? users : n;
	if (users > 1)
		f->rate_Bps /= users;
	return true;
}

bool sdr_path_mem_ask(struct sdr_path_mem *m, const struct sdr_path_ends *e, uint64_t now,
		      uint64_t opened, struct sdr_path_facts *f, uint64_t *age_ns)
{
	bool known;

	memset(f, 0, sizeof(*f));
	*age_ns = 0;
	path_lock(m);
	known = path_ask(m, e, now, opened, f, age_ns);
	path_unlock(m);
	return known;
}

/* ---- from and to others ---------------------------------------------------------------------- */

void sdr_path_mem_walk(struct sdr_path_mem *m, uint64_t now, void *user,
		       void (*fn)(void *user, const struct sdr_path_key *key,
				  const struct sdr_path_facts *f, uint64_t age_ns))
{
	struct sdr_list *l;

	path_lock(m);
	sdr_list_each(l, &m->keys.touched) {
		const struct sdr_path_entry *e = sdr_container(l, struct sdr_path_entry, link);

		if (path_knows(e) && path_age(e, now) <= SDR_PATH_LIFE_NS)
			fn(user, &e->key, &e->f, path_age(e, now));
	}
	path_unlock(m);
}

bool sdr_path_mem_put(struct sdr_path_mem *m, uint64_t now, const struct sdr_path_key *key,
		      const struct sdr_path_facts *f, uint64_t age_ns)
{
	struct sdr_path_entry *e = NULL;

	if (!key->len || age_ns > SDR_PATH_LIFE_NS)
		return false;
	path_lock(m);
	e = sdr_path_keys_find(&m->keys, key);
	if (path_knows(e) && path_age(e, now) <= age_ns)
		e = NULL;
	else if (!e)
		e = sdr_path_keys_make(&m->keys, key, now > age_ns ? now - age_ns : 0);
	if (e) {
		e->f = *f;
		e->found_ns = (int64_t)now - (int64_t)age_ns;
	}
	path_unlock(m);
	return e != NULL;
}

uint64_t sdr_path_mem_news(const struct sdr_path_mem *m)
{
	return m->news;
}

uint32_t sdr_path_mem_count(const struct sdr_path_mem *m)
{
	return m->keys.tab.n;
}
