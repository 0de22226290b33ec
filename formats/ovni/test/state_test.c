/*
 * Random threads, CPUs, stacks and tasks, against simple models of the rules of the group "state"; damaged
 * streams; more tasks than the checker tracks.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/test/cli_test_util.h"
#include "ovni/test/state_rig_test.h"
#include "ovni/test/written_test.h"

#define THREADS 4
#define CPUS 2
#define EVENTS 3000

/* ---- stacks ---- */

struct pile {
	int states[EVENTS];
	int n;
	bool repeats;
};

struct stack_counts {
	uint64_t mismatch, empty, repeat;
};

static void pile_push(struct pile *s, int state, struct stack_counts *c)
{
	c->repeat += !s->repeats && s->n > 0 && s->states[s->n - 1] == state;
	s->states[s->n++] = state;
}

static void pile_pop(struct pile *s, int state, struct stack_counts *c)
{
	int at = s->n;

	if (s->n == 0) {
		c->empty++;
		return;
	}
	c->mismatch += s->states[s->n - 1] != state;
	while (at > 0 && s->states[at - 1] != state)
		at--;
	if (at > 0)
		s->n = at - 1;
}

/* A pop names the top nine times of ten. */
static void stacks_once(uint64_t seed)
{
	static const char *const codes[2][3][2] = {
		{ { "VS[", "VS]" }, { "VU[", "VU]" }, { "VAs", "VAS" } },
		{ { "MUf", "MUF" }, { "MW[", "MW]" }, { "MTs", "MTS" } }
	};
	static struct pile piles[2];
	struct stack_counts c = { 0, 0, 0 };
	uint64_t random = seed * 0x9e3779b97f4a7c15 + 1, open = 0;
	char *const dir = make_folder();
	struct written w;

	memset(piles, 0, sizeof piles);
	piles[0].repeats = true;
	written_init(&w, EVENTS + 2);
	written_start(&w, 1, 0);
	for (uint64_t i = 0; i < EVENTS; i++) {
		const unsigned which = written_random(&random) % 2;
		struct pile *const s = &piles[which];
		const bool push = s->n < 100 && written_random(&random) % 100 < 48;
		int state = (int)(written_random(&random) % 3);
		if (!push && s->n > 0 && written_random(&random) % 10 != 0)
			state = s->states[s->n - 1];
		written_put(&w, codes[which][state][!push], i + 2, NULL, 0);
		if (push)
			pile_push(s, state, &c);
		else
			pile_pop(s, state, &c);
	}
	written_put(&w, "OHe", EVENTS + 2, NULL, 0);
	open = (uint64_t)(piles[0].n > 0) + (uint64_t)(piles[1].n > 0);
	written_save(&w, dir, 0);
	rig_expect_counts(dir, seed,
	                  (const enum ovni_rule[]){ OVNI_RULE_NESTING_MISMATCH, OVNI_RULE_NESTING_EMPTY,
	                                            OVNI_RULE_NESTING_REPEAT, OVNI_RULE_NESTING_LEFT_OPEN,
	                                            OVNI_RULE_COUNT },
	                  (const uint64_t[]){ c.mismatch, c.empty, c.repeat, open });
	remove_folder(dir);
}

Test(ovni_state_oracle, stacks)
{
	for (uint64_t seed = 1; seed <= 20; seed++)
		stacks_once(seed);
}

Test(ovni_state_oracle, stacks_of_512)
{
	const enum ovni_rule rules[] = { OVNI_RULE_NESTING_DEEP, OVNI_RULE_COUNT };

	for (uint64_t depth = STATE_MAX_DEPTH - 1; depth <= STATE_MAX_DEPTH + 90; depth += 13) {
		char *const dir = make_folder();
		struct written w;
		written_init(&w, 2 * depth + 2);
		written_start(&w, 1, 0);
		for (uint64_t i = 0; i < 2 * depth; i++)
			written_put(&w, i < depth ? "VS[" : "VS]", i + 2, NULL, 0);
		written_put(&w, "OHe", 2 * depth + 2, NULL, 0);
		written_save(&w, dir, 0);
		rig_expect_counts(dir, depth, rules, (const uint64_t[]){ depth > STATE_MAX_DEPTH });
		remove_folder(dir);
	}
}

/* ---- threads on CPUs ---- */

struct model_thread {
	const char *life; /* name in the rules */
	int cpu;          /* -2: none */
};

static bool one_of(const char *life, const char *list)
{
	const char *const at = strstr(list, life);

	return at != NULL;
}

/* Counts the threads that run on a CPU. */
static int running_on(const struct model_thread *threads, int cpu)
{
	int n = 0;

	for (int i = 0; i < THREADS; i++)
		n += strcmp(threads[i].life, "running") == 0 && threads[i].cpu == cpu;
	return n;
}

struct life_counts {
	uint64_t state, busy, target, same, alive;
};

static const struct {
	const char *code, *from, *to;
} changes[] = {
	{ "OHx", "new dead", "running" },       { "OHc", "running", "cooling" },
	{ "OHp", "running cooling", "paused" }, { "OHw", "paused", "warming" },
	{ "OHr", "paused warming", "running" }, { "OHe", "running cooling", "dead" },
};

static void change_life(struct model_thread *threads, int i, int action, int cpu, struct life_counts *c)
{
	struct model_thread *const t = &threads[i];
	const bool ran = strcmp(t->life, "running") == 0;

	c->state += !one_of(t->life, changes[action].from);
	t->life = changes[action].to;
	if (action == 0)
		t->cpu = cpu;
	if (strcmp(t->life, "running") == 0 && (!ran || action == 0) && t->cpu >= 0)
		c->busy += running_on(threads, t->cpu) > 1;
	if (action == 5)
		t->cpu = -2;
}

static void change_cpu(struct model_thread *threads, int i, int cpu, struct life_counts *c)
{
	struct model_thread *const t = &threads[i];

	if (one_of(t->life, "new dead")) {
		c->target++;
		return;
	}
	c->same += t->cpu == cpu;
	const bool moved = t->cpu != cpu;
	t->cpu = cpu;
	c->busy += moved && strcmp(t->life, "running") == 0 && cpu >= 0 && running_on(threads, cpu) > 1;
}

static void lives_once(uint64_t seed)
{
	struct model_thread threads[THREADS];
	struct life_counts c = { 0, 0, 0, 0, 0 };
	uint64_t random = seed * 0x9e3779b97f4a7c15 + 1;
	char *const dir = make_folder();
	struct written w[THREADS];

	for (int i = 0; i < THREADS; i++) {
		threads[i] = (struct model_thread){ "new", -2 };
		written_init(&w[i], EVENTS + 1);
		written_put(&w[i], "OB.", (uint64_t)i + 1, NULL, 0);
	}
	for (uint64_t clock = THREADS + 1; clock < EVENTS; clock++) {
		const int i = (int)(written_random(&random) % THREADS),
		          action = (int)(written_random(&random) % 7),
		          cpu = (int)(written_random(&random) % (CPUS + 1)) - 1;
		const int32_t move[2] = { cpu, (int32_t)(written_random(&random) % THREADS) + 1 };
		/* Four actions of five are allowed ones. */
		if (action < 6 && !one_of(threads[i].life, changes[action].from) &&
		    written_random(&random) % 5 != 0)
			continue;
		if (action == 6) {
			written_put(&w[i], "OAr", clock, move, 8);
			change_cpu(threads, move[1] - 1, cpu, &c);
		} else if (action == 0) {
			written_start(&w[i], clock, cpu);
			change_life(threads, i, action, cpu, &c);
		} else {
			written_put(&w[i], changes[action].code, clock, NULL, 0);
			change_life(threads, i, action, cpu, &c);
		}
	}
	for (int i = 0; i < THREADS; i++) {
		c.alive += strcmp(threads[i].life, "dead") != 0;
		written_save(&w[i], dir, i);
	}
	rig_expect_counts(dir, seed,
	                  (const enum ovni_rule[]){ OVNI_RULE_THREAD_STATE, OVNI_RULE_THREAD_NOT_DEAD,
	                                            OVNI_RULE_CPU_BUSY, OVNI_RULE_AFFINITY_TARGET,
	                                            OVNI_RULE_AFFINITY_SAME, OVNI_RULE_COUNT },
	                  (const uint64_t[]){ c.state, c.alive, c.busy, c.target, c.same });
	remove_folder(dir);
}

Test(ovni_state_oracle, threads_on_cpus)
{
	for (uint64_t seed = 1; seed <= 20; seed++)
		lives_once(seed);
}

/* ---- damage ---- */

/* Changed bytes in streams that use all actions cause no crash. */
Test(ovni_state_oracle, damaged_streams_are_checked)
{
	char *const dir = make_folder();
	uint64_t random = 7;
	static struct rig rig;

	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 2; i++) {
			char path[600];
			size_t n, json;
			snprintf(path, sizeof path, "testdata/ovni/folders-state/good/%c/stream.obs",
			         'a' + i);
			char *const p = read_whole(path, &n);
			snprintf(path, sizeof path, "testdata/ovni/folders-state/good/%c/stream.json",
			         'a' + i);
			char *const meta = read_whole(path, &json);
			cr_assert(p != NULL && meta != NULL);
			for (uint64_t n_changes = 1 + written_random(&random) % 6; n_changes > 0; n_changes--)
				p[8 + written_random(&random) % (n - 8)] = (char)written_random(&random);
			snprintf(path, sizeof path, "%s/%c", dir, 'a' + i);
			mkdir(path, 0777);
			snprintf(path, sizeof path, "%s/%c/stream.obs", dir, 'a' + i);
			cr_assert(write_whole(path, p, n));
			snprintf(path, sizeof path, "%s/%c/stream.json", dir, 'a' + i);
			cr_assert(write_whole(path, meta, json));
			free(p);
			free(meta);
		}
		rig_read(&rig, dir);
		rig_free(&rig);
	}
	remove_folder(dir);
}

/* ---- tasks: three normal ones of one body each, two parallel ones of two ---- */

#define BODIES 7

static const struct {
	int32_t task, body;
} ids[BODIES] = { { 1, 0 }, { 2, 0 }, { 3, 0 }, { 4, 1 }, { 4, 2 }, { 5, 1 }, { 5, 2 } };

struct task_model {
	char state[BODIES]; /* new, running, paused, dead */
	int lists[2][EVENTS], n[2];
	uint64_t busy, again, nested, parallel, wrong, elsewhere;
};

static void execute(struct task_model *m, int t, int b)
{
	if (m->state[b] == 'r' || m->state[b] == 'p') {
		m->busy++;
		m->state[b] = 'r';
		return;
	}
	if (m->state[b] == 'd' && ids[b].body > 0)
		m->again++;
	else if (m->n[t] > 0 && m->state[m->lists[t][m->n[t] - 1]] == 'r')
		m->nested++;
	m->state[b] = 'r';
	m->lists[t][m->n[t]++] = b;
}

/* to: 'p' paused, 'r' running again, 'd' dead */
static void change(struct task_model *m, int t, int b, char to)
{
	const char from = to == 'r' ? 'p' : 'r';
	int at = m->n[t];

	if (to == 'p' && ids[b].body > 0)
		m->parallel++;
	else if (m->state[b] != from)
		m->wrong++;
	else if (m->n[t] == 0 || m->lists[t][m->n[t] - 1] != b)
		m->elsewhere++;
	m->state[b] = to;
	while (at > 0 && m->lists[t][at - 1] != b)
		at--;
	if (to == 'd' && at > 0)
		m->n[t] = at - 1;
}

static void make_tasks(struct written *w)
{
	static const char type[] = "\x13VYc\2\0\0\0\0\0\0\0\6\0\0\0\1\0\0\0t";

	memcpy(w->p + w->n, type, sizeof type);
	w->n += sizeof type;
	for (int32_t i = 1; i <= 5; i++)
		written_put(w, i < 4 ? "VTc" : "VTC", 3, (const int32_t[]){ i, 1 }, 8);
}

static void tasks_once(uint64_t seed)
{
	static struct task_model m;
	uint64_t random = seed * 0x9e3779b97f4a7c15 + 1;
	char *const dir = make_folder();
	struct written w[2];

	memset(&m, 0, sizeof m);
	memset(m.state, 'n', sizeof m.state);
	for (int t = 0; t < 2; t++) {
		written_init(&w[t], EVENTS + 20);
		written_start(&w[t], 1, -1);
	}
	make_tasks(&w[0]);
	for (uint64_t i = 0; i < EVENTS; i++) {
		static const char *const codes[] = { "VTx", "VTp", "VTr", "VTe" };
		const int t = (int)(written_random(&random) % 2),
		          top = m.n[t] > 0 ? m.lists[t][m.n[t] - 1] : -1;
		int action = (int)(written_random(&random) % 4), b = (int)(written_random(&random) % BODIES);
		if (written_random(&random) % 5 != 0 && top >= 0 && action != 0) {
			b = top; /* mostly an allowed body */
			action = m.state[b] == 'p' ? 2 : action == 2 ? 3 : action;
		}
		if (action == 0 && m.n[t] > 400)
			continue;
		written_put(&w[t], codes[action], 4 + i, (const int32_t[]){ ids[b].task, ids[b].body }, 8);
		if (action == 0)
			execute(&m, t, b);
		else
			change(&m, t, b, "xprd"[action]);
	}
	for (int t = 0; t < 2; t++) {
		written_put(&w[t], "OHe", EVENTS + 4, NULL, 0);
		written_save(&w[t], dir, t);
	}
	rig_expect_counts(dir, seed,
	                  (const enum ovni_rule[]){ OVNI_RULE_TASK_AGAIN, OVNI_RULE_TASK_BUSY,
	                                            OVNI_RULE_TASK_NESTED, OVNI_RULE_PAUSE_PARALLEL,
	                                            OVNI_RULE_TASK_STATE, OVNI_RULE_TASK_ELSEWHERE,
	                                            OVNI_RULE_TASK_UNFINISHED, OVNI_RULE_COUNT },
	                  (const uint64_t[]){ m.again, m.busy, m.nested, m.parallel, m.wrong, m.elsewhere,
	                                      (uint64_t)(m.n[0] > 0) + (uint64_t)(m.n[1] > 0) });
	remove_folder(dir);
}

Test(ovni_state_task, tasks)
{
	for (uint64_t seed = 1; seed <= 20; seed++)
		tasks_once(seed);
}

/* ---- the table of units ---- */

#define KEY(i) ((uint64_t)STATE_UNIT_TASK << 62 | (i))

static void expect_units(const struct state_units *t, uint32_t n, uint32_t gone)
{
	for (uint32_t i = 0; i < n; i++)
		if (state_unit_find(t, KEY(i)) != (gone > 0 && i % gone == 0 ? TABLE_NONE : i))
			cr_assert_fail("unit %u", i);
}

Test(ovni_state_task, units_are_found_until_the_table_is_full)
{
	struct state_units t = { .max = STATE_MAX_UNITS };
	uint32_t n;

	cr_expect_eq(state_unit_find(&t, KEY(0)), TABLE_NONE);
	for (uint32_t i = 0; i < STATE_MAX_UNITS; i++)
		if (state_unit_add(&t, KEY(i)) != i)
			cr_assert_fail("unit %u", i);
	expect_units(&t, STATE_MAX_UNITS, 0);
	cr_expect(state_units_are_full(&t) && state_unit_add(&t, KEY(STATE_MAX_UNITS)) == TABLE_NONE);
	cr_expect(state_units_evict(&t, &n) && n == 0);
	cr_expect(state_units_are_full(&t) && !t.evicted);
	for (uint32_t i = 0; i < STATE_MAX_UNITS; i += 3)
		t.units[i].state = STATE_BODY_ENDED;
	cr_expect(state_units_evict(&t, &n) && n == (STATE_MAX_UNITS + 2) / 3);
	cr_expect(!state_units_are_full(&t) && t.evicted);
	expect_units(&t, STATE_MAX_UNITS, 3);
	for (uint32_t i = 0; i < (STATE_MAX_UNITS + 2) / 3; i++)
		if (state_unit_find(&t, KEY(STATE_MAX_UNITS + i)) != TABLE_NONE ||
		    state_unit_add(&t, KEY(STATE_MAX_UNITS + i)) % 3 != 0)
			cr_assert_fail("unit %u", i);
	cr_expect(state_units_are_full(&t));
	expect_units(&t, STATE_MAX_UNITS, 3);
	state_units_free(&t);
}

/* With more tasks than the limit, those that have ended are evicted; nothing false is reported, and the
 * others are checked as before. */
Test(ovni_state_task, tasks_are_evicted_when_they_have_ended)
{
	char *const dir = make_folder();
	const uint32_t n = 50000;
	struct written w;

	written_init(&w, 4 * n);
	written_start(&w, 1, 0);
	make_tasks(&w);
	for (uint32_t i = 10; i < n; i++) {
		const uint32_t id[2] = { i, 0 }, create[2] = { i, 1 };
		written_put(&w, "VTc", i, create, 8);
		written_put(&w, "VTx", i, id, 8);
		written_put(&w, "VTe", i, id, 8);
	}
	written_put(&w, "OHe", n, NULL, 0);
	written_save(&w, dir, 0);
	rig_units = 100;
	rig_expect_counts(dir, 1, (const enum ovni_rule[]){ OVNI_RULE_TASKS_FORGOTTEN, OVNI_RULE_COUNT },
	                  (const uint64_t[]){ 1 });
	rig_units = 0;
	remove_folder(dir);
}
