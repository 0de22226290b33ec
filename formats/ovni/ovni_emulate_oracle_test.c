/* Random threads, CPUs and stacks against models that are written down as plainly as the rules are. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cli_test_util.h"
#include "ovni/ovni_rig_test.h"

#define THREADS 4
#define CPUS 2
#define EVENTS 3000

static uint64_t
dice(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed >> 11;
}

/* ---- writing streams ---- */

struct written {
	char *p;
	size_t n;
};

static void
put(struct written *w, const char *code, uint64_t clock, const void *payload, unsigned n)
{
	char *const p = w->p + w->n;

	p[0] = n > 0 ? (char)(n - 1) : 0;
	memcpy(p + 1, code, 3);
	memcpy(p + 4, &clock, 8); /* as this machine writes it: little endian, like all known ones */
	if (n > 0)
		memcpy(p + 12, payload, n);
	w->n += 12 + n;
}

static void
start(struct written *w, uint64_t clock, int32_t cpu)
{
	char payload[16] = { 0 };

	memcpy(payload, &cpu, 4);
	put(w, "OHx", clock, payload, 16);
}

static void
written_init(struct written *w, size_t events)
{
	w->p = malloc(8 + events * 28);
	cr_assert_not_null(w->p);
	memcpy(w->p, "ovni\1\0\0\0", 8);
	w->n = 8;
}

/* The folder of a thread: metadata with CPUS CPUs, and the stream. */
static void
save(struct written *w, const char *dir, int tid)
{
	char path[600], json[800];

	snprintf(path, sizeof path, "%s/%c", dir, 'a' + tid);
	cr_assert_eq(mkdir(path, 0777), 0);
	const int n = snprintf(json, sizeof json,
	                       "{\"version\":3,\"ovni\":{\"lib\":{\"version\":\"1\",\"commit\":\"x\"},\"part\":\"thread\",\"tid\":%d,\"pid\":7,"
	                       "\"loom\":\"h\",\"app_id\":1,\"require\":{\"ovni\":\"1.1.0\",\"nosv\":\"2.7.0\",\"mpi\":\"1.0.0\"},\"finished\":1,"
	                       "\"loom_cpus\":[{\"index\":0,\"phyid\":0},{\"index\":1,\"phyid\":1}]}}",
	                       tid + 1);
	snprintf(path, sizeof path, "%s/%c/stream.json", dir, 'a' + tid);
	cr_assert(write_whole(path, json, (size_t)n));
	snprintf(path, sizeof path, "%s/%c/stream.obs", dir, 'a' + tid);
	cr_assert(write_whole(path, w->p, w->n));
	free(w->p);
}

static void
expect_counts(const char *dir, uint64_t seed, const enum ovni_rule *rules, const uint64_t *counts)
{
	static struct rig rig;
	char text[RIG_TEXT], want[RIG_TEXT] = "";
	size_t n = 0;

	rig_read(&rig, dir);
	rig_text(&rig, text);
	for (int i = 0; rules[i] != OVNI_RULE_COUNT; i++)
		if (counts[i] > 0)
			n += (size_t)snprintf(want + n, sizeof want - n, "%s %d\n", ovni_rules[rules[i]].id, (int)counts[i]);
	cr_expect_str_eq(text, want, "seed %d: %s\nwhere this was expected: %s", (int)seed, text, want);
	rig_free(&rig);
}

/* ---- stacks ---- */

struct pile {
	int states[EVENTS];
	int n;
	bool repeats;
};

struct stack_counts {
	uint64_t mismatch, empty, repeat;
};

static void
pile_push(struct pile *s, int state, struct stack_counts *c)
{
	c->repeat += !s->repeats && s->n > 0 && s->states[s->n - 1] == state;
	s->states[s->n++] = state;
}

static void
pile_pop(struct pile *s, int state, struct stack_counts *c)
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

/* Mostly well nested, with mistakes: a pop names the top nine times of ten. */
static void
stacks_once(uint64_t seed)
{
	static const char *const codes[2][3][2] = { { { "VS[", "VS]" }, { "VU[", "VU]" }, { "VAs", "VAS" } }, { { "MUf", "MUF" }, { "MW[", "MW]" }, { "MTs", "MTS" } } };
	static struct pile piles[2];
	struct stack_counts c = { 0, 0, 0 };
	uint64_t dices = seed * 0x9e3779b97f4a7c15 + 1, open = 0;
	char *const dir = make_folder();
	struct written w;

	memset(piles, 0, sizeof piles);
	piles[0].repeats = true;
	written_init(&w, EVENTS + 2);
	start(&w, 1, 0);
	for (uint64_t i = 0; i < EVENTS; i++) {
		const unsigned which = dice(&dices) % 2;
		struct pile *const s = &piles[which];
		const bool push = s->n < 100 && dice(&dices) % 100 < 48;
		int state = (int)(dice(&dices) % 3);
		if (!push && s->n > 0 && dice(&dices) % 10 != 0)
			state = s->states[s->n - 1];
		put(&w, codes[which][state][!push], i + 2, NULL, 0);
		if (push)
			pile_push(s, state, &c);
		else
			pile_pop(s, state, &c);
	}
	put(&w, "OHe", EVENTS + 2, NULL, 0);
	open = (uint64_t)(piles[0].n > 0) + (uint64_t)(piles[1].n > 0);
	save(&w, dir, 0);
	expect_counts(dir, seed,
	              (const enum ovni_rule[]){ OVNI_RULE_NESTING_MISMATCH, OVNI_RULE_NESTING_EMPTY, OVNI_RULE_NESTING_REPEAT, OVNI_RULE_NESTING_LEFT_OPEN, OVNI_RULE_COUNT },
	              (const uint64_t[]){ c.mismatch, c.empty, c.repeat, open });
	remove_folder(dir);
}

Test(ovni_emulate_oracle, stacks)
{
	for (uint64_t seed = 1; seed <= 20; seed++)
		stacks_once(seed);
}

Test(ovni_emulate_oracle, stacks_of_512)
{
	const enum ovni_rule rules[] = { OVNI_RULE_NESTING_DEEP, OVNI_RULE_COUNT };

	for (uint64_t depth = EMU_DEPTH - 1; depth <= EMU_DEPTH + 90; depth += 13) {
		char *const dir = make_folder();
		struct written w;
		written_init(&w, 2 * depth + 2);
		start(&w, 1, 0);
		for (uint64_t i = 0; i < 2 * depth; i++)
			put(&w, i < depth ? "VS[" : "VS]", i + 2, NULL, 0);
		put(&w, "OHe", 2 * depth + 2, NULL, 0);
		save(&w, dir, 0);
		expect_counts(dir, depth, rules, (const uint64_t[]){ depth > EMU_DEPTH });
		remove_folder(dir);
	}
}

/* ---- threads on CPUs ---- */

struct dull_thread {
	const char *life; /* as the rules call it */
	int cpu;          /* -2: none */
};

static bool
one_of(const char *life, const char *list)
{
	const char *const at = strstr(list, life);

	return at != NULL;
}

/* How many threads run on a CPU, counted anew. */
static int
running_on(const struct dull_thread *threads, int cpu)
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
} steps[] = {
	{ "OHx", "new dead", "running" },   { "OHc", "running", "cooling" },        { "OHp", "running cooling", "paused" },
	{ "OHw", "paused", "warming" }, { "OHr", "paused warming", "running" }, { "OHe", "running cooling", "dead" },
};

static void
life_step(struct dull_thread *threads, int i, int step, int cpu, struct life_counts *c)
{
	struct dull_thread *const t = &threads[i];
	const bool ran = strcmp(t->life, "running") == 0;

	c->state += !one_of(t->life, steps[step].from);
	t->life = steps[step].to;
	if (step == 0)
		t->cpu = cpu;
	if (strcmp(t->life, "running") == 0 && (!ran || step == 0) && t->cpu >= 0)
		c->busy += running_on(threads, t->cpu) > 1;
	if (step == 5)
		t->cpu = -2;
}

static void
move_step(struct dull_thread *threads, int i, int cpu, struct life_counts *c)
{
	struct dull_thread *const t = &threads[i];

	if (one_of(t->life, "new dead")) {
		c->target++;
		return;
	}
	c->same += t->cpu == cpu;
	const bool moved = t->cpu != cpu;
	t->cpu = cpu;
	c->busy += moved && strcmp(t->life, "running") == 0 && cpu >= 0 && running_on(threads, cpu) > 1;
}

static void
lives_once(uint64_t seed)
{
	struct dull_thread threads[THREADS];
	struct life_counts c = { 0, 0, 0, 0, 0 };
	uint64_t dices = seed * 0x9e3779b97f4a7c15 + 1;
	char *const dir = make_folder();
	struct written w[THREADS];

	for (int i = 0; i < THREADS; i++) {
		threads[i] = (struct dull_thread){ "new", -2 };
		written_init(&w[i], EVENTS + 1);
		put(&w[i], "OB.", (uint64_t)i + 1, NULL, 0);
	}
	for (uint64_t clock = THREADS + 1; clock < EVENTS; clock++) {
		const int i = (int)(dice(&dices) % THREADS), step = (int)(dice(&dices) % 7), cpu = (int)(dice(&dices) % (CPUS + 1)) - 1;
		const int32_t move[2] = { cpu, (int32_t)(dice(&dices) % THREADS) + 1 };
		/* a step that fits, four times of five */
		if (step < 6 && !one_of(threads[i].life, steps[step].from) && dice(&dices) % 5 != 0)
			continue;
		if (step == 6) {
			put(&w[i], "OAr", clock, move, 8);
			move_step(threads, move[1] - 1, cpu, &c);
		} else if (step == 0) {
			start(&w[i], clock, cpu);
			life_step(threads, i, step, cpu, &c);
		} else {
			put(&w[i], steps[step].code, clock, NULL, 0);
			life_step(threads, i, step, cpu, &c);
		}
	}
	for (int i = 0; i < THREADS; i++) {
		c.alive += strcmp(threads[i].life, "dead") != 0;
		save(&w[i], dir, i);
	}
	expect_counts(dir, seed,
	              (const enum ovni_rule[]){ OVNI_RULE_THREAD_STATE, OVNI_RULE_THREAD_NOT_DEAD, OVNI_RULE_CPU_BUSY, OVNI_RULE_AFFINITY_TARGET, OVNI_RULE_AFFINITY_SAME,
	                                        OVNI_RULE_COUNT },
	              (const uint64_t[]){ c.state, c.alive, c.busy, c.target, c.same });
	remove_folder(dir);
}

Test(ovni_emulate_oracle, threads_on_cpus)
{
	for (uint64_t seed = 1; seed <= 20; seed++)
		lives_once(seed);
}

/* ---- tasks: three plain ones of one body each, two parallel ones of two ---- */

#define BODIES 7

static const struct {
	int32_t task, body;
} ids[BODIES] = { { 1, 0 }, { 2, 0 }, { 3, 0 }, { 4, 1 }, { 4, 2 }, { 5, 1 }, { 5, 2 } };

struct task_model {
	char state[BODIES]; /* new, running, paused, dead */
	int lists[2][EVENTS], n[2];
	uint64_t busy, again, nested, parallel, wrong, elsewhere;
};

static void
execute(struct task_model *m, int t, int b)
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
static void
change(struct task_model *m, int t, int b, char to)
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

static void
make_tasks(struct written *w)
{
	static const char type[] = "\x13VYc\2\0\0\0\0\0\0\0\6\0\0\0\1\0\0\0t";

	memcpy(w->p + w->n, type, sizeof type);
	w->n += sizeof type;
	for (int32_t i = 1; i <= 5; i++)
		put(w, i < 4 ? "VTc" : "VTC", 3, (const int32_t[]){ i, 1 }, 8);
}

static void
tasks_once(uint64_t seed)
{
	static struct task_model m;
	uint64_t dices = seed * 0x9e3779b97f4a7c15 + 1;
	char *const dir = make_folder();
	struct written w[2];

	memset(&m, 0, sizeof m);
	memset(m.state, 'n', sizeof m.state);
	for (int t = 0; t < 2; t++) {
		written_init(&w[t], EVENTS + 20);
		start(&w[t], 1, -1);
	}
	make_tasks(&w[0]);
	for (uint64_t i = 0; i < EVENTS; i++) {
		static const char *const codes[] = { "VTx", "VTp", "VTr", "VTe" };
		const int t = (int)(dice(&dices) % 2), top = m.n[t] > 0 ? m.lists[t][m.n[t] - 1] : -1;
		int step = (int)(dice(&dices) % 4), b = (int)(dice(&dices) % BODIES);
		if (dice(&dices) % 5 != 0 && top >= 0 && step != 0) {
			b = top; /* what fits, mostly */
			step = m.state[b] == 'p' ? 2 : step == 2 ? 3 : step;
		}
		if (step == 0 && m.n[t] > 400)
			continue;
		put(&w[t], codes[step], 4 + i, (const int32_t[]){ ids[b].task, ids[b].body }, 8);
		if (step == 0)
			execute(&m, t, b);
		else
			change(&m, t, b, "xprd"[step]);
	}
	for (int t = 0; t < 2; t++) {
		put(&w[t], "OHe", EVENTS + 4, NULL, 0);
		save(&w[t], dir, t);
	}
	expect_counts(dir, seed,
	              (const enum ovni_rule[]){ OVNI_RULE_TASK_AGAIN, OVNI_RULE_TASK_BUSY, OVNI_RULE_TASK_NESTED, OVNI_RULE_PAUSE_PARALLEL, OVNI_RULE_TASK_STATE,
	                                        OVNI_RULE_TASK_ELSEWHERE, OVNI_RULE_TASK_UNFINISHED, OVNI_RULE_COUNT },
	              (const uint64_t[]){ m.again, m.busy, m.nested, m.parallel, m.wrong, m.elsewhere, (uint64_t)(m.n[0] > 0) + (uint64_t)(m.n[1] > 0) });
	remove_folder(dir);
}

Test(ovni_emulate_oracle, tasks)
{
	for (uint64_t seed = 1; seed <= 20; seed++)
		tasks_once(seed);
}

/* ---- the table of units ---- */

#define KEY(i) ((uint64_t)EMU_UNIT_TASK << 62 | (i))

static void
expect_units(const struct emu_units *t, uint32_t n, uint32_t gone)
{
	for (uint32_t i = 0; i < n; i++)
		if (emu_unit_find(t, KEY(i)) != (gone > 0 && i % gone == 0 ? TABLE_NONE : i))
			cr_assert_fail("unit %u", i);
}

Test(ovni_emulate_oracle, units_are_found_until_the_table_is_full)
{
	struct emu_units t = { .most = OVNI_EMU_UNITS };

	cr_expect_eq(emu_unit_find(&t, KEY(0)), TABLE_NONE);
	for (uint32_t i = 0; i < OVNI_EMU_UNITS; i++)
		if (emu_unit_add(&t, KEY(i)) != i)
			cr_assert_fail("unit %u", i);
	expect_units(&t, OVNI_EMU_UNITS, 0);
	cr_expect(emu_units_are_full(&t) && emu_unit_add(&t, KEY(OVNI_EMU_UNITS)) == TABLE_NONE);
	cr_expect_eq(emu_units_forget(&t), 0);
	cr_expect(emu_units_are_full(&t) && !t.forgot);
	for (uint32_t i = 0; i < OVNI_EMU_UNITS; i += 3)
		t.units[i].state = EMU_BODY_DEAD;
	cr_expect_eq(emu_units_forget(&t), (OVNI_EMU_UNITS + 2) / 3);
	cr_expect(!emu_units_are_full(&t) && t.forgot);
	expect_units(&t, OVNI_EMU_UNITS, 3);
	for (uint32_t i = 0; i < (OVNI_EMU_UNITS + 2) / 3; i++)
		if (emu_unit_find(&t, KEY(OVNI_EMU_UNITS + i)) != TABLE_NONE || emu_unit_add(&t, KEY(OVNI_EMU_UNITS + i)) % 3 != 0)
			cr_assert_fail("unit %u", i);
	cr_expect(emu_units_are_full(&t));
	expect_units(&t, OVNI_EMU_UNITS, 3);
	emu_units_free(&t);
}

/* More tasks than are remembered: those that ended make place, nothing false is said, and what is live is judged as before. */
Test(ovni_emulate_oracle, tasks_are_forgotten_when_they_have_ended)
{
	char *const dir = make_folder();
	const uint32_t n = 50000;
	struct written w;

	written_init(&w, 4 * n);
	start(&w, 1, 0);
	make_tasks(&w);
	for (uint32_t i = 10; i < n; i++) {
		const uint32_t id[2] = { i, 0 }, create[2] = { i, 1 };
		put(&w, "VTc", i, create, 8);
		put(&w, "VTx", i, id, 8);
		put(&w, "VTe", i, id, 8);
	}
	put(&w, "OHe", n, NULL, 0);
	save(&w, dir, 0);
	rig_units = 100;
	expect_counts(dir, 1, (const enum ovni_rule[]){ OVNI_RULE_TASKS_FORGOTTEN, OVNI_RULE_COUNT }, (const uint64_t[]){ 1 });
	rig_units = 0;
	remove_folder(dir);
}

/* ---- damage ---- */

/* Streams that use everything, with bytes changed: whatever is said of them, nothing worse happens. */
Test(ovni_emulate_oracle, damaged_streams_are_judged)
{
	char *const dir = make_folder();
	uint64_t dices = 7;
	static struct rig rig;

	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 2; i++) {
			char path[600];
			size_t n, json;
			snprintf(path, sizeof path, "testdata/ovni/folders-state/good/%c/stream.obs", 'a' + i);
			char *const p = read_whole(path, &n);
			snprintf(path, sizeof path, "testdata/ovni/folders-state/good/%c/stream.json", 'a' + i);
			char *const meta = read_whole(path, &json);
			cr_assert(p != NULL && meta != NULL);
			for (uint64_t changes = 1 + dice(&dices) % 6; changes > 0; changes--)
				p[8 + dice(&dices) % (n - 8)] = (char)dice(&dices);
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
