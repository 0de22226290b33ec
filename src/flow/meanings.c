#include "flow/meanings.h"

#include <stdlib.h>

#include "check/input_rules.h"
#include "flow/flow.h"
#include "vocab/vocab.h"

struct meanings_row {
	const struct format *format;
	struct vocabulary *vocabulary;
};

static void
say_no_memory(const struct flow_job *job)
{
	struct judge judge;

	judge_init(&judge, job->path, job->sink, job->ctx);
	finding_add(&judge, &input_rules[INPUT_RULE_NO_MEMORY], 0, 0, "the system gives no more memory");
	judge_free(&judge);
}

static bool
add(struct vocabulary *v, const struct flow_job *job, const char *path, struct slice text)
{
	struct judge judge;

	judge_init(&judge, path, job->sink, job->ctx);
	const bool ok = vocab_add_text(v, text.p, text.n, &judge, NULL);
	judge_free(&judge);
	return ok;
}

static struct vocabulary *
load(const struct flow_job *job, const struct format *format)
{
	struct vocabulary *const v = vocab_new(format->name);
	const struct slice builtin = vocab_builtin(format->name);
	bool ok = v != NULL;

	if (!ok)
		say_no_memory(job);
	for (size_t i = 0; ok && i < job->nschemas; i++)
		ok = add(v, job, job->schemas[i].path, job->schemas[i].text);
	if (ok && builtin.p != NULL)
		ok = add(v, job, "(built in)", builtin);
	if (ok)
		return v;
	vocab_free(v);
	return NULL;
}

const struct vocabulary *
meanings_of(struct meanings *m, const struct flow_job *job, const struct format *format)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->rows[i].format == format)
			return m->rows[i].vocabulary;
	struct meanings_row *const rows = realloc(m->rows, (m->n + 1) * sizeof *rows);
	if (rows == NULL) {
		say_no_memory(job);
		return NULL;
	}
	m->rows = rows;
	rows[m->n] = (struct meanings_row){ format, load(job, format) };
	return rows[m->n].vocabulary != NULL ? rows[m->n++].vocabulary : NULL;
}

void
meanings_free(struct meanings *m)
{
	for (size_t i = 0; i < m->n; i++)
		vocab_free(m->rows[i].vocabulary);
	free(m->rows);
	*m = (struct meanings){ .n = 0 };
}
