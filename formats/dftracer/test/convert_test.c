/* The output of `convert`, compared with a second decoder that reads the trace line by line with cJSON and
 * shares nothing with the reader. */
#define _GNU_SOURCE /* memmem */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/test/samples_test_util.h"
#include "dftracer/test/cli_test_util.h"

#define MAX_HASHES 8192

struct hash {
	char kind[4], value[32], *name;
	double pid;
	size_t line;
};

struct event {
	cJSON *json;
	char *line;    /* its text, since cJSON stores numbers as doubles */
	size_t at;     /* line number */
	char ph;       /* of the output: X, C or i */
	uint64_t unit; /* ns */
};

#define MAX_UNITS 16

struct unit {
	char pid[32], host[32]; /* as written */
	uint64_t ns;
};

struct oracle {
	struct event *events; /* all but metadata, in order */
	size_t n, cap;
	struct hash hashes[MAX_HASHES];
	size_t nhashes;
	struct unit units[MAX_UNITS];
	size_t nunits;
};

static double pid_of(const cJSON *o)
{
	const cJSON *const pid = cJSON_GetObjectItemCaseSensitive(o, "pid");

	return cJSON_IsString(pid) ? strtod(pid->valuestring, NULL) : pid->valuedouble;
}

static void read_hash(struct oracle *o, const cJSON *json, const char *line, size_t number)
{
	struct hash *const h = &o->hashes[o->nhashes++];
	const char *const args = strstr(line, "\"args\":");
	const cJSON *const in = cJSON_GetObjectItemCaseSensitive(json, "args");

	cr_assert_leq(o->nhashes, MAX_HASHES);
	snprintf(h->kind, sizeof h->kind, "%s", text_of(json, "name"));
	raw_value(args, cJSON_HasObjectItem(in, "value") ? "value" : "hash", h->value, sizeof h->value);
	h->name = strdup(text_of(in, "name"));
	h->pid = pid_of(json);
	h->line = number;
}

/* Returns the unit of a process, by pid and host as written; the default is microseconds. */
static struct unit *unit_of(struct oracle *o, const cJSON *json, const char *line)
{
	const cJSON *const args = cJSON_GetObjectItemCaseSensitive(json, "args");
	struct unit who = { .ns = 1000 };

	if (cJSON_HasObjectItem(json, "pid"))
		raw_value(line, "pid", who.pid, sizeof who.pid);
	if (cJSON_HasObjectItem(args, "hhash"))
		raw_value(strstr(line, "\"args\":"), "hhash", who.host, sizeof who.host);
	for (size_t i = 0; i < o->nunits; i++)
		if (strcmp(o->units[i].pid, who.pid) == 0 &&
		    (strcmp(o->units[i].host, who.host) == 0 || *who.host == '\0'))
			return &o->units[i];
	cr_assert_lt(o->nunits, MAX_UNITS);
	o->units[o->nunits] = who;
	return &o->units[o->nunits++];
}

static void read_metadata(struct oracle *o, const cJSON *json, const char *line, size_t number)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "NS", 1 }, { "US", 1000 }, { "MS", 1000000 }, { "SEC", 1000000000 } };
	const char *const name = text_of(json, "name");
	const cJSON *const args = cJSON_GetObjectItemCaseSensitive(json, "args");

	if (name != NULL && (strcmp(name, "HH") == 0 || strcmp(name, "FH") == 0 || strcmp(name, "SH") == 0))
		read_hash(o, json, line, number);
	if (name != NULL && strcmp(name, "CM") == 0 && strcmp(text_of(args, "name"), "time_metric") == 0)
		for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
			if (strcmp(text_of(args, "value"), units[i].name) == 0)
				unit_of(o, json, line)->ns = units[i].ns;
}

/* Returns the phase in the output, X, C or i; M for metadata; 0 for other records. */
static char phase_of(const cJSON *json)
{
	const cJSON *const ph = cJSON_GetObjectItemCaseSensitive(json, "ph"),
	                   *const args = cJSON_GetObjectItemCaseSensitive(json, "args");
	const char c = cJSON_IsString(ph) ? ph->valuestring[0]
	               : cJSON_IsNumber(ph) && ph->valuedouble >= 1 && ph->valuedouble <= 4
	                   ? "XCAM"[(int)ph->valuedouble - 1]
	                   : '\0';

	if (c == 'C' && (cJSON_HasObjectItem(args, "dft_cnt") ||
	                 cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(args, "dur"))))
		return 'i';
	return c == 'A' ? 'i' : c == 'H' ? 'M' : c;
}

static void read_line(struct oracle *o, const char *text, size_t n, size_t number)
{
	cJSON *const json = cJSON_ParseWithLength(text, n);
	const char ph = phase_of(json);
	char *const line = strndup(text, n);

	if (ph == 'M')
		read_metadata(o, json, line, number);
	if (ph != 'X' && ph != 'C' && ph != 'i') {
		cJSON_Delete(json);
		free(line);
		return;
	}
	if (o->n == o->cap) {
		o->cap = 2 * o->cap + 64;
		o->events = realloc(o->events, o->cap * sizeof *o->events);
		cr_assert(o->events != NULL);
	}
	o->events[o->n++] = (struct event){ json, line, number, ph, unit_of(o, json, line)->ns };
}

static void oracle_read(struct oracle *o, const char *text, size_t n)
{
	size_t number = 0;

	*o = (struct oracle){ .n = 0 };
	for (const char *p = text; p < text + n; number++) {
		const char *const nl = memchr(p, '\n', (size_t)(text + n - p)), *const e = nl != NULL
		                                                                               ? nl
		                                                                               : text + n;
		read_line(o, p, (size_t)(e - p), number);
		p = e + 1;
	}
}

static void oracle_free(struct oracle *o)
{
	for (size_t i = 0; i < o->n; i++) {
		cJSON_Delete(o->events[i].json);
		free(o->events[i].line);
	}
	for (size_t i = 0; i < o->nhashes; i++)
		free(o->hashes[i].name);
	free(o->events);
}

/* Returns the name of a hash in the process: the last before the line, else the first after it. */
static const char *name_of(const struct oracle *o, const char *kind, const char *value, double pid,
                           size_t line)
{
	const struct hash *before = NULL, *after = NULL;

	for (size_t i = 0; i < o->nhashes; i++) {
		const struct hash *const h = &o->hashes[i];
		if (strcmp(h->kind, kind) != 0 || strcasecmp(h->value, value) != 0 ||
		    (strlen(value) < 6 && h->pid != pid))
			continue;
		if (h->line < line)
			before = h;
		else if (after == NULL)
			after = h;
	}
	return before != NULL ? before->name : after != NULL ? after->name : NULL;
}

static const struct {
	const char *hash, *kind, *name;
} readable[] = {
	{ "hhash", "HH", "hostname" }, { "fhash", "FH", "fname" }, { "cmd_hash", "SH", "cmd" },
	{ "exec_hash", "SH", "exec" }, { "cwd", "FH", "cwd" },
};

/* Compares an argument that is a hash with the name in the output. */
static bool is_shown_by_name(const struct oracle *o, const struct event *e, const cJSON *arg,
                             const cJSON *shown)
{
	char value[40];

	for (size_t k = 0; k < sizeof readable / sizeof readable[0]; k++) {
		if (strcmp(arg->string, readable[k].hash) != 0)
			continue;
		raw_value(strstr(e->line, "\"args\":"), arg->string, value, sizeof value);
		const char *const name = name_of(o, readable[k].kind, value, pid_of(e->json), e->at);
		if (name == NULL)
			return false;
		cr_expect_str_eq(text_of(shown, readable[k].name), name, "%s of %s", arg->string, e->line);
		return true;
	}
	return false;
}

/* Compares digits: numbers of more than 53 bits are written as text, others unchanged. */
static void expect_same_digits(const struct event *e, const char *line, const char *key)
{
	char want[80], got[80];

	raw_value(strstr(e->line, "\"args\":"), key, want, sizeof want);
	raw_value(strstr(line, "\"args\":"), key, got, sizeof got);
	cr_expect_str_eq(got, want, "%s of %s", key, e->line);
}

static void expect_args(const struct oracle *o, const struct event *e, const char *line, const cJSON *shown)
{
	const cJSON *const args = cJSON_GetObjectItemCaseSensitive(e->json, "args"), *arg;

	cJSON_ArrayForEach(arg, args)
	{
		const cJSON *const got = cJSON_GetObjectItemCaseSensitive(shown, arg->string);
		/* counters have no host; their track has it */
		if (e->ph == 'C' && strcmp(arg->string, "hhash") == 0)
			continue;
		if (is_shown_by_name(o, e, arg, shown))
			continue;
		cr_assert_not_null(got, "%s is lost: %s", arg->string, e->line);
		if (cJSON_IsNumber(arg))
			expect_same_digits(e, line, arg->string);
		else
			cr_expect(cJSON_Compare(arg, got, true), "%s of %s", arg->string, e->line);
	}
}

/* Compares members of the record that become args, unless an argument has their name. */
static void expect_own_fields(const struct event *e, const cJSON *shown, const cJSON *ids)
{
	static const char *const keys[] = { "id", "type" };
	char want[40];

	for (size_t i = 0; i < 2; i++) {
		if (!cJSON_HasObjectItem(e->json, keys[i]) || e->ph == 'C')
			continue;
		const cJSON *const id = i == 0 ? cJSON_GetObjectItemCaseSensitive(ids, keys[i]) : NULL;
		const cJSON *const got = id != NULL ? id : cJSON_GetObjectItemCaseSensitive(shown, keys[i]);
		raw_value(e->line, keys[i], want, sizeof want);
		cr_assert_not_null(got, "%s of %s", keys[i], e->line);
		if (cJSON_IsString(got))
			cr_expect_str_eq(got->valuestring, want, "%s of %s", keys[i], e->line);
		else
			cr_expect_eq(got->valuedouble, strtod(want, NULL), "%s of %s", keys[i], e->line);
	}
}

/* Compares a time, in microseconds with three decimals. */
static void expect_time(const struct event *e, const char *line, const char *key)
{
	char raw[64], want[64], got[64];

	raw_value(e->line, key, raw, sizeof raw);
	const uint64_t ns = strtoull(raw, NULL, 10) * e->unit;
	snprintf(want, sizeof want, "%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
	raw_value(line, key, got, sizeof got);
	cr_expect_str_eq(got, want, "%s of %s", key, e->line);
}

/* Viewers have no process or thread 0, and distinguish processes by number alone: such processes get new
 * numbers, and the output declares the true ones. */
static void expect_who(const struct event *e, const char *line, const char *all)
{
	char want[40], got[40], declared[100];

	raw_value(e->line, "tid", want, sizeof want);
	raw_value(line, "tid", got, sizeof got);
	cr_expect(strcmp(got, want) == 0 || strstr(line, "\"true_tid\"") != NULL || e->ph == 'C', "%s", line);
	raw_value(e->line, "pid", want, sizeof want);
	raw_value(line, "pid", got, sizeof got);
	if (strcmp(want, got) == 0)
		return;
	snprintf(declared, sizeof declared, "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%s,", got);
	const char *const p = strstr(all, declared);
	cr_assert_not_null(p, "%s", line);
	snprintf(declared, sizeof declared, "\"true_pid\":%s,\"host\":\"", want);
	cr_expect(strstr(p, declared) != NULL && strstr(p, declared) < strchr(p, '\n'), "%s", line);
}

static void expect_event(const struct oracle *o, const struct event *e, const char *text, size_t n,
                         const char *all)
{
	cJSON *const json = cJSON_ParseWithLength(text, n);
	char *const line = strndup(text, n);
	const char ph[2] = { e->ph, '\0' };

	cr_assert_not_null(json, "%s", line);
	cr_expect_str_eq(text_of(json, "ph"), ph, "%s", line);
	cr_expect_str_eq(text_of(json, "name"), text_of(e->json, "name"));
	cr_expect_str_eq(text_of(json, "cat"), text_of(e->json, "cat"));
	expect_time(e, line, "ts");
	if (e->ph == 'X')
		expect_time(e, line, "dur");
	expect_who(e, line, all);
	expect_args(o, e, line, cJSON_GetObjectItemCaseSensitive(json, "args"));
	expect_own_fields(e, cJSON_GetObjectItemCaseSensitive(json, "args"),
	                  cJSON_GetObjectItemCaseSensitive(json, "ids"));
	free(line);
	cJSON_Delete(json);
}

static bool is_event(const char *p, size_t n)
{
	return memmem(p, n, "\"ph\":\"X\"", 8) != NULL || memmem(p, n, "\"ph\":\"C\"", 8) != NULL ||
	       memmem(p, n, "\"ph\":\"i\"", 8) != NULL;
}

static void expect_conversion(const char *path)
{
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "--to", "chrome", "--lanes", "off", path, "-", NULL }, NULL, 0);
	struct oracle *const o = malloc(sizeof *o);
	struct ran unpacked = { .status = 0 };
	size_t n, i = 0;
	char *const file = read_whole(path, &n), *text = file;

	cr_assert(o != NULL && file != NULL, "%s", path);
	if (n > 2 && memcmp(file, "\x1f\x8b", 2) == 0) {
		unpacked = run_program((const char *const[]){ "gzip", "-dc", path, NULL }, NULL, 0);
		text = unpacked.out;
		n = unpacked.out_n;
	}
	oracle_read(o, text, n);
	cr_expect_eq(r.status, 0, "%s: exit status %d: %s", path, r.status, r.err);
	for (const char *p = r.out; *p != '\0';) {
		const size_t line = strcspn(p, "\n"), bare = line > 0 && p[line - 1] == ',' ? line - 1 : line;
		if (is_event(p, bare)) {
			cr_assert_lt(i, o->n, "%s", path);
			expect_event(o, &o->events[i++], p, bare, r.out);
		}
		p += line + (p[line] == '\n');
	}
	cr_expect_eq(i, o->n, "%s: %zu of %zu events", path, i, o->n);
	if (text != file)
		ran_free(&unpacked);
	free(file);
	oracle_free(o);
	free(o);
	ran_free(&r);
}

#define GOOD "testdata/dftracer/good"

Test(dftracer_convert, every_field_of_every_event_of_the_samples)
{
	char **const names = list_folder(GOOD, "");
	char path[400];

	cr_assert_not_null(names[0]);
	for (size_t i = 0; names[i] != NULL; i++) {
		if (strstr(names[i], ".pfw") == NULL)
			continue;
		snprintf(path, sizeof path, GOOD "/%s", names[i]);
		expect_conversion(path);
	}
	list_free(names);
}

Test(dftracer_convert, every_field_of_every_event_of_real_traces)
{
	const char *const dir = real_traces();
	char path[1024];

	snprintf(path, sizeof path, "%s/dftracer", dir);
	char **const names = list_folder(path, "");
	cr_assert_not_null(names[0]);
	for (size_t i = 0; names[i] != NULL; i++) {
		if (strstr(names[i], ".pfw") == NULL)
			continue;
		snprintf(path, sizeof path, "%s/dftracer/%s", dir, names[i]);
		expect_conversion(path);
	}
	list_free(names);
}
