/*
 * The files next to the streams: strict JSON, which becomes a cJSON tree in one pass, clock-offsets.txt, and
 * metadata without a stream.  Each file is read as a whole, at most OVNI_MAX_JSON or OVNI_MAX_OFFSETS bytes.
 */
#include "ovni/ovni.h"

#include <cJSON.h>
#include <math.h>
#include <stdlib.h>

#include "json/token.h"

/* ---- JSON ---- */

/*
 * The text is checked with json/token.h first: cJSON's own parser accepts numbers such as 01, control bytes
 * in strings and text that is not UTF-8, and does not report the position of a fault.
 */

/* Returns the text of a token without escapes, as cJSON copies it: ended by a NUL.  NULL on OOM. */
static const char *make_string(struct arena *a, const struct json_token *t)
{
	struct slice s = json_token_text(t);

	if (t->kind == JSON_ESCAPED)
		s = json_unescape(a, s);
	return s.p != NULL ? arena_copy(a, s).p : NULL;
}

static cJSON *make_scalar(struct arena *a, const struct json_token *t)
{
	if (t->kind == JSON_TRUE || t->kind == JSON_FALSE)
		return cJSON_CreateBool(t->kind == JSON_TRUE);
	if (t->kind == JSON_NULL)
		return cJSON_CreateNull();
	const char *const s = make_string(a, t);
	if (s == NULL)
		return NULL;
	return json_is_string(t->kind) ? cJSON_CreateString(s) : cJSON_CreateNumber(strtod(s, NULL));
}

/* Returns the tree of a valid value; NULL on OOM. */
static cJSON *make_tree(struct arena *a, const struct json_token *t)
{
	const bool object = t->kind == JSON_OBJECT;

	if (!object && t->kind != JSON_ARRAY)
		return make_scalar(a, t);
	cJSON *const to = object ? cJSON_CreateObject() : cJSON_CreateArray();
	struct json_walk w = json_walk_again(t);
	while (to != NULL && json_walk_next(&w)) {
		cJSON *const v = make_tree(a, &w.value);
		const char *const name = object ? make_string(a, &w.key) : NULL;
		if (object ? name == NULL || !cJSON_AddItemToObject(to, name, v)
		           : !cJSON_AddItemToArray(to, v)) {
			cJSON_Delete(v);
			cJSON_Delete(to);
			return NULL;
		}
	}
	return to;
}

cJSON *ovni_json_parse(struct slice text, const char **fault, size_t *at)
{
	const char *const end = text.p + text.n;
	struct json x = { .complete = true, .depth = OVNI_MAX_DEPTH };
	struct arena scratch = { .head = NULL };
	struct json_token t;

	*fault = json_document_fault(text.p, text.n, OVNI_MAX_DEPTH, at);
	if (*fault != NULL)
		return NULL;
	t.p = json_skip_blanks(text.p, end);
	t.end = json_value(&x, t.p, end, &t.kind);
	cJSON *const root = make_tree(&scratch, &t);
	arena_free(&scratch);
	return root;
}

const cJSON *ovni_json_get(const cJSON *o, const char *key)
{
	return cJSON_IsObject(o) ? cJSON_GetObjectItemCaseSensitive(o, key) : NULL;
}

bool ovni_json_is(const cJSON *v, int number)
{
	return cJSON_IsNumber(v) && v->valuedouble >= number && v->valuedouble <= number;
}

int64_t ovni_json_integer(struct ovni_metadata *m, const cJSON *o, const char *key)
{
	const cJSON *const v = ovni_json_get(o, key);

	if (v == NULL)
		return -1;
	if (!cJSON_IsNumber(v)) {
		ovni_report(m->r, OVNI_RULE_METADATA_TYPE, "%s%s is not a number", m->prefix, key);
		return OVNI_NO_INTEGER;
	}
	/* cJSON stores doubles, which are exact for 32 bits. */
	if (!(fabs(v->valuedouble) <= INT32_MAX) || v->valuedouble != floor(v->valuedouble)) {
		ovni_report(m->r, OVNI_RULE_METADATA_TYPE, "%s%s is %.17g, expected a 32-bit integer",
		            m->prefix, key, v->valuedouble);
		return OVNI_NO_INTEGER;
	}
	return (int64_t)v->valuedouble;
}

const char *ovni_json_string(struct ovni_metadata *m, const cJSON *o, const char *key)
{
	const cJSON *const v = ovni_json_get(o, key);

	if (v != NULL && !cJSON_IsString(v))
		ovni_report(m->r, OVNI_RULE_METADATA_TYPE, "%s%s is not a string", m->prefix, key);
	return cJSON_GetStringValue(v);
}

/* ---- loading ---- */

/* Returns the path of a file in the folder of `path`; NULL: OOM.  The caller frees it. */
static char *sibling_path(const char *path, const char *name)
{
	const size_t folder = (size_t)(path_name(path) - path);
	char *const other = malloc(folder + strlen(name) + 1);

	if (other != NULL) {
		memcpy(other, path, folder);
		memcpy(other + folder, name, strlen(name) + 1);
	}
	return other;
}

/* Opens a file in the folder of the path; returns NULL on OOM. */
static struct input *open_sibling(const struct reader *r, const char *path, const char *name)
{
	char *const other = sibling_path(path, name);
	struct input *const in = other != NULL ? reader_open_auxiliary(r, other) : NULL;

	free(other);
	return in;
}

enum load {
	LOAD_MISSING,
	LOAD_FAILED, /* unreadable, which was reported; r->unreadable is set */
	LOAD_LARGE,  /* more than `max` bytes */
	LOAD_WHOLE,  /* [in->p, in->end) is the file */
};

static enum load load_file(struct reader *r, struct input *in, const char *name, size_t max)
{
	if (in->fault == INPUT_MISSING)
		return LOAD_MISSING;
	const bool large = input_need(in, max + 1);
	if (!reader_can_use(r, in, name))
		return LOAD_FAILED;
	return large ? LOAD_LARGE : LOAD_WHOLE;
}

static struct slice loaded_text(const struct input *in)
{
	return slice_of(in->p, (size_t)(in->end - in->p));
}

/* Reports keys that occur twice in one object; recursion is bounded by OVNI_MAX_DEPTH. */
static void report_duplicates(struct ovni_metadata *m, const cJSON *v)
{
	struct tabletext keys = { .slots = NULL };
	struct quoted q;

	for (const cJSON *c = v->child; c != NULL; c = c->next) {
		if (cJSON_IsObject(v) && tabletext_get(&keys, slice_str(c->string)) != TABLE_NONE)
			ovni_report(m->r, OVNI_RULE_DUPLICATE_KEY, "%s: an object has the key %s twice",
			            m->file, quoted(&q, slice_str(c->string)));
		else if (cJSON_IsObject(v) && !tabletext_put(&keys, slice_str(c->string), 0))
			m->system->no_memory = true;
		report_duplicates(m, c);
	}
	tabletext_free(&keys);
}

static void read_object(struct ovni_metadata *m, struct slice text, ovni_json_sink *sink)
{
	const char *fault;
	size_t at;
	cJSON *const root = ovni_json_parse(text, &fault, &at);

	if (fault != NULL) {
		ovni_report(m->r, OVNI_RULE_BAD_JSON, "%s, byte %zu: %s", m->file, at, fault);
		m->system->lacks = true;
	} else if (root == NULL) {
		m->system->no_memory = true;
	} else if (!cJSON_IsObject(root)) {
		ovni_report(m->r, OVNI_RULE_BAD_JSON, "%s is not a JSON object", m->file);
		m->system->lacks = true;
	} else {
		report_duplicates(m, root);
		sink(m, root);
	}
	cJSON_Delete(root);
}

bool ovni_json_read(struct ovni_metadata *m, const char *name, ovni_json_sink *sink)
{
	struct input *const in = open_sibling(m->r, m->r->in->path, name);

	if (note_failure(&m->system->no_memory, in == NULL))
		return true;
	m->file = name;
	const enum load load = load_file(m->r, in, name, OVNI_MAX_JSON);
	m->system->lacks |= load == LOAD_LARGE;
	if (load == LOAD_LARGE)
		ovni_report(m->r, OVNI_RULE_LIMIT, "%s has more than %u bytes and was not read", name,
		            OVNI_MAX_JSON);
	if (m->files != NULL && (load == LOAD_LARGE || load == LOAD_WHOLE))
		m->system->no_memory |= !ovni_files_add(
		    m->files, name, in->p, load == LOAD_WHOLE ? (size_t)(in->end - in->p) : OVNI_NOT_READ);
	if (load == LOAD_WHOLE)
		read_object(m, loaded_text(in), sink);
	input_close(in);
	return load != LOAD_MISSING;
}

/* ---- metadata without a stream ---- */

static bool exists(const struct reader *r, const char *path, const char *name)
{
	char *const other = sibling_path(path, name);
	const bool found = other == NULL || !reader_lacks_auxiliary(r, other);

	free(other);
	return found;
}

/* Whether an object is metadata of a process as libovni before 1.11 wrote it. */
static bool is_old_metadata(const cJSON *root)
{
	static const char *const keys[] = { "app_id", "rank", "nranks", "cpus", "model_version" };
	const cJSON *const version = ovni_json_get(root, "version");
	bool own = false;

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		own |= ovni_json_get(root, keys[i]) != NULL;
	return own && (ovni_json_is(version, 1) || ovni_json_is(version, 2));
}

/* stream.json needs a stream.obs; metadata.json belongs to the old layouts.  Both names are common, so a file
 * counts only if it has keys of ovni; other JSON and faults are not reported. */
void ovni_check_sidecar(struct reader *r)
{
	const char *const path = r->findings->path, *const name = path_name(path);
	const bool is_stream = strcmp(name, OVNI_METADATA_FILE) == 0;
	const char *fault;
	size_t at;

	if (is_stream &&
	    (exists(r, path, OVNI_STREAM_FILE) || exists(r, path, OVNI_STREAM_FILE ".gz") ||
	     exists(r, path, OVNI_STREAM_FILE ".zst") || exists(r, path, OVNI_STREAM_FILE ".xz")))
		return; /* it is read with the stream */
	struct input *const in = open_sibling(r, path, name);
	cJSON *root = NULL;
	if (in != NULL && load_file(r, in, name, OVNI_MAX_JSON) == LOAD_WHOLE)
		root = ovni_json_parse(loaded_text(in), &fault, &at);
	input_close(in);
	if (is_stream && cJSON_IsObject(ovni_json_get(root, "ovni")))
		ovni_report(r, OVNI_RULE_EVENTS_MISSING, "there is no stream.obs in its directory");
	else if (!is_stream && is_old_metadata(root))
		ovni_report(r, OVNI_RULE_OLD_LAYOUT, "metadata.json has version %d, current traces have 3",
		            ovni_json_is(ovni_json_get(root, "version"), 1) ? 1 : 2);
	cJSON_Delete(root);
}

/* ---- clock offsets ---- */

/*
 * clock-offsets.txt, written by ovnisync: offsets to add to the clocks of each host, so that all agree.  A
 * header line, which is ignored, then one line for each host: rank, host name, median, mean and standard
 * deviation of the measurement, in ns.  The integer part of the median is used.
 *
 * The parser of ovniemu stops at a line of blanks, splits long lines, and accepts nan, inf and 1e30; this one
 * does not.
 */

struct ovni_host {
	struct slice name;
	int64_t offset; /* ns */
	bool used;
};

struct table {
	struct ovni_offsets *offsets;
	struct ovni_system *system;
	struct reader *r;
};

/* The columns of a line. */
enum { RANK, HOST, MEDIAN, MEAN, DEVIATION, COLUMNS };

#define REPORT(t, ...) ovni_report((t)->r, OVNI_RULE_CLOCK_OFFSETS, __VA_ARGS__)

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Returns the next word of a line; n 0: there is none. */
static struct slice next_word(struct slice *line)
{
	while (line->n > 0 && is_blank(*line->p)) {
		line->p++;
		line->n--;
	}
	struct slice word = slice_of(line->p, 0);
	while (line->n > 0 && !is_blank(*line->p)) {
		line->p++;
		line->n--;
		word.n++;
	}
	return word;
}

/* Parses a decimal number with optional sign, fraction and exponent.  Returns false unless its integer part
 * fits 63 bits. */
static bool integer_part(struct slice s, int64_t *integer)
{
	char text[64], *end;
	size_t i = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+');
	bool exponent = false;
	uint64_t v = 0;

	if (s.n >= sizeof text || i == s.n || ((s.p[i] < '0' || s.p[i] > '9') && s.p[i] != '.'))
		return false;
	for (size_t k = i; k < s.n; k++) {
		if (strchr("0123456789.eE+-", s.p[k]) == NULL)
			return false;
		exponent |= s.p[k] == 'e' || s.p[k] == 'E';
	}
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	const double d = strtod(text, &end);
	if (*end != '\0' || !isfinite(d))
		return false;
	if (exponent) {
		*integer = fabs(d) < 9e18 ? (int64_t)d : 0;
		return fabs(d) < 9e18;
	}
	for (; i < s.n && s.p[i] != '.'; i++) {
		if (v > (INT64_MAX - 9) / 10)
			return false;
		v = v * 10 + (uint64_t)(s.p[i] - '0');
	}
	*integer = s.p[0] == '-' ? -(int64_t)v : (int64_t)v;
	return true;
}

/* The deviation is only checked: that of a single sample is undefined, which C prints as nan or -nan. */
static bool is_deviation(struct slice s)
{
	int64_t unused;

	return slice_is(s, "nan") || slice_is(s, "-nan") || integer_part(s, &unused);
}

static bool is_rank(struct slice s)
{
	const uint32_t sign = s.n > 0 && s.p[0] == '-';

	for (uint32_t i = sign; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > sign && s.n <= 10;
}

static void add_host(struct table *t, struct slice host, int64_t offset, uint32_t line)
{
	struct ovni_offsets *const o = t->offsets;
	const uint32_t known = tabletext_get(&o->host_index, host);
	struct quoted q;

	if (known != TABLE_NONE) {
		REPORT(t,
		       "%s, line %" PRIu32 ": host %s occurs twice, now with %" PRId64
		       ", before with %" PRId64,
		       o->file, line, quoted(&q, host), offset, o->hosts[known].offset);
		return;
	}
	if (o->nhosts >= OVNI_MAX_LOOMS) {
		if (!t->system->limited)
			ovni_report(t->r, OVNI_RULE_LIMIT,
			            "%s: more than %u hosts; the others have no offset", o->file,
			            OVNI_MAX_LOOMS);
		t->system->limited = true;
		return;
	}
	const struct slice name = arena_copy(&t->system->text, host);
	if (name.p == NULL || !array_reserve(&o->hosts, o->nhosts, &o->hosts_cap, sizeof *o->hosts) ||
	    !tabletext_put(&o->host_index, name, o->nhosts))
		t->system->no_memory = true;
	else
		o->hosts[o->nhosts++] = (struct ovni_host){ .name = name, .offset = offset };
}

/* Returns whether it is not blank. */
static bool read_row(struct table *t, struct slice line, uint32_t n)
{
	const char *const file = t->offsets->file;
	struct slice w[COLUMNS];
	int64_t offset = 0, other;
	struct quoted q;

	for (int i = 0; i < COLUMNS; i++)
		w[i] = next_word(&line);
	if (w[RANK].n == 0)
		return false;
	if (w[DEVIATION].n == 0)
		REPORT(t, "%s, line %" PRIu32 " has fewer than 5 fields", file, n);
	else if (!is_rank(w[RANK]))
		REPORT(t, "%s, line %" PRIu32 ": the rank %s is not an integer", file, n,
		       quoted(&q, w[RANK]));
	else if (!integer_part(w[MEDIAN], &offset))
		REPORT(t, "%s, line %" PRIu32 ": the median %s is not a number of ns", file, n,
		       quoted(&q, w[MEDIAN]));
	else if (!integer_part(w[MEAN], &other) || !is_deviation(w[DEVIATION]))
		REPORT(t, "%s, line %" PRIu32 ": the mean %s or the deviation after it is not a number", file,
		       n, quoted(&q, w[MEAN]));
	else
		add_host(t, w[HOST], offset, n);
	return true;
}

static void read_table(struct table *t, struct slice text)
{
	const char *p = text.p, *const end = text.p + text.n;
	uint32_t n = 0, rows = 0;

	/* ovnisync -d writes offsets over time, with a column for each host. */
	if (text.n >= 9 && memcmp(p, "wallclock", 9) == 0) {
		REPORT(t, "%s is a table of ovnisync -d, whose offsets change with time", t->offsets->file);
		return;
	}
	while (p < end) {
		const char *const newline = memchr(p, '\n', (size_t)(end - p));
		const char *const stop = newline != NULL ? newline : end;
		if (++n > 1)
			rows += read_row(t, slice_of(p, (size_t)(stop - p)), n);
		p = newline != NULL ? newline + 1 : end;
	}
	if (rows == 0)
		REPORT(t, "%s has no line of a host after the header line", t->offsets->file);
}

/* Returns false on OOM, and after reporting that the file of --clock-offsets cannot be read. */
static bool read_offsets(struct table *t, const char *path)
{
	struct ovni_offsets *const o = t->offsets;
	struct input *const in =
	    o->named ? input_open_in(t->r->files, NULL, path) : reader_open_auxiliary(t->r, path);
	bool ok = true;

	if (in == NULL)
		return false;
	const enum load load = load_file(t->r, in, o->file, OVNI_MAX_OFFSETS);
	if (load == LOAD_MISSING && o->named) {
		REPORT(t, "%s: %s", o->file, in->fault_text);
		ok = false;
	} else if (load == LOAD_FAILED) {
		ok = !o->named;
	} else if (load == LOAD_LARGE) {
		REPORT(t, "%s has more than %u bytes and was not read", o->file, OVNI_MAX_OFFSETS);
	} else if (load == LOAD_WHOLE) {
		o->read = true;
		if ((t->r->want & WANT_FILES) != 0)
			text_add(&o->copy, in->p, (size_t)(in->end - in->p));
		t->system->no_memory |= o->copy.failed;
		read_table(t, loaded_text(in));
		ok = !t->system->no_memory;
	}
	input_close(in);
	return ok;
}

bool ovni_offsets_open(struct ovni_offsets *o, struct ovni_system *s, struct reader *r)
{
	const char *const named = option_find(r->options, "clock-offsets");
	const char *const folder = r->folder > 0 && r->findings != NULL ? r->findings->path : NULL;
	struct table t = { .offsets = o, .system = s, .r = r };

	o->named = named != NULL;
	o->file = named != NULL ? quoted(&o->quoted, slice_str(named)) : OVNI_OFFSETS_FILE;
	if (named != NULL)
		return read_offsets(&t, named);
	if (folder == NULL)
		return true;
	const size_t size = strlen(folder) + sizeof "/" OVNI_OFFSETS_FILE;
	char *const path = malloc(size);
	if (path == NULL)
		return false;
	snprintf(path, size, "%s/" OVNI_OFFSETS_FILE, folder);
	const bool ok = read_offsets(&t, path);
	free(path);
	return ok;
}

struct slice ovni_host_of(struct slice loom)
{
	const char *const dot = loom.n > 0 ? memchr(loom.p, '.', loom.n) : NULL;

	return slice_of(loom.p, dot != NULL ? (size_t)(dot - loom.p) : loom.n);
}

int64_t ovni_offsets_find(struct ovni_offsets *o, struct slice loom)
{
	const uint32_t known =
	    loom.p != NULL && o->nhosts > 0 ? tabletext_get(&o->host_index, ovni_host_of(loom)) : TABLE_NONE;

	if (known == TABLE_NONE)
		return 0;
	o->hosts[known].used = true;
	return o->hosts[known].offset;
}

void ovni_offsets_check(const struct ovni_offsets *o, const struct ovni_system *s, struct reader *r)
{
	struct quoted q, q2;

	for (uint32_t i = 0; i < o->nhosts && !s->lacks && r->unreadable[0] == '\0'; i++)
		if (!o->hosts[i].used)
			ovni_report(r, o->named ? OVNI_RULE_CLOCK_HOST : OVNI_RULE_CLOCK_OFFSETS,
			            "%s: no loom is on the host %s", o->file, quoted(&q, o->hosts[i].name));
	if (o->read || s->nlooms == 0)
		return;
	for (uint32_t i = 1; i < s->nlooms; i++)
		if (!slice_equal(ovni_host_of(s->looms[i].name), ovni_host_of(s->looms[0].name))) {
			ovni_report(
			    r, OVNI_RULE_NO_CLOCK_OFFSETS,
			    "looms %s and %s are on different hosts, but there is no clock-offsets.txt",
			    quoted(&q, s->looms[0].name), quoted(&q2, s->looms[i].name));
			break;
		}
}
