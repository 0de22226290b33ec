/*
 * Fast path: whole lines with one clean record each, laid out like an earlier record.
 *
 * The bytes between the values of records repeat, so they are stored as a tree of literals (a trie), learned
 * from records that the parser of record.c accepted.  A record that follows a known path needs no parsing:
 * each literal is compared, each value is checked.  The start of a value and the end of a string follow from
 * the positions of the quotes, so no field has to wait for the field before it.
 *
 * If no events are wanted, most records need no further steps either: see count_common().  All other lines
 * are left to dft_line_next(), which gives the same results.
 */
#include <stdlib.h>

#include "dftracer/dftracer.h"

#define MAX_NODES 4096
#define MAX_SHAPES 512
#define MAX_PATH_ARGS 200
#define MAX_LITERAL 24 /* bytes */
#define MAX_SIBLINGS 12

/* Targets of values, in addition to enum dft_top. */
#define TARGET_END 255 /* no value: the line ends */
#define TARGET_ARG 254 /* an argument */

/* Properties of the records of a complete path, unless a number turns out to be of another kind. */
struct dft_shape {
	uint64_t shape, hashes;
	uint32_t nargs;
	uint16_t special[DFT_ROLES];
};

/* A literal and the value after it. */
struct dft_node {
	uint64_t literal[MAX_LITERAL / 8], mask[MAX_LITERAL / 8];
	struct dft_node *sibling, *child;
	const struct dft_shape *shape; /* at the end of a path */
	struct dft_arg arg;            /* TARGET_ARG: all but the positions */
	uint8_t n;                     /* bytes of the literal */
	uint8_t quotes;                /* in the literal */
	uint8_t after_quote;           /* bytes from the last quote to the value */
	uint8_t target;                /* enum dft_top, TARGET_ARG or TARGET_END */
	uint8_t kind;                  /* of the value; kinds other than JSON_STRING may vary */
	uint8_t key_back;              /* bytes from the start of the key to the value */
};

/* ---- following a path ---- */

bool dft_paths_init(struct dft_paths *x)
{
	x->nodes = calloc(MAX_NODES, sizeof *x->nodes);
	x->shapes = calloc(MAX_SHAPES, sizeof *x->shapes);
	x->n = 1;
	return x->nodes != NULL && x->shapes != NULL;
}

void dft_paths_free(struct dft_paths *x)
{
	free(x->nodes);
	free(x->shapes);
	*x = (struct dft_paths){ .nodes = NULL };
}

/* Returns the first byte that is not a digit; the line end is such a byte.  Carries of the addition change
 * only the bytes after it. */
static inline const char *skip_digits(const char *p)
{
	for (;; p += 8) {
		const uint64_t w = load_u64(p, false) ^ UINT64_C(0x3030303030303030);
		const uint64_t other =
		    ((w + UINT64_C(0x0606060606060606)) | w) & UINT64_C(0xf0f0f0f0f0f0f0f0);
		if (other != 0)
			return p + (__builtin_ctzll(other) >> 3);
	}
}

/* Returns the end of a number, object, array or keyword; NULL if it is none of these or has a flaw. */
static const char *rare_value(struct dft_record *rec, uint8_t target, const char *v, const char *e,
                              enum json_kind *kind)
{
	const char *q;

	if (*v == '"' || (*v == '{' && target == DFT_ARGS)) /* arguments have a path of their own */
		return NULL;
	if (*v == '{' || *v == '[')
		q = json_nested(&rec->json, v, e, kind);
	else
		q = json_scalar(&rec->json, v, e, kind);
	return rec->json.nflaws == 0 ? q : NULL;
}

static inline bool matches(const struct dft_node *n, const char *p)
{
	const uint64_t differs = ((load_u64(p, false) ^ n->literal[0]) & n->mask[0]) |
	                         ((load_u64(p + 8, false) ^ n->literal[1]) & n->mask[1]);

	return differs == 0 && (n->n <= 16 || ((load_u64(p + 16, false) ^ n->literal[2]) & n->mask[2]) == 0);
}

/* Returns the child whose literal is at p. */
static inline const struct dft_node *next_node(const struct dft_node *at, const char *p)
{
	const struct dft_node *n = at->child;

	while (n != NULL && !matches(n, p))
		n = n->sibling;
	return n;
}

/* Reads a value that is not a string, and of another kind than the node's. */
static const char *other_value(struct dft_record *rec, const struct dft_node *n, struct dft_arg *a,
                               const char *v, const char *e)
{
	enum json_kind kind;
	const char *end;

	if (*v == '-' && (end = skip_digits(v + 1)) > v + 1 && (v[1] != '0' || end == v + 2) &&
	    (*end == ',' || *end == '}'))
		kind = JSON_INT;
	else
		end = rare_value(rec, n->target, v, e, &kind);
	if (end == NULL)
		return NULL;
	if (n->target == TARGET_ARG)
		a->kind = (uint8_t)kind;
	else
		rec->shape ^= (uint64_t)(kind ^ n->kind) << 4 * n->target;
	return end;
}

static inline bool is_unsigned_number(const char *v, const char *end)
{
	return end > v && (*end == ',' || *end == '}') && (*v != '0' || end - v == 1);
}

static void apply_shape(struct dft_record *rec, const struct dft_shape *shape)
{
	rec->shape ^= shape->shape;
	rec->hashes = shape->hashes;
	rec->nargs = shape->nargs;
	memcpy(rec->special, shape->special, sizeof rec->special);
	rec->nextras = 0;
	rec->clean = true;
	rec->too_many = false;
}

bool dft_paths_follow(const struct dft_paths *x, struct dft_record *rec, const char *base,
                      const uint32_t **quotes, const char *p, const char *e)
{
	const char *const start = p;
	const uint32_t line_end = (uint32_t)(e - base);
	struct dft_arg *a = rec->args;
	const struct dft_node *n = next_node(x->nodes, p);
	const uint32_t *q = *quotes;

	rec->shape = 0; /* until the end of the path: differences from the path's shape */
	json_clear(&rec->json);
	rec->p = p;
	for (; n != NULL && n->target != TARGET_END; n = next_node(n, p)) {
		struct dft_token *token;
		/* q is at the first quote of the literal, since values leave no quotes unread */
		q += n->quotes;
		const char *const v = base + q[-1] + n->after_quote;
		const char *end;
		if (n->target == TARGET_ARG) {
			*a = n->arg;
			a->key.at = (uint32_t)(v - start) - n->key_back;
			token = &a->value;
			a++;
		} else {
			token = &rec->top[n->target];
		}
		if (n->kind == JSON_STRING) {
			end = base + *q;
			if (*q++ >= line_end)
				return false;
			p = end + 1;
		} else {
			p = end = skip_digits(v);
			if (n->kind != JSON_UINT || !is_unsigned_number(v, end)) {
				p = end = other_value(rec, n, a - 1, v, e);
				if (end == NULL)
					return false;
				while (*q < (uint32_t)(end - base))
					q++;
			}
		}
		*token = (struct dft_token){ (uint32_t)(v - start), (uint32_t)(end - v) };
	}
	if (n == NULL || p + n->n != e)
		return false;
	*quotes = q + n->quotes;
	rec->end = e;
	apply_shape(rec, n->shape);
	return true;
}

/* ---- learning a path ---- */

/* A value of a record. */
struct stop {
	struct dft_token value;
	const struct dft_arg *arg; /* NULL: a member of the record itself */
	uint8_t kind, target;
};

/* Inserts a stop in file order. */
static void add_stop(struct stop *stops, uint32_t *n, struct stop stop)
{
	uint32_t i = (*n)++;

	for (; i > 0 && stops[i - 1].value.at > stop.value.at; i--)
		stops[i] = stops[i - 1];
	stops[i] = stop;
}

static uint32_t list_stops(const struct dft_record *rec, struct stop *stops)
{
	uint32_t n = 0;

	for (int i = 0; i < DFT_TOPS; i++) {
		const enum json_kind kind = dft_top_kind(rec, (enum dft_top)i);
		if (kind != JSON_ABSENT && !(i == DFT_ARGS && kind == JSON_OBJECT))
			add_stop(stops, &n, (struct stop){ rec->top[i], NULL, (uint8_t)kind, (uint8_t)i });
	}
	for (uint32_t i = 0; i < rec->nargs; i++)
		add_stop(stops, &n,
		         (struct stop){ rec->args[i].value, &rec->args[i], rec->args[i].kind, TARGET_ARG });
	return n;
}

/* Returns the node of a literal of 1 to MAX_LITERAL bytes. */
static struct dft_node make_node(const char *p, uint32_t n)
{
	struct dft_node node = { .n = (uint8_t)n, .after_quote = 1 };
	char bytes[MAX_LITERAL] = { 0 }, mask[MAX_LITERAL] = { 0 };

	memcpy(bytes, p, n);
	memset(mask, -1, n);
	for (uint32_t i = 0; i < MAX_LITERAL / 8; i++) {
		node.literal[i] = load_u64(bytes + 8 * i, false);
		node.mask[i] = load_u64(mask + 8 * i, false);
	}
	for (uint32_t i = 0; i < n; i++)
		if (p[i] == '"') {
			node.quotes++;
			node.after_quote = (uint8_t)(n - i);
		}
	return node;
}

/* Finds or creates the child of `at` that equals this node; NULL if there are too many.  Longer literals are
 * first: `"a":"` must be tried before `"a":`, which no string may follow. */
static struct dft_node *add_child(struct dft_paths *x, struct dft_node *at, const struct dft_node *node)
{
	struct dft_node **link = &at->child;
	uint32_t siblings = 0;

	for (; *link != NULL && (*link)->n >= node->n; link = &(*link)->sibling, siblings++)
		if ((*link)->n == node->n &&
		    memcmp((*link)->literal, node->literal, sizeof node->literal) == 0)
			return *link;
	for (const struct dft_node *k = *link; k != NULL; k = k->sibling)
		siblings++;
	if (siblings >= MAX_SIBLINGS)
		return NULL;
	struct dft_node *const child = &x->nodes[x->n++];
	*child = *node;
	child->sibling = *link;
	return *link = child;
}

static struct dft_node *add_value(struct dft_paths *x, struct dft_node *at, const struct dft_record *rec,
                                  const struct stop *s, uint32_t from)
{
	struct dft_node node = make_node(rec->p + from, s->value.at - from);

	node.target = s->target;
	node.kind = s->kind;
	if (s->arg != NULL) {
		node.arg = *s->arg;
		node.key_back = (uint8_t)(s->value.at - s->arg->key.at);
	}
	return add_child(x, at, &node);
}

/* Adds the literal that ends the line, with the shape of its path. */
static void add_end(struct dft_paths *x, struct dft_node *at, const struct dft_record *rec, uint64_t kinds,
                    uint32_t from)
{
	struct dft_node node = make_node(rec->p + from, (uint32_t)(rec->end - rec->p) - from);
	struct dft_shape *const shape = &x->shapes[x->nshapes];

	node.target = TARGET_END;
	node.shape = shape;
	const struct dft_node *const end = add_child(x, at, &node);
	if (end == NULL || end->shape != shape)
		return;
	*shape = (struct dft_shape){ .shape = kinds, .hashes = rec->hashes, .nargs = rec->nargs };
	memcpy(shape->special, rec->special, sizeof shape->special);
	x->nshapes++;
}

void dft_paths_learn(struct dft_paths *x, const struct dft_record *rec)
{
	struct stop stops[MAX_PATH_ARGS + DFT_TOPS];
	struct dft_node *at;
	uint64_t kinds = rec->shape;
	uint32_t from = 0;

	if (rec->nargs > MAX_PATH_ARGS)
		return;
	const uint32_t n = list_stops(rec, stops);
	if (x->n + n + 1 > MAX_NODES || x->nshapes == MAX_SHAPES) { /* endless new shapes: start over */
		x->nodes[0].child = NULL;
		x->n = 1;
		x->nshapes = 0;
	}
	at = &x->nodes[0];
	for (uint32_t i = 0; i < n; i++) {
		if (stops[i].value.at - from > MAX_LITERAL ||
		    (at = add_value(x, at, rec, &stops[i], from)) == NULL)
			return;
		if (stops[i].arg == NULL) /* the path's kind may be that of an earlier record */
			kinds ^= (uint64_t)(stops[i].kind ^ at->kind) << 4 * stops[i].target;
		from = stops[i].value.at + stops[i].value.n + (stops[i].kind == JSON_STRING);
	}
	if ((uint32_t)(rec->end - rec->p) - from <= MAX_LITERAL)
		add_end(x, at, rec, kinds, from);
}

/* ---- common records without events ---- */

/*
 * Most records of a trace are complete events of the same process as the record before, with known hashes.
 * Their only possible finding is a repeated id: dft_record_process() would change the same counts.
 */

/* Digits of ts and dur whose sum fits 64 bits as ns ... */
#define COMMON_TS 16
#define COMMON_DUR 8
#define COMMON_UNIT 1000 /* ... in units of at most 1000 ns */

/* Returns whether the numbers are free of findings.  The pid is checked in same_process(). */
static inline bool has_common_numbers(const struct dft_record *rec)
{
	const struct dft_token *const t = rec->top;

	return t[DFT_TS].n <= COMMON_TS && t[DFT_DUR].n <= COMMON_DUR && t[DFT_TID].n < 20 &&
	       json_few_digits(t[DFT_PID].at, t[DFT_PID].n) && json_few_digits(t[DFT_ID].at, t[DFT_ID].n);
}

/* Excludes categories of eight letters, as "dftracer": its events may start or end a process. */
static inline bool is_common(const struct dft_record *rec)
{
	return rec->shape == DFT_USUAL_COMPLETE && rec->top[DFT_PH].n == 1 &&
	       rec->p[rec->top[DFT_PH].at] == 'X' && rec->top[DFT_CAT].n != 8 &&
	       rec->special[DFT_ROLE_HHASH] != 0 &&
	       (rec->special[DFT_ROLE_HOSTNAME] | rec->special[DFT_ROLE_FNAME]) == 0;
}

static inline uint64_t few_digits(const struct dft_record *rec, enum dft_top which)
{
	const struct dft_token t = rec->top[which];

	return json_last_digits(rec->p + t.at + t.n, t.n);
}

/* Returns the process of the last record if it is also this record's and its host has a name; else NULL. */
static inline struct dft_process *same_process(const struct dft_state *st, const struct dft_record *rec,
                                               const struct dft_arg *host)
{
	const struct dft_shared *const sh = st->sh;
	struct dft_process *const p = sh->processes.last;

	if (p == NULL || host->kind > JSON_STRING || p->pid != few_digits(rec, DFT_PID) ||
	    p->host_name.p == NULL || p->host_known != sh->names.hosts_defined || p->unit > COMMON_UNIT)
		return NULL;
	return dft_same_host(dft_host_text(&sh->numbers, p->host), dft_token_text(rec, host->value)) ? p
	                                                                                             : NULL;
}

/* Returns whether all hashes but the host's are defined; *texts: number of hashes that are text. */
static inline bool has_defined_hashes(struct dft_state *st, const struct dft_record *rec, uint64_t pid,
                                      uint32_t *texts)
{
	for (uint64_t left = rec->hashes; left != 0; left &= left - 1) {
		const struct dft_arg *const a = &rec->args[__builtin_ctzll(left)];
		struct dft_recent_hash key;
		*texts += a->kind == JSON_STRING;
		if (a->role == DFT_ROLE_HHASH)
			continue;
		if (!dft_recent_key(rec, a, pid, &key) ||
		    !dft_recent_matches(dft_recent_slot(&st->sh->names, &key), &key))
			return false;
	}
	return *texts == 0 || st->tallies[DFT_HASHES_AS_TEXT].found.count > 0;
}

/* Replaces dft_record_process() for a common record if no events are wanted.  Returns false, having done
 * nothing, for other records.  DFT_SPARE bytes after the record must be readable. */
static bool count_common(struct dft_state *st, const struct dft_record *rec)
{
	if (!is_common(rec) || !has_common_numbers(rec))
		return false;
	const struct dft_arg *const host = &rec->args[rec->special[DFT_ROLE_HHASH] - 1];
	struct dft_process *const p = same_process(st, rec, host);
	uint32_t texts = 0;
	if (p == NULL || !has_defined_hashes(st, rec, p->pid, &texts) ||
	    (!st->mixed_reported && dft_signature(rec, DFT_PHASE_COMPLETE) != st->last_signature))
		return false;
	p->records++;
	p->calls++;
	st->r->records++;
	st->r->trace->events++;
	st->tallies[DFT_HASHES_AS_TEXT].found.count += texts;
	if (idset_add(&st->sh->ids, dft_id_base(p) + few_digits(rec, DFT_ID)))
		dft_tally_add(st, DFT_IDS_REPEATED, dft_record_position(rec), dft_top_text(rec, DFT_ID));
	return true;
}

/* ---- lines ---- */

#define FAST_BYTES (256 << 10) /* per call, about: bytes that are copied stay in the cache */

/* Skips positions of the index that are before the window. */
static void skip_positions(struct dft_state *st)
{
	const uint32_t at = (uint32_t)(st->r->in->p - st->index->base);

	while (*st->lines < at)
		st->lines++;
	while (*st->quotes < at)
		st->quotes++;
	while (*st->odd < at)
		st->odd++;
}

/* Makes an index of the start of the window unless there is one.  Returns false if it has no line end. */
static bool index_window(struct dft_state *st)
{
	struct input *const in = st->r->in;
	struct json_index *const ix = st->index;

	if (ix->base != NULL && (size_t)(in->p - ix->base) < ix->n) {
		skip_positions(st);
		if (*st->lines != UINT32_MAX)
			return true;
	}
	json_index_make(ix, st->scanner, in->p, (size_t)(in->end - in->p));
	st->lines = ix->lines.at;
	st->quotes = ix->quotes.at;
	st->odd = ix->odd.at;
	return *st->lines != UINT32_MAX;
}

/* Parses a clean line that follows no known path.  If it is a valid record, the next of its kind will. */
static bool learn_line(struct dft_state *st, const char *e)
{
	struct dft_record *const rec = &st->record;

	if (!dft_parse(rec, &st->keys, st->r->in->p, e) || rec->end != e || rec->json.nflaws > 0 ||
	    rec->nextras > 0 || rec->too_many)
		return false;
	if (!st->raw_fields)
		dft_paths_learn(&st->paths, rec);
	rec->clean = true;
	while (*st->quotes < (uint32_t)(e - st->index->base))
		st->quotes++;
	return true;
}

/* Reads the lines of the index.  Returns false at a line that is left to dft_line_next(), or if the batch is
 * full. */
static bool read_lines(struct dft_state *st, struct batch *b)
{
	struct input *const in = st->r->in;
	struct dft_record *const rec = &st->record;
	const char *const base = st->index->base;
	const bool raw = st->raw && !st->in_run, members = st->raw_fields;
	const bool count_only = st->no_events || st->in_run;

	for (; *st->lines != UINT32_MAX; st->lines++) {
		const char *const e = base + *st->lines;
		for (const char *q = in->p; q < e; q += 64)
			__builtin_prefetch(q + JSON_CHUNK); /* the next index is made from these bytes */
		if (b->n == b->cap || *in->p != '{' || *st->odd < *st->lines ||
		    (size_t)(in->end - e) < DFT_SPARE)
			return false;
		if ((members || !dft_paths_follow(&st->paths, rec, base, &st->quotes, in->p, e)) &&
		    !learn_line(st, e))
			return false;
		rec->offset = input_offset(in, in->p);
		rec->line = st->line.number;
		rec->column = 1;
		rec->ordinal = st->r->records + 1;
		if (!count_only || !count_common(st, rec))
			dft_record_process(st, b);
		if (st->no_memory)
			return false;
		if (raw)
			dft_raw_set_bytes(st, b, rec, e + 1);
		in->p = e + 1;
		st->line.number++;
		st->line.start = rec->offset + (uint64_t)(in->p - rec->p);
	}
	return true;
}

void dft_lines_fast(struct dft_state *st, struct batch *b)
{
	struct input *const in = st->r->in;
	const char *const from = in->p;
	/* a look-ahead pass skips lines before each call */
	const ptrdiff_t max = st->ahead ? 1 : FAST_BYTES;

	if (b->n == b->cap || st->line.begun || st->closed || st->trailer)
		return;
	st->in_run = st->runs && st->r->records > 0;
	while (in->p < in->end && in->p - from < max && index_window(st) && read_lines(st, b))
		;
	if (st->in_run && in->p > from && !st->no_memory)
		dft_raw_add_run(st, b, slice_of(from, (size_t)(in->p - from)));
	st->in_run = false;
}
