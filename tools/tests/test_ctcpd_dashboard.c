// SPDX-License-Identifier: GPL-2.0
/*
 * The Grafana dashboard: has what Grafana's importer and its panels need, and asks for no
 * metric that metrics_text() does not give.
 */
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "ctcpd/metrics.h"

#define DASHBOARD	TOOLS_DIR "/grafana/ctcpd.json"
#define MAN_PAGE	TOOLS_DIR "/man/ctcpd.8"
#define WIDTH		24	/* of Grafana's grid, columns */

static json_t *dashboard(void)
{
	json_error_t error;
	json_t *root = json_load_file(DASHBOARD, JSON_REJECT_DUPLICATES, &error);

	if (!root)
		print_error("%s:%d: %s\n", DASHBOARD, error.line, error.text);
	assert_non_null(root);
	return root;
}

/* A remote with all that there can be said of one */
static char *metrics(void)
{
	struct flow f = { .last.conn.peer = { AF_INET, 32, { 192, 0, 2, 7 } } };
	struct remotes *rs = remotes_new();
	struct poll_totals t = { 0 };
	size_t len;
	char *text;

	assert_non_null(rs);
	f.first_us = 1;
	f.facts.us = 1000000;
	f.facts.acked = 1000000;
	f.facts.recent = (struct work){ .us = 1000000, .acked = 1000000 };
	remotes_begin(rs, 1);
	assert_int_equal(remotes_flow(rs, &f, false), 0);
	assert_int_equal(remotes_end(rs, 1, NULL, NULL), 0);
	assert_int_equal(metrics_text(&t, rs, NULL, &text, &len), 0);
	remotes_free(rs);
	return text;
}

static const char *text_at(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	if (!s || !*s)
		print_error("no \"%s\"\n", key);
	assert_true(s && *s);
	return s;
}

static int number_at(const json_t *o, const char *key)
{
	const json_t *n = json_object_get(o, key);

	assert_true(json_is_integer(n));
	return (int)json_integer_value(n);
}

static void test_head(void **state)
{
	json_t *root = dashboard();

	(void)state;
	text_at(root, "title");
	text_at(root, "uid");
	/* an id would take the place of somebody's dashboard */
	assert_true(json_is_null(json_object_get(root, "id")));
	/* 36 (Grafana 9) is the first whose panels have data sources by uid */
	assert_in_range(number_at(root, "schemaVersion"), 36, 41);
	text_at(json_object_get(root, "time"), "from");
	assert_true(json_is_array(json_object_get(json_object_get(root, "annotations"), "list")));
	json_decref(root);
}

/* Panels that name a data source of one installation load in no other one. */
static void test_variables(void **state)
{
	json_t *root = dashboard(), *list, *v;
	bool source = false;
	size_t i;

	(void)state;
	list = json_object_get(json_object_get(root, "templating"), "list");
	json_array_foreach(list, i, v) {
		text_at(v, "name");
		if (!strcmp(text_at(v, "type"), "datasource")) {
			assert_string_equal(text_at(v, "name"), "datasource");
			assert_string_equal(text_at(v, "query"), "prometheus");
			source = true;
		} else {
			/* asked for after the one that they are asked of */
			assert_true(source);
			text_at(json_object_get(v, "query"), "query");
		}
	}
	assert_true(source);
	json_decref(root);
}

static void assert_source(const json_t *o)
{
	const json_t *source = json_object_get(o, "datasource");

	assert_string_equal(text_at(source, "type"), "prometheus");
	assert_string_equal(text_at(source, "uid"), "${datasource}");
}

static void test_targets(void **state)
{
	json_t *root = dashboard(), *panel, *target;
	size_t i, j;

	(void)state;
	assert_true(json_array_size(json_object_get(root, "panels")) >= 4);
	json_array_foreach(json_object_get(root, "panels"), i, panel) {
		const json_t *targets = json_object_get(panel, "targets");
		bool seen[26] = { false };

		text_at(panel, "title");
		text_at(panel, "type");
		assert_source(panel);
		assert_true(json_array_size(targets) > 0);
		json_array_foreach(targets, j, target) {
			const char *ref = text_at(target, "refId");

			text_at(target, "expr");
			assert_source(target);
			assert_true(ref[0] >= 'A' && ref[0] <= 'Z' && !ref[1]);
			assert_false(seen[ref[0] - 'A']);
			seen[ref[0] - 'A'] = true;
		}
	}
	json_decref(root);
}

struct box {
	int x, y, w, h;
};

static bool overlap(const struct box *a, const struct box *b)
{
	return a->x < b->x + b->w && b->x < a->x + a->w && a->y < b->y + b->h &&
	       b->y < a->y + a->h;
}

static void test_places(void **state)
{
	json_t *root = dashboard(), *panel;
	struct box boxes[64];
	int ids[64];
	size_t i, j;

	(void)state;
	json_array_foreach(json_object_get(root, "panels"), i, panel) {
		const json_t *pos = json_object_get(panel, "gridPos");

		assert_in_range(i, 0, ARRAY_SIZE(boxes) - 1);
		ids[i] = number_at(panel, "id");
		boxes[i] = (struct box){ number_at(pos, "x"), number_at(pos, "y"),
					 number_at(pos, "w"), number_at(pos, "h") };
		assert_true(boxes[i].x >= 0 && boxes[i].y >= 0 && boxes[i].w > 0 && boxes[i].h > 0);
		assert_in_range(boxes[i].x + boxes[i].w, 1, WIDTH);
		assert_true(ids[i] > 0);
		for (j = 0; j < i; j++) {
			assert_int_not_equal(ids[i], ids[j]);
			assert_false(overlap(&boxes[i], &boxes[j]));
		}
	}
	json_decref(root);
}

/* The next ctcpd_... in @p; NULL: none */
static const char *next_name(const char *p, char name[80])
{
	size_t n = 0;

	p = strstr(p, "ctcpd_");
	if (!p)
		return NULL;
	while (isalnum((unsigned char)p[n]) || p[n] == '_')
		n++;
	assert_in_range(n, 1, 79);
	memcpy(name, p, n);
	name[n] = 0;
	return p + n;
}

static bool is_given(const char *text, const char *name)
{
	char help[100];

	snprintf(help, sizeof(help), "# TYPE %s ", name);
	return strstr(text, help);
}

/* Each that the dashboard has in any string: expressions, variables */
static void test_metrics(void **state)
{
	json_t *root = dashboard();
	char *given = metrics(), *text = json_dumps(root, JSON_COMPACT), name[80];
	const char *p = text;
	unsigned int n = 0;

	(void)state;
	while ((p = next_name(p, name))) {
		if (!is_given(given, name))
			print_error("%s is no metric\n", name);
		assert_true(is_given(given, name));
		n++;
	}
	assert_true(n > 10);
	assert_non_null(strstr(text, "ctcpd_acked_bytes_total"));
	assert_non_null(strstr(text, "ctcpd_retransmitted_segments_total"));
	assert_non_null(strstr(text, "ctcpd_remotes_by_verdict"));
	assert_non_null(strstr(text, "ctcpd_remote_verdict"));
	assert_non_null(strstr(text, "ctcpd_paced_rate_bytes_per_second"));
	assert_non_null(strstr(text, "ctcpd_searches_by_state"));
	assert_non_null(strstr(text, "ctcpd_cannot_act"));
	assert_non_null(strstr(text, "ctcpd_paced_remotes_by_means"));
	assert_non_null(strstr(text, "ctcpd_unfit_devices"));
	free(text);
	free(given);
	json_decref(root);
}

/* METRICS of ctcpd(8): all of them, and no other */
static void test_man_page(void **state)
{
	char *given = metrics(), name[80], line[512], word[100];
	FILE *f = fopen(MAN_PAGE, "r");
	static char page[1U << 18];
	const char *p;
	size_t n = 0;
	int words;

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		assert_true(n + strlen(line) < sizeof(page));
		strcpy(page + n, line);
		n += strlen(line);
	}
	fclose(f);
	for (p = given; (p = strstr(p, "# TYPE ")); p++) {
		words = sscanf(p, "# TYPE %79s", name);
		assert_int_equal(words, 1);
		snprintf(word, sizeof(word), ".B %s\n", name);
		if (!strstr(page, word))
			print_error("%s is not in ctcpd(8)\n", name);
		assert_non_null(strstr(page, word));
	}
	for (p = page; (p = next_name(p, name));)
		assert_true(is_given(given, name));
	free(given);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_head),
		cmocka_unit_test(test_variables),
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_man_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
