// SPDX-License-Identifier: GPL-2.0
/*
 * What watch says: see said.h.  Collected while the state is locked, printed when it is not,
 * as a reader of stdout may be slow.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>

#include "event.h"
#include "print.h"
#include "said.h"
#include "text.h"

#define TIME_TEXT 40

static void now_text(char at[TIME_TEXT])
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	event_time(&now, at, TIME_TEXT);
}

/* Without memory for it, nothing is said.  Consumes both @text and @root. */
static void add(struct says *s, const char *event, char *text, json_t *root)
{
	struct said *list = realloc(s->list, (s->n + 1) * sizeof(*list));
	char *json = root ? json_dumps(root, JSON_COMPACT) : NULL;

	json_decref(root);
	if (list)
		s->list = list;
	if (!list || !text || !json) {
		free(text);
		free(json);
		return;
	}
	list[s->n++] = (struct said){
		.text = text, .json = json,
		.warns = strcmp(event, "restored") && strcmp(event, "watching"),
	};
}

/* @of: the item's circuit, NULL = none; @why: why it was not set again, NULL = it was */
void say_change(struct says *s, const char *event, const struct circuit *of,
		const struct change *c, const char *why)
{
	char is[ITEM_TEXT], wants[ITEM_TEXT], item_name[ITEM_NAME], dev[IFNAMSIZ], at[TIME_TEXT];
	char *text = NULL;
	const char *item = item_kind_name(c->kind), *name = of ? circuit_name(of) : "-";

	now_text(at);
	text_copy(item_name, sizeof(item_name), c->name);
	text_copy(dev, sizeof(dev), of ? of->dev : "");
	item_describe(c->kind, c->name, c->from, is, sizeof(is));
	item_describe(c->kind, c->name, c->to, wants, sizeof(wants));
	if (asprintf(&text, "%s %s %s %s %s: %s -> %s%s%s", at, event, name, item, item_name, is,
		     wants, why ? "; " : "", why ?: "") < 0)
		text = NULL;
	add(s, event, text,
	    json_pack("{s:s, s:s, s:s?, s:s?, s:s, s:s, s:s, s:s, s:s?}", "time", at, "event",
		      event, "circuit", of ? name : NULL, "dev", of ? dev : NULL, "item",
		      item, "name", item_name, "is", is, "wants", wants, "why", why));
}

/* An event that is not about an item; @name: of a circuit, NULL = none */
void say_text(struct says *s, const char *event, const char *name, const char *text)
{
	char at[TIME_TEXT], *line = NULL;

	now_text(at);
	if (asprintf(&line, "%s %s %s%s%s", at, event, name ?: "", name ? ": " : "", text) < 0)
		line = NULL;
	add(s, event, line, json_pack("{s:s, s:s, s:s?, s:s}", "time", at, "event", event,
				      "circuit", name, "why", text));
}

/* Print to stdout and to the log: either may be missing. */
void says_print(struct says *s, bool json)
{
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		const struct said *one = &s->list[i];
		const char *text = strchr(one->text, ' ');	/* the log has its own time */

		puts(json ? one->json : one->text);
		syslog(one->warns ? LOG_WARNING : LOG_NOTICE, "%s", text ? text + 1 : "");
	}
	fflush(stdout);
	says_free(s);
}

void says_free(struct says *s)
{
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		free(s->list[i].text);
		free(s->list[i].json);
	}
	free(s->list);
	memset(s, 0, sizeof(*s));
}
