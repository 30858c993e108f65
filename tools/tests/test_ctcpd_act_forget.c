// SPDX-License-Identifier: GPL-2.0
/*
 * What is forgotten, because somebody asks or after two weeks.
 */
#include <sys/stat.h>

#include "ctcpd_world.h"
#include "ctcpd/run.h"

static void forget(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 3, 7, 100 * MB);
	struct prefix p = paced_subnet(&s->remote.addr);
	struct pacing found;

	settle_all(w);
	assert_int_equal(act_forget(w->act, &p, w->now), 1);
	assert_int_equal(rate_of(w, s), 0);
	assert_int_not_equal(rate_of(w, other), 0);
	assert_false(act_find(w->act, &s->remote.addr, &found));
	assert_int_equal(act_forget(w->act, &p, w->now), 0);
	restart(w);
	assert_false(act_find(w->act, &s->remote.addr, &found));
	assert_true(act_find(w->act, &other->remote.addr, &found));
	find_all(w);
	assert_int_not_equal(rate_of(w, s), 0);
}

/* The daemon as somebody asks it */
static int asked_to_forget(struct world *w, const char *prefix, json_t **answer, struct err *e)
{
	struct daemon d = { .config = w->config, .keep = w->keep, .act = w->act };
	json_t *question = json_pack("{s:s, s:s}", "command", "forget", "remote", prefix);
	int rc;

	log_open(&d.log, false);
	d.observer.remotes = remotes_new();
	assert_non_null(d.observer.remotes);
	d.keep.log = &d.log;
	w->act->keep = &d.keep;
	*answer = NULL;
	rc = daemon_answer(question, answer, &d, e);
	w->keep = d.keep;
	w->keep.log = &w->log;
	w->act->keep = &w->keep;
	remotes_free(d.observer.remotes);
	log_close(&d.log);
	json_decref(question);
	return rc;
}

/* The reload that was refused is told with what is in force all the same. */
static void refused_reload_is_told(void **state)
{
	struct world *w = *state;
	struct daemon d = { .config = w->config, .keep = w->keep, .act = w->act };
	json_t *question = json_pack("{s:s}", "command", "status"), *answer;
	struct err e;

	d.observer.remotes = remotes_new();
	assert_int_equal(daemon_answer(question, &answer, &d, &e), 0);
	assert_true(json_is_null(json_object_get(answer, "config_error")));
	json_decref(answer);
	err_set(&d.refused, -EINVAL, "line 3 is wrong");
	assert_int_equal(daemon_answer(question, &answer, &d, &e), 0);
	assert_string_equal(json_string_value(json_object_get(answer, "config_error")),
			    "line 3 is wrong");
	json_decref(answer);
	json_decref(question);
	remotes_free(d.observer.remotes);
}

static void folder_moves(struct world *w, const char *from, const char *to)
{
	char line[160];

	snprintf(line, sizeof(line), "mv %s%s %s%s", w->place->dir, from, w->place->dir, to);
	assert_int_equal(system(line), 0);
}

/* As programs with an IPv6 socket write an IPv4 address */
static void forget_mapped(void **state)
{
	struct world *w = *state;
	struct err e = { "" };
	json_t *answer;

	remote(w, 2, 7, 100 * MB);
	settle_all(w);
	assert_int_equal(asked_to_forget(w, "::ffff:192.0.2.7", &answer, &e), 0);
	assert_int_equal(json_integer_value(json_object_get(answer, "paced")), 1);
	json_decref(answer);
}

static void forget_is_asked_for(void **state)
{
	struct world *w = *state;
	struct err e = { "" };
	json_t *answer;

	remote(w, 2, 7, 100 * MB);
	settle_all(w);
	assert_int_equal(asked_to_forget(w, "192.0.2.0/24", &answer, &e), 0);
	assert_int_equal(json_integer_value(json_object_get(answer, "paced")), 1);
	json_decref(answer);
	assert_said(w, "192.0.2.0/24 is forgotten, as somebody asked: 0 remotes, 0", 1);
	assert_int_equal(asked_to_forget(w, "192.0.2.300", &answer, &e), -EINVAL);
	assert_string_equal(e.text, "\"remote\": \"192.0.2.300\" is not a prefix; write e.g. 192.0.2.0/24 or 2001:db8::/32");
}

/* Of both halves the answer tells, and the log; what the history keeps goes when it can. */
static void forget_without_a_history(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct err e = { "" };
	struct pacing found;
	json_t *answer;

	settle_all(w);
	folder_moves(w, "", ".away");
	keep_flush(&w->keep, w->now);
	assert_int_not_equal(asked_to_forget(w, "192.0.2.7", &answer, &e), 0);
	assert_null(answer);
	assert_int_equal(rate_of(w, s), 0);
	assert_non_null(strstr(e.text, "192.0.2.7 is forgotten (remotes: 0, no longer paced: 1)"));
	assert_non_null(strstr(e.text, "but the history keeps its rows: "));
	assert_non_null(strstr(e.text, "a restart before that takes them up again"));
	assert_said(w, "192.0.2.7 is forgotten, as somebody asked: 0 remotes, 0 visits, 1", 1);
	assert_said(w, "but the history keeps its rows: ", 1);
	s->idle = true;
	polls(w, 1);
	folder_moves(w, ".away", "");
	keep_flush(&w->keep, w->now);
	polls(w, 1);
	assert_said(w, "192.0.2.7 is forgotten by the history, too", 1);
	assert_false(act_find(w->act, &s->remote.addr, &found));
	w->keep.file[0] = 0;
	restart(w);
	assert_false(act_find(w->act, &s->remote.addr, &found));
}

/* What the last try met is no answer: there may be room again. */
static void forget_tries_the_history(void **state)
{
	struct world *w = *state;
	struct err e = { "" };
	json_t *answer;

	remote(w, 2, 7, 100 * MB);
	settle_all(w);
	assert_int_equal(chmod(w->place->dir, 0777), 0);
	w->config.limits.visits = 1000;	/* so that it is opened again */
	keep_change(&w->keep, &w->config, w->now);
	polls(w, 1);
	assert_null(w->keep.history);
	assert_int_equal(chmod(w->place->dir, 0700), 0);
	/* of which nothing is searched, so that nothing else opens it */
	assert_int_equal(asked_to_forget(w, "192.0.2.99", &answer, &e), 0);
	json_decref(answer);
	assert_true(keep_ok(&w->keep));
	assert_int_equal(w->keep.n_forgets, 0);
}

static void forgotten_while_hands_wait(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	settle_all(w);
	s->idle = true;
	refuse(w, NULL, 0, -EAGAIN, false);
	act_forget(w->act, &s->remote.addr, w->now);
	assert_int_not_equal(rate_of(w, s), 0);
	w->n_refusals = 0;
	polls(w, 1);
	assert_int_equal(rate_of(w, s), 0);
	assert_int_equal(w->act->table.all.n, 0);
}

static void forgotten_after_two_weeks(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	settle_all(w);
	s->idle = true;
	w->now += 13 * DAY;
	polls(w, 1);
	assert_int_not_equal(rate_of(w, s), 0);
	w->now += 2 * DAY;
	polls(w, 1);
	assert_int_equal(rate_of(w, s), 0);
	assert_said(w, "192.0.2.7: not paced any more: it had no interval that counts", 1);
	polls(w, 1);
	assert_int_equal(w->act->table.all.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(forget),
		TEST(forget_mapped),
		TEST(forget_is_asked_for),
		TEST(refused_reload_is_told),
		TEST(forget_without_a_history),
		TEST(forget_tries_the_history),
		TEST(forgotten_while_hands_wait),
		TEST(forgotten_after_two_weeks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
