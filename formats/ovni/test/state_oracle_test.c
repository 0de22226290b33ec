/* Random threads, CPUs and stacks against simple models of the rules. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/test/cli_test_util.h"
#include "ovni/test/written_test.h"
#include "ovni/test/state_rig_test.h"

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

/* Mostly well nested, with mistakes: a pop names the top nine times of ten. */
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
	const char *life; /* as the rules call it */
	int cpu;          /* -2: none */
};

static bool one_of(const char *life, const char *list)
{
	const char *const at = strstr(list, life);

	return at != NULL;
}

/* How many threads run on a CPU, counted anew. */
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
		/* an action that is allowed, four times of five */
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

/* Streams that use everything, with bytes changed: whatever is reported, nothing crashes. */
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
