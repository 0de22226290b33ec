/*
 * Paths: layouts of earlier records.  The bytes between the values of records repeat, so they are stored as a
 * tree of literals (a trie), learned from records that the parser accepted (record.c).  A record that follows
 * a known path is not parsed: each literal is compared, each value is checked.
 *
 * Threads that follow paths may see a new node or not; they see all of it, as it is linked last.
 */
#include <stdlib.h>

#include "base/pieces.h"
#include "dftracer/dftracer.h"

#define MAX_NODES 4096
#define MAX_SHAPES 512
#define MAX_LITERAL 24 /* bytes */
#define MAX_SIBLINGS 12
#define MAX_CREDIT 1024 /* layouts that may be learned before records follow them */
#define PROBES 16       /* without credit, one in so many layouts is learned */

/* Targets of values, in addition to enum dft_top. */
#define TARGET_END 255 /* no value: the line ends */
#define TARGET_ARG 254 /* an argument */

/* A literal and the value after it. */
struct dft_node {
	uint64_t literal[MAX_LITERAL / 8], mask[MAX_LITERAL / 8];
	struct dft_node *_Atomic sibling, *_Atomic child;
	const struct dft_shape *shape; /* at the end of a path */
	struct dft_arg arg;            /* TARGET_ARG: all but the positions */
	uint8_t n;                     /* bytes of the literal */
	uint8_t quotes;                /* in the literal */
	uint8_t after_quote;           /* bytes from the last quote to the value */
	uint8_t target;                /* enum dft_top, TARGET_ARG or TARGET_END */
	uint8_t kind;                  /* of the value; kinds other than JSON_STRING may vary */
	uint8_t key_back;              /* bytes from the start of the key to the value */
};

bool dft_paths_init(struct dft_paths *x)
{
	x->nodes = calloc(MAX_NODES, sizeof *x->nodes);
	x->shapes = calloc(MAX_SHAPES, sizeof *x->shapes);
	x->n = 1;
	x->credit = MAX_CREDIT;
	return x->nodes != NULL && x->shapes != NULL;
}

void dft_paths_free(struct dft_paths *x)
{
	free(x->nodes);
	free(x->shapes);
	*x = (struct dft_paths){ .nodes = NULL };
}

/* ---- following a path ---- */

/* The start of a value and the end of a string follow from the positions of the quotes, so no field has to
 * wait for the field before it. */

/* Returns the first byte that is not a digit; the line end is such a byte. */
static inline const char *skip_digits(const char *p)
{
	for (;; p += 8) {
		const uint64_t other = json_other_than_digits(p);
		if (other != 0)
			return p + (low_bit(other) >> 3);
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

const struct dft_shape *dft_paths_follow(const struct dft_paths *x, struct dft_record *rec, const char *base,
                                         const uint32_t **quotes, const char *p, const char *e)
{
	const char *const start = p;
	const uint32_t line_end = (uint32_t)(e - base);
	struct dft_arg *a = rec->args;
	const struct dft_node *n = next_node(x->nodes, p);
	const uint32_t *q = *quotes;

	rec->shape = 0; /* until the end of the path: differences from the path's shape */
	json_clear(&rec->json);
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
				return NULL;
			p = end + 1;
		} else {
			p = end = skip_digits(v);
			if (n->kind != JSON_UINT || !is_unsigned_number(v, end)) {
				p = end = other_value(rec, n, a - 1, v, e);
				if (end == NULL)
					return NULL;
				while (*q < (uint32_t)(end - base))
					q++;
			}
		}
		*token = (struct dft_token){ (uint32_t)(v - start), (uint32_t)(end - v) };
	}
	if (n == NULL || p + n->n != e)
		return NULL;
	*quotes = q + n->quotes;
	rec->shape ^= n->shape->kinds;
	return n->shape;
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
	struct dft_node *_Atomic *link = &at->child;
	uint32_t siblings = 0;

	for (struct dft_node *k; (k = *link) != NULL && k->n >= node->n; link = &k->sibling, siblings++)
		if (k->n == node->n && memcmp(k->literal, node->literal, sizeof node->literal) == 0)
			return k;
	for (const struct dft_node *k = *link; k != NULL; k = k->sibling)
		siblings++;
	if (siblings >= MAX_SIBLINGS)
		return NULL;
	struct dft_node *const child = &x->nodes[x->n++];
	*child = *node;
	child->sibling = *link;
	*link = child;
	return child;
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
	*shape = (struct dft_shape){ .kinds = kinds, .hashes = rec->hashes, .nargs = rec->nargs };
	memcpy(shape->special, rec->special, sizeof shape->special);
	const struct dft_node *const end = add_child(x, at, &node);
	x->nshapes += end != NULL && end->shape == shape;
}

/* Drops all paths, and with them the pieces that followed them. */
static void start_over(struct dft_paths *x)
{
	if (x->followers != NULL)
		pieces_settle(x->followers);
	x->nodes[0].child = NULL;
	x->n = 1;
	x->nshapes = 0;
	x->restarts++;
}

/* Whether learning is worth its time, which is about half that of parsing: each layout uses one
 * credit; each record since the last call, which followed a path, adds one. */
static bool pays(struct dft_paths *x, uint64_t ordinal)
{
	const uint64_t followed = ordinal - x->ordinal - 1;

	x->ordinal = ordinal;
	x->credit = followed < MAX_CREDIT - x->credit ? x->credit + (uint32_t)followed : MAX_CREDIT;
	if (x->credit == 0)
		return ++x->unlearned % PROBES == 0;
	x->credit--;
	return true;
}

void dft_paths_learn(struct dft_paths *x, const struct dft_record *rec, uint64_t ordinal)
{
	struct stop stops[DFT_MAX_PATH_ARGS + DFT_TOPS];
	struct dft_node *at;
	uint64_t kinds = rec->shape;
	uint32_t from = 0;

	if (!pays(x, ordinal) || rec->nargs > DFT_MAX_PATH_ARGS)
		return;
	const uint32_t n = list_stops(rec, stops);
	if (x->n + n + 1 > MAX_NODES || x->nshapes == MAX_SHAPES) /* endless new shapes */
		start_over(x);
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
