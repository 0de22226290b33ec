/* Random tasks against a simple model of the rules, and more of them than are tracked. */
#include <criterion/criterion.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "ovni/test/written_test.h"
#include "ovni/test/state_rig_test.h"

#define EVENTS 3000

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

/* To 'p'aused, 'r'unning again, or 'd'ead. */
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
			b = top; /* mostly what is allowed */
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

/* More tasks than are tracked: those that have ended are evicted, nothing false is reported, and the others
 * are checked as before. */
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
