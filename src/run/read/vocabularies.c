#include "run/read/vocabularies.h"

#include <stdlib.h>

#include "check/input_rules.h"
#include "run/pipeline.h"
#include "vocab/vocab.h"

struct vocabularies_row {
	const struct format *format;
	struct vocabulary *vocabulary;
};

static void
say_no_memory(const struct pipeline_job *job)
{
	struct findings findings;

	findings_init(&findings, job->npaths > 0 && job->paths[0] != NULL ? job->paths[0] : "", job->sink,
	              job->ctx);
	finding_add(&findings, &input_rules[INPUT_RULE_NO_MEMORY], 0, 0, "the system gives no more memory");
	findings_free(&findings);
}

static bool
add(struct vocabulary *v, const struct pipeline_job *job, const char *path, struct slice text)
{
	struct findings findings;

	findings_init(&findings, path, job->sink, job->ctx);
	const bool ok = vocab_add_text(v, text.p, text.n, &findings, NULL);
	findings_free(&findings);
	if (!ok && vocab_no_memory(v))
		say_no_memory(job);
	return ok;
}

static struct vocabulary *
load(const struct pipeline_job *job, const struct format *format)
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
vocabularies_of(struct vocabularies *m, const struct pipeline_job *job, const struct format *format)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->rows[i].format == format)
			return m->rows[i].vocabulary;
	struct vocabularies_row *const rows = realloc(m->rows, (m->n + 1) * sizeof *rows);
	if (rows == NULL) {
		say_no_memory(job);
		return NULL;
	}
	m->rows = rows;
	rows[m->n] = (struct vocabularies_row){ format, load(job, format) };
	return rows[m->n].vocabulary != NULL ? rows[m->n++].vocabulary : NULL;
}

void
vocabularies_free(struct vocabularies *m)
{
	for (size_t i = 0; i < m->n; i++)
		vocab_free(m->rows[i].vocabulary);
	free(m->rows);
	*m = (struct vocabularies){ .n = 0 };
}
