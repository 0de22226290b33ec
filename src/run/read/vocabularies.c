/* The cache of vocabularies by format: loaded when the first input of a format is opened. */
#include <stdlib.h>

#include "base/memory.h"
#include "check/rules.h"
#include "run/read/operands.h"
#include "vocab/vocab.h"

struct vocabularies_row {
	const struct format *format;
	const struct vocabulary *vocabulary;
	struct vocabulary *owned; /* the same, or NULL: borrowed */
};

static void report_no_memory(const struct pipeline_job *job)
{
	struct findings findings;

	job_findings(job, &findings, job->in.npaths > 0 && job->in.paths[0] != NULL ? job->in.paths[0] : "");
	finding_add(&findings, &input_rules[INPUT_RULE_NO_MEMORY], 0, 0, "out of memory");
	findings_free(&findings);
}

static bool add_file_text(struct vocabulary *v, const struct pipeline_job *job,
                          const struct schema_file *file)
{
	struct findings findings;

	job_findings(job, &findings, file->path);
	vocab_set_use(v, file->use);
	const bool ok = vocab_add_text(v, file->text.p, file->text.n, &findings, NULL);
	findings_free(&findings);
	if (!ok && vocab_no_memory(v))
		report_no_memory(job);
	return ok;
}

static struct vocabulary *load_vocabulary(const struct pipeline_job *job, const struct format *format)
{
	struct vocabulary *const v = vocab_new(format->name);
	const struct slice builtin = vocab_builtin(format->name);
	bool ok = v != NULL;

	if (!ok)
		report_no_memory(job);
	for (size_t i = 0; ok && i < job->in.nschemas; i++)
		ok = add_file_text(v, job, &job->in.schemas[i]);
	if (ok && builtin.p != NULL)
		ok = add_file_text(v, job, &(struct schema_file){ "(built in)", builtin, NULL });
	if (ok)
		return v;
	vocab_free(v);
	return NULL;
}

static bool add_row(struct vocabularies *m, const struct format *format, const struct vocabulary *v,
                    struct vocabulary *owned)
{
	if (!array_resize(&m->rows, m->n + 1, sizeof *m->rows))
		return false;
	m->rows[m->n++] = (struct vocabularies_row){ format, v, owned };
	return true;
}

const struct vocabulary *vocabularies_of(struct vocabularies *m, const struct pipeline_job *job,
                                         const struct format *format)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->rows[i].format == format)
			return m->rows[i].vocabulary;
	struct vocabulary *const v = load_vocabulary(job, format);
	if (v == NULL || add_row(m, format, v, v))
		return v;
	vocab_free(v);
	report_no_memory(job);
	return NULL;
}

bool vocabularies_borrow(struct vocabularies *m, const struct format *format, const struct vocabulary *v)
{
	return add_row(m, format, v, NULL);
}

void vocabularies_free(struct vocabularies *m)
{
	for (size_t i = 0; i < m->n; i++)
		vocab_free(m->rows[i].owned);
	free(m->rows);
	*m = (struct vocabularies){ .n = 0 };
}
