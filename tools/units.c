// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers with units, parsed and printed.
 *
 * A number is kept as its decimal digits and the place of its point, and the
 * unit multiplies it in integers, so that 2.5gbit is 312500000 bytes/s and not
 * what a double makes of it.  Unit names and their meaning are iproute2's
 * (lib/utils.c: get_rate64(); tc/tc_util.c: get_size(), get_time()); names
 * are compared without regard to case, as there.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "out.h"
#include "units.h"

/* digits / 10^places; places <= 18, so that 10^places fits in 64 bits */
struct decimal {
	uint64_t digits;
	unsigned int places;
};

struct unit {
	const char *name;
	uint64_t scale;
};

static const struct unit rate_units[] = {	/* bits per second */
	{ "bit", 1 },
	{ "kbit", 1000 },
	{ "mbit", 1000000 },
	{ "gbit", 1000000000 },
	{ "tbit", 1000000000000 },
	{ "kibit", 1ULL << 10 },
	{ "mibit", 1ULL << 20 },
	{ "gibit", 1ULL << 30 },
	{ "tibit", 1ULL << 40 },
	{ }
};

static const struct unit time_units[] = {	/* microseconds */
	{ "us", 1 },
	{ "usec", 1 },
	{ "usecs", 1 },
	{ "ms", 1000 },
	{ "msec", 1000 },
	{ "msecs", 1000 },
	{ "s", 1000000 },
	{ "sec", 1000000 },
	{ "secs", 1000000 },
	{ }
};

static const struct unit wait_units[] = {	/* microseconds */
	{ "us", 1 },
	{ "ms", 1000 },
	{ "s", 1000000 },
	{ "min", 60000000 },
	{ "h", 3600000000ULL },
	{ "d", 86400000000ULL },
	{ }
};

static const struct unit size_units[] = {	/* bytes; tc's k is 1024 */
	{ "", 1 },
	{ "b", 1 },
	{ "k", 1ULL << 10 },
	{ "kb", 1ULL << 10 },
	{ "m", 1ULL << 20 },
	{ "mb", 1ULL << 20 },
	{ "g", 1ULL << 30 },
	{ "gb", 1ULL << 30 },
	{ }
};

/* -EINVAL: no number here; -ERANGE: more digits than 64 bits hold. */
static int parse_decimal(const char *s, const char **end, struct decimal *d)
{
	bool point = false;

	d->digits = 0;
	d->places = 0;
	if (!isdigit((unsigned char)*s))
		return -EINVAL;
	for (;; s++) {
		if (*s == '.' && !point && isdigit((unsigned char)s[1])) {
			point = true;
			continue;
		}
		if (!isdigit((unsigned char)*s))
			break;
		if (d->digits > (UINT64_MAX - 9) / 10 || d->places == 18)
			return -ERANGE;
		d->digits = d->digits * 10 + (uint64_t)(*s - '0');
		d->places += point;
	}
	*end = s;
	return 0;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* -EDOM: not a whole number of the base unit; -ERANGE: past 64 bits. */
static int decimal_scale(const struct decimal *d, uint64_t scale, uint64_t *out)
{
	uint64_t pow = 1, common;
	unsigned int i;

	for (i = 0; i < d->places; i++)
		pow *= 10;
	common = gcd(pow, scale);
	pow /= common;
	scale /= common;
	if (d->digits % pow)
		return -EDOM;
	return __builtin_mul_overflow(d->digits / pow, scale, out) ? -ERANGE : 0;
}

static const struct unit *find_unit(const struct unit *table, const char *name)
{
	for (; table->name; table++)
		if (!strcasecmp(table->name, name))
			return table;
	return NULL;
}

static bool ends_with(const char *s, const char *tail)
{
	size_t n = strlen(s), t = strlen(tail);

	return n >= t && !strcasecmp(s + n - t, tail);
}

/* kbps, mbps, MiBps...: bytes per second to tc, bits to almost everyone. */
static int refuse_bps(const char *s, const char *unit, struct err *e)
{
	static const char * const names[][2] = {
		{ "bps", "bytes" },	  { "kbps", "kilobytes" },
		{ "mbps", "megabytes" },  { "gbps", "gigabytes" },
		{ "tbps", "terabytes" },  { "kibps", "kibibytes" },
		{ "mibps", "mebibytes" }, { "gibps", "gibibytes" },
		{ "tibps", "tebibytes" },
	};
	int digits = (int)(unit - s), prefix = (int)strlen(unit) - 3;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcasecmp(names[i][0], unit))
			return err_set(e, -EINVAL,
				       "--rate: \"%s\" means %s per second to tc; did you mean %.*s%.*sbit?",
				       s, names[i][1], digits, s, prefix, unit);
	return err_set(e, -EINVAL, "--rate: unknown unit \"%s\" in \"%s\"; write e.g. 4gbit",
		       unit, s);
}

int parse_rate(const char *s, uint64_t *bytes_per_s, struct err *e)
{
	const struct unit *u;
	struct decimal d;
	const char *end;
	uint64_t bits;
	int rc;

	rc = parse_decimal(s, &end, &d);
	if (rc == -EINVAL || (!rc && !*end && !s[strspn(s, "0.")]))
		return err_set(e, -EINVAL, "--rate: \"%s\" is not a rate; write e.g. 4gbit", s);
	if (!rc && !*end)
		return err_set(e, -EINVAL, "--rate: \"%s\" has no unit; %smbit or %sgbit?",
			       s, s, s);
	if (!rc && ends_with(end, "bps"))
		return refuse_bps(s, end, e);
	u = rc ? NULL : find_unit(rate_units, end);
	if (!rc && !u)
		return err_set(e, -EINVAL,
			       "--rate: unknown unit \"%s\" in \"%s\"; one of bit, kbit, mbit, gbit, tbit, kibit, mibit, gibit, tibit",
			       end, s);
	if (!rc)
		rc = decimal_scale(&d, u->scale, &bits);
	if (rc == -EDOM)
		return err_set(e, -EINVAL, "--rate: \"%s\" is not a whole number of bit/s", s);
	if (rc || bits / 8 < RATE_MIN || bits > RATE_MAX * 8)
		return err_set(e, -ERANGE, "--rate: \"%s\" is out of range; from 8kbit to 1tbit",
			       s);
	*bytes_per_s = bits / 8;	/* rounded down, as tc does */
	return 0;
}

int parse_time(const char *s, uint64_t *us, struct err *e)
{
	const struct unit *u;
	struct decimal d;
	const char *end;
	int rc;

	rc = parse_decimal(s, &end, &d);
	if (rc == -EINVAL)
		return err_set(e, rc, "--rtt: \"%s\" is not a time; write e.g. 26ms", s);
	if (!rc && !*end)
		return err_set(e, -EINVAL, "--rtt: \"%s\" has no unit; %sms or %sus?", s, s, s);
	u = rc ? NULL : find_unit(time_units, end);
	if (!rc && !u)
		return err_set(e, -EINVAL, "--rtt: unknown unit \"%s\" in \"%s\"; one of us, ms, s",
			       end, s);
	if (!rc)
		rc = decimal_scale(&d, u->scale, us);
	if (rc == -EDOM)
		return err_set(e, -EINVAL, "--rtt: \"%s\" is not a whole number of microseconds",
			       s);
	if (rc || *us < 1 || *us > RTT_MAX_US)
		return err_set(e, -ERANGE, "--rtt: \"%s\" is out of range; from 1us to 10s", s);
	return 0;
}

/* @what names the option, or the key of a file, in the sentence. */
int parse_span(const char *what, const char *s, uint64_t min_us, uint64_t max_us, uint64_t *us,
	       struct err *e)
{
	char least[SPAN_TEXT], most[SPAN_TEXT];
	const struct unit *u;
	struct decimal d;
	const char *end;
	int rc;

	format_span(least, sizeof(least), min_us);
	format_span(most, sizeof(most), max_us);
	rc = parse_decimal(s, &end, &d);
	if (rc == -EINVAL)
		return err_set(e, rc, "%s: \"%s\" is not a time; write one from %s to %s", what, s,
			       least, most);
	if (!rc && !*end && s[strspn(s, "0")])
		return err_set(e, -EINVAL, "%s: \"%s\" has no unit; %ss or %smin?", what, s, s, s);
	if (!rc && !*end)	/* nought of which unit helps nobody */
		return err_set(e, -ERANGE, "%s: \"%s\" is out of range; from %s to %s", what, s,
			       least, most);
	u = rc ? NULL : find_unit(wait_units, end);
	if (!rc && !u)
		return err_set(e, -EINVAL,
			       "%s: unknown unit \"%s\" in \"%s\"; one of us, ms, s, min, h, d",
			       what, end, s);
	if (!rc)
		rc = decimal_scale(&d, u->scale, us);
	if (rc == -EDOM)
		return err_set(e, -EINVAL, "%s: \"%s\" is not a whole number of microseconds",
			       what, s);
	if (rc || *us < min_us || *us > max_us)
		return err_set(e, -ERANGE, "%s: \"%s\" is out of range; from %s to %s", what, s,
			       least, most);
	return 0;
}

/* How long a person may take. */
int parse_wait(const char *what, const char *s, uint64_t *us, struct err *e)
{
	return parse_span(what, s, WAIT_MIN_US, WAIT_MAX_US, us, e);
}

/* @what names the option in the sentence; the caller knows the sensible range. */
int parse_size(const char *what, const char *s, uint64_t *bytes, struct err *e)
{
	const struct unit *u;
	struct decimal d;
	const char *end;
	int rc;

	rc = parse_decimal(s, &end, &d);
	if (rc == -EINVAL)
		return err_set(e, rc, "%s: \"%s\" is not a size; write e.g. 100kb", what, s);
	u = rc ? NULL : find_unit(size_units, end);
	if (!rc && !u)
		return err_set(e, -EINVAL,
			       "%s: unknown unit \"%s\" in \"%s\"; one of b, k, kb, m, mb, g, gb (k is 1024 bytes, as for tc)",
			       what, end, s);
	if (!rc)
		rc = decimal_scale(&d, u->scale, bytes);
	if (rc == -EDOM)
		return err_set(e, -EINVAL, "%s: \"%s\" is not a whole number of bytes", what, s);
	if (rc || !*bytes || *bytes > UINT32_MAX)
		return err_set(e, -ERANGE, "%s: \"%s\" is out of range; from 1b to 4294967295b",
			       what, s);
	return 0;
}

int parse_multiple(const char *s, uint32_t *thousandths, struct err *e)
{
	struct decimal d;
	const char *end;
	uint64_t value;
	int rc;

	rc = parse_decimal(s, &end, &d);
	if (rc == -EINVAL || (!rc && *end))
		return err_set(e, -EINVAL, "--multiple: \"%s\" is not a number; write e.g. 1.3", s);
	if (!rc)
		rc = decimal_scale(&d, 1000, &value);
	if (rc == -EDOM)
		return err_set(e, -EINVAL, "--multiple: \"%s\" is finer than a thousandth", s);
	if (rc || value < MULTIPLE_MIN || value > MULTIPLE_MAX)
		return err_set(e, -ERANGE, "--multiple: \"%s\" is out of range; from 0.01 to 10",
			       s);
	*thousandths = (uint32_t)value;
	return 0;
}

/* e-4, as in 1e-4: -EINVAL unless it is all of that, or nothing at all. */
static int parse_exponent(const char **s, int *exponent)
{
	const char *p = *s;
	int sign = 1, n = 0;

	*exponent = 0;
	if (*p != 'e' && *p != 'E')
		return 0;
	p++;
	if (*p == '-' || *p == '+')
		sign = *p++ == '-' ? -1 : 1;
	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++)
		n = n < 1000 ? n * 10 + (*p - '0') : n;
	*s = p;
	*exponent = sign * n;
	return 0;
}

/* digits x 10^power, rounded up: -ERANGE past 64 bits. */
static int scale_up(uint64_t digits, int power, uint64_t *out)
{
	for (; power > 0 && digits; power--)
		if (__builtin_mul_overflow(digits, 10, &digits))
			return -ERANGE;
	for (; power < 0 && digits > 1; power++)
		digits = digits / 10 + !!(digits % 10);
	*out = digits;
	return 0;
}

/* 0.5%, 0.005, 5e-3; finer than a part per billion is rounded up. */
int parse_loss(const char *s, uint32_t *ppb, struct err *e)
{
	int exponent = 0, percent = 0, rc;
	struct decimal d;
	uint64_t value = 0;
	const char *end;

	rc = parse_decimal(s, &end, &d);
	if (!rc)
		rc = parse_exponent(&end, &exponent);
	if (!rc && *end == '%') {
		percent = 2;
		end++;
	}
	if (rc == -EINVAL || (!rc && *end))
		return err_set(e, -EINVAL,
			       "--loss: \"%s\" is not a part of the packets; write e.g. 0.1%% or 1e-3",
			       s);
	if (!rc)
		rc = scale_up(d.digits, 9 - (int)d.places + exponent - percent, &value);
	if (rc || value >= LOSS_END)
		return err_set(e, -ERANGE,
			       "--loss: \"%s\" is out of range; from 0 to less than 50%%, e.g. 1%% or 0.01",
			       s);
	*ppb = (uint32_t)value;
	return 0;
}

int parse_count(const char *what, const char *s, uint32_t min, uint32_t max,
		uint32_t *out, struct err *e)
{
	struct decimal d;
	const char *end;
	int rc;

	rc = parse_decimal(s, &end, &d);
	if (rc == -EINVAL || (!rc && (*end || d.places)))
		return err_set(e, -EINVAL, "%s: \"%s\" is not a whole number", what, s);
	if (rc || d.digits < min || d.digits > max)
		return err_set(e, -ERANGE, "%s: \"%s\" is out of range; from %u to %u", what, s,
			       min, max);
	*out = (uint32_t)d.digits;
	return 0;
}

/* Thousandths behind the point, without what is 0 at their end, but at least one place */
static void put_places(struct out *o, unsigned int n)
{
	char places[] = { '.', (char)('0' + n / 100), (char)('0' + n / 10 % 10),
			  (char)('0' + n % 10) };

	out_bytes(o, places, n % 10 ? 4 : n % 100 ? 3 : 2);
}

/* The largest unit that leaves at most three places behind the point, exactly. */
static char *format_unit(char *buf, size_t len, uint64_t value,
			 const struct unit *table)
{
	const struct unit *best = table;
	struct out o = out_to(buf, len);
	uint64_t rest;

	for (; table->name; table++)
		if (table->scale <= value && !(value * 1000 % table->scale))
			best = table;
	rest = value % best->scale;
	out_number(&o, value / best->scale);
	if (rest)
		put_places(&o, (unsigned int)(rest * 1000 / best->scale) % 1000);
	out_text(&o, best->name);
	return buf;
}

/* As tc would take it back: 4gbit, 2.5gbit, 622.08mbit. */
char *format_rate(char *buf, size_t len, uint64_t bytes_per_s)
{
	static const struct unit units[] = {
		{ "bit", 1 }, { "kbit", 1000 }, { "mbit", 1000000 },
		{ "gbit", 1000000000 }, { "tbit", 1000000000000 }, { }
	};

	return format_unit(buf, len, bytes_per_s * 8, units);
}

char *format_time(char *buf, size_t len, uint64_t us)
{
	static const struct unit units[] = {
		{ "us", 1 }, { "ms", 1000 }, { "s", 1000000 }, { }
	};

	return format_unit(buf, len, us, units);
}

/* As parse_span() takes it: 14d, 5s, 200ms. */
char *format_span(char *buf, size_t len, uint64_t us)
{
	static const struct unit units[] = {
		{ "us", 1 }, { "ms", 1000 }, { "s", 1000000 }, { "min", 60000000 },
		{ "h", 3600000000ULL }, { "d", 86400000000ULL }, { }
	};

	return format_unit(buf, len, us, units);
}

/* As parse_size() takes it: 64mb. */
char *format_size(char *buf, size_t len, uint64_t bytes)
{
	static const struct unit units[] = {
		{ "b", 1 }, { "kb", 1ULL << 10 }, { "mb", 1ULL << 20 }, { "gb", 1ULL << 30 }, { }
	};

	return format_unit(buf, len, bytes, units);
}

/* In percent, exactly: 1%, 0.0045455%. */
char *format_loss(char *buf, size_t len, uint32_t ppb)
{
	char places[8];
	int n = 7;

	snprintf(places, sizeof(places), "%07u", ppb % 10000000);
	while (n > 0 && places[n - 1] == '0')
		n--;
	snprintf(buf, len, "%u%s%.*s%%", ppb / 10000000, n ? "." : "", n, places);
	return buf;
}
