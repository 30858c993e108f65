// SPDX-License-Identifier: GPL-2.0
/*
 * Refusals: each has its errno and a reason, and leaves the table as it was
 */
#include "test.h"

/*
 * The table has "wave" of 192.0.2.0/24 and 2001:db8::/32, and "sat" of 192.0.2.0/24
 * with mark 7.  @err EINVAL: or ERANGE, as the core's own checks have it.
 */
static const struct refusal {
	const char	*what;
	uint8_t		cmd;
	uint16_t	flags;
	const char	*words;
	int		err;
} refusals[] = {
	/* Something is missing */
	{ "new: nothing", NEW, NLM_F_CREATE, "", EINVAL },
	{ "new: no name", NEW, NLM_F_CREATE, REST, EINVAL },
	{ "new: no prefix", NEW, NLM_F_CREATE, "name=x window=10", EINVAL },
	{ "new: no window", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/24", EINVAL },
	{ "new: replace without a prefix", NEW, NLM_F_REPLACE,
	  "name=wave window=10", EINVAL },
	{ "new: replace without a window", NEW, NLM_F_REPLACE,
	  "name=wave" WHERE, EINVAL },
	{ "new: a prefix of nothing", NEW, NLM_F_CREATE,
	  "name=x prefix[ ] window=10", EINVAL },
	{ "new: a prefix without an address", NEW, NLM_F_CREATE,
	  "name=x prefix[ len=24 ] window=10", EINVAL },
	{ "new: a prefix without a length", NEW, NLM_F_CREATE,
	  "name=x prefix[ address=198.51.100.0 ] window=10", EINVAL },
	{ "del: no name", DEL, 0, "", EINVAL },
	{ "get: nothing", GET, 0, "", EINVAL },

	/* The name */
	{ "name: no byte", NEW, NLM_F_CREATE, "name:flag=" REST, EINVAL },
	{ "name: empty", NEW, NLM_F_CREATE, "name=" REST, EINVAL },
	{ "name: without NUL", NEW, NLM_F_CREATE, "name:raw=x" REST, EINVAL },
	{ "name: 32 bytes and NUL", NEW, NLM_F_CREATE,
	  "name=abcdefghijklmnopqrstuvwxyz012345" REST, EINVAL },
	{ "name: 32 bytes without NUL", NEW, NLM_F_CREATE,
	  "name:raw=abcdefghijklmnopqrstuvwxyz012345" REST, EINVAL },
	{ "name: a blank in it", NEW, NLM_F_CREATE,
	  "name:hex=61206200" REST, EINVAL },
	{ "name: a blank", NEW, NLM_F_CREATE, "name:hex=2000" REST, EINVAL },
	{ "name: a tab", NEW, NLM_F_CREATE, "name=a\tb" REST, EINVAL },
	{ "name: a line's end", NEW, NLM_F_CREATE, "name=a\n" REST, EINVAL },
	{ "name: a control byte", NEW, NLM_F_CREATE, "name=\001" REST, EINVAL },
	{ "name: an escape", NEW, NLM_F_CREATE, "name=\033[m" REST, EINVAL },
	{ "name: a rubout", NEW, NLM_F_CREATE, "name=a\177" REST, EINVAL },
	{ "name: not ASCII", NEW, NLM_F_CREATE, "name=\303\251" REST, EINVAL },
	{ "del: a name too long", DEL, 0,
	  "name=abcdefghijklmnopqrstuvwxyz012345", EINVAL },
	{ "del: a name without NUL", DEL, 0, "name:raw=wave", EINVAL },
	{ "get: a name without NUL", GET, 0, "name:raw=wave", EINVAL },
	{ "reset: a name without NUL", RESET, 0, "name:raw=wave", EINVAL },

	/* Prefixes */
	{ "prefix: no nest", NEW, NLM_F_CREATE,
	  "name=x prefix:u32=1 window=10", EINVAL },
	{ "prefix: a nest not marked as one", NEW, NLM_F_CREATE,
	  "name=x flat[ address=198.51.100.0 len=24 ] window=10", EINVAL },
	{ "prefix: an address of 3 bytes", NEW, NLM_F_CREATE,
	  "name=x prefix[ address:hex=c63364 len=24 ] window=10", EINVAL },
	{ "prefix: an address of 5 bytes", NEW, NLM_F_CREATE,
	  "name=x prefix[ address:hex=c633640000 len=24 ] window=10", EINVAL },
	{ "prefix: an address of 8 bytes", NEW, NLM_F_CREATE,
	  "name=x prefix[ address:u64=0 len=24 ] window=10", EINVAL },
	{ "prefix: an address of 17 bytes", NEW, NLM_F_CREATE,
	  "name=x prefix[ address:hex=0102030405060708090a0b0c0d0e0f1011 len=8 ] window=10",
	  EINVAL },
	{ "prefix: an address of no byte", NEW, NLM_F_CREATE,
	  "name=x prefix[ address:flag= len=0 ] window=10", EINVAL },
	{ "prefix: a length of 4 bytes", NEW, NLM_F_CREATE,
	  "name=x prefix[ address=198.51.100.0 len:u32=24 ] window=10", EINVAL },
	{ "prefix: a length of no byte", NEW, NLM_F_CREATE,
	  "name=x prefix[ address=198.51.100.0 len:flag= ] window=10", EINVAL },
	{ "prefix: IPv4/33", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/33 window=10", EINVAL },
	{ "prefix: IPv4/128", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/128 window=10", EINVAL },
	{ "prefix: IPv6/129", NEW, NLM_F_CREATE,
	  "name=x prefix=2001:db8:1::/129 window=10", EINVAL },
	{ "prefix: IPv6/255", NEW, NLM_F_CREATE,
	  "name=x prefix=2001:db8:1::/255 window=10", EINVAL },
	{ "prefix: IPv4, a bit behind it", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.1/24 window=10", EINVAL },
	{ "prefix: IPv4/31, a bit behind it", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.1/31 window=10", EINVAL },
	{ "prefix: IPv4/0, a bit behind it", NEW, NLM_F_CREATE,
	  "name=x prefix=128.0.0.0/0 window=10", EINVAL },
	{ "prefix: IPv6, a bit behind it", NEW, NLM_F_CREATE,
	  "name=x prefix=2001:db8:1::1/48 window=10", EINVAL },
	{ "prefix: IPv6/127, a bit behind it", NEW, NLM_F_CREATE,
	  "name=x prefix=2001:db8:1::1/127 window=10", EINVAL },
	{ "prefix: v4-mapped", NEW, NLM_F_CREATE,
	  "name=x prefix=::ffff:198.51.100.0/120 window=10", EINVAL },
	{ "prefix: all that is v4-mapped", NEW, NLM_F_CREATE,
	  "name=x prefix=::ffff:0.0.0.0/96 window=10", EINVAL },
	{ "prefix: an attribute that is not known", NEW, NLM_F_CREATE,
	  "name=x prefix[ address=198.51.100.0 len=24 3=1 ] window=10", EINVAL },
	{ "prefix: the second is wrong", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/24 prefix=203.0.113.9/24 window=10", EINVAL },
	{ "prefix: twice", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/24 prefix=203.0.113.0/24 prefix=198.51.100.0/24 window=10",
	  EINVAL },
	{ "prefix: another circuit's", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/24 prefix=2001:db8::/32 window=10", EEXIST },
	{ "prefix: another circuit's, with that mark", NEW, NLM_F_CREATE,
	  "name=x mark=7 window=10" WHERE, EEXIST },
	{ "prefix: another circuit's, by replacing", NEW, NLM_F_REPLACE,
	  "name=wave prefix=198.51.100.0/24 mark=7 window=10" WHERE, EEXIST },
	{ "prefix: another circuit's, by either", NEW,
	  NLM_F_REPLACE | NLM_F_CREATE, "name=sat window=10" WHERE, EEXIST },

	/* Numbers */
	{ "window: 0", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/24 window=0", EINVAL },
	{ "window: one more than the limit", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/24 window=67108865", EINVAL },
	{ "window: 2^32 - 1", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/24 window=0xffffffff", EINVAL },
	{ "window: short", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/24 window:u16=10", EINVAL },
	{ "window: long", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/24 window:u64=10", EINVAL },
	{ "window: of no byte", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/24 window:flag=", EINVAL },
	{ "rate: one more than the limit", NEW, NLM_F_CREATE,
	  "name=x rate=125000000001" REST, EINVAL },
	{ "rate: 2^64 - 1", NEW, NLM_F_CREATE,
	  "name=x rate=0xffffffffffffffff" REST, EINVAL },
	{ "rate: short", NEW, NLM_F_CREATE, "name=x rate:u32=1" REST, EINVAL },
	{ "rate: of no byte", NEW, NLM_F_CREATE, "name=x rate:flag=" REST, EINVAL },
	{ "ifindex: no such device", NEW, NLM_F_CREATE,
	  "name=x ifindex=0x7fffffff" REST, ENODEV },
	{ "ifindex: 0", NEW, NLM_F_CREATE, "name=x ifindex=0" REST, EINVAL },
	{ "ifindex: negative", NEW, NLM_F_CREATE,
	  "name=x ifindex=0x80000000" REST, EINVAL },
	{ "ifindex: short", NEW, NLM_F_CREATE, "name=x ifindex:u8=1" REST, EINVAL },
	{ "mark: 0", NEW, NLM_F_CREATE, "name=x mark=0" REST, EINVAL },
	{ "mark: long", NEW, NLM_F_CREATE, "name=x mark:u64=1" REST, EINVAL },
	{ "flags: unknown", NEW, NLM_F_CREATE, "name=x flags=4" REST, EINVAL },
	{ "flags: unknown beside a known one", NEW, NLM_F_CREATE,
	  "name=x flags=0x80000002" REST, EINVAL },
	{ "flags: short", NEW, NLM_F_CREATE, "name=x flags:u16=2" REST, EINVAL },

	/* What is no business of this request */
	{ "new: an attribute that is not known", NEW, NLM_F_CREATE,
	  "name=x 99=1" REST, EINVAL },
	{ "new: the first that is not known", NEW, NLM_F_CREATE,
	  "name=x 24=1" REST, EINVAL },
	{ "new: attribute 0", NEW, NLM_F_CREATE, "name=x 0=1" REST, EINVAL },
	{ "new: an id", NEW, NLM_F_CREATE, "name=x 9=1" REST, EINVAL },
	{ "new: auto", NEW, NLM_F_CREATE, "name=x 10:flag=" REST, EINVAL },
	{ "new: a breaker", NEW, NLM_F_CREATE, "name=x 14=0" REST, EINVAL },
	{ "new: a cause", NEW, NLM_F_CREATE, "name=x 21=1" REST, EINVAL },
	{ "new: a uid", NEW, NLM_F_CREATE, "name=x 23=0" REST, EINVAL },
	{ "new: an address", NEW, NLM_F_CREATE,
	  "name=x address=198.51.100.1" REST, EINVAL },
	{ "del: a window", DEL, 0, "name=wave window=10", EINVAL },
	{ "get: a window", GET, 0, "name=wave window=10", EINVAL },
	{ "reset: a window", RESET, 0, "name=wave window=10", EINVAL },
	{ "stats: a name", STATS, 0, "name=wave", EINVAL },

	/* Who is asked for */
	{ "get: an address of 5 bytes", GET, 0, "address:hex=c000020000", EINVAL },
	{ "get: an address of no byte", GET, 0, "address:flag=", EINVAL },
	{ "get: an address of 17 bytes", GET, 0,
	  "address:hex=0102030405060708090a0b0c0d0e0f1011", EINVAL },
	{ "get: a v4-mapped address", GET, 0, "address=::ffff:192.0.2.1", EINVAL },
	{ "get: a device alone", GET, 0, "ifindex=1", EINVAL },
	{ "get: a mark alone", GET, 0, "mark=7", EINVAL },
	{ "get: no such name", GET, 0, "name=wav", ENOENT },
	{ "get: no such address", GET, 0, "address=198.51.100.1", ENOENT },
	{ "del: no such name", DEL, 0, "name=waves", ENOENT },
	{ "reset: no such name", RESET, 0, "name=x", ENOENT },
	{ "reset: no such address", RESET, 0, "address=198.51.100.1", ENOENT },
	{ "reset: a device alone", RESET, 0, "ifindex=1", EINVAL },
	{ "reset: a mark alone", RESET, 0, "mark=7", EINVAL },
	{ "reset: a name and a mark", RESET, 0, "name=wave mark=7", EINVAL },
	{ "reset: a name and an address", RESET, 0, "name=wave address=192.0.2.1",
	  EINVAL },
	{ "get: a name and an address", GET, 0, "name=wave address=192.0.2.1",
	  EINVAL },
	{ "reset: an address of 5 bytes", RESET, 0, "address:hex=c000020000",
	  EINVAL },

	/* Flags of the message, beside those in modes() */
	{ "new: neither create nor replace", NEW, 0, "name=x" REST, EINVAL },
	{ "new: there is one", NEW, NLM_F_CREATE | NLM_F_EXCL,
	  "name=wave" REST, EEXIST },
	{ "new: there is none", NEW, NLM_F_REPLACE, "name=x" REST, ENOENT },
};

static bool as_expected(int expected, int err)
{
	return err == expected || (expected == EINVAL && err == ERANGE);
}

static void refuse(const struct refusal *r, const struct answers *before,
		   struct answers *after)
{
	int err = request(r->cmd, r->flags, r->words);
	char bad[400] = "";

	if (!as_expected(r->err, err))
		snprintf(bad, sizeof(bad), "expected %s, got %s (%s)",
			 strerror(r->err), err ? strerror(err) : "success",
			 nl.text);
	else if (!nl.text[0])
		snprintf(bad, sizeof(bad), "%s, but not a word why",
			 strerror(err));
	dump(after);
	if (!equal_answers(before, after))
		snprintf(bad, sizeof(bad), "refused, but the table has changed");
	point(r->what, bad);
}

void check_refusals(void)
{
	static struct answers before, after;

	make_two();
	dump(&before);
	for (size_t i = 0; i < COUNT(refusals); i++)
		refuse(&refusals[i], &before, &after);
	drop_two();
}
