#include <stdlib.h>

#include "dftracer/paths.h"

bool
dft_paths_init(struct dft_paths *x)
{
	x->nodes = calloc(DFT_MAX_NODES, sizeof *x->nodes);
	x->shapes = calloc(DFT_MAX_SHAPES, sizeof *x->shapes);
	x->n = 1;
	return x->nodes != NULL && x->shapes != NULL;
}

void
dft_paths_free(struct dft_paths *x)
{
	free(x->nodes);
	free(x->shapes);
	*x = (struct dft_paths){ .nodes = NULL };
}

/* ---- following ---- */

/* The first byte that is no digit; the line end is one.  What carries of the addition change only bytes
 * behind it. */
static inline const char *
skip_digits(const char *p)
{
	for (;; p += 8) {
		const uint64_t w = load_u64(p, false) ^ UINT64_C(0x3030303030303030);
		const uint64_t other =
		    ((w + UINT64_C(0x0606060606060606)) | w) & UINT64_C(0xf0f0f0f0f0f0f0f0);
		if (other != 0)
			return p + (__builtin_ctzll(other) >> 3);
	}
}

/* Behind a number, an object, an array or a word; NULL: it is none, or not without a fault. */
static const char *
rare_value(struct dft_record *rec, uint8_t which, const char *v, const char *e, enum json_kind *kind)
{
	const char *q;

	if (*v == '"' ||
	    (*v == '{' && which == DFT_ARGS)) /* arguments are no value, but a path of their own */
		return NULL;
	if (*v == '{' || *v == '[')
		q = json_nested(&rec->json, v, e, kind);
	else
		q = json_scalar(&rec->json, v, e, kind);
	return rec->json.nflaws == 0 ? q : NULL;
}

static inline bool
matches(const struct dft_node *n, const char *p)
{
	const uint64_t differs = ((load_u64(p, false) ^ n->literal[0]) & n->mask[0]) |
	                         ((load_u64(p + 8, false) ^ n->literal[1]) & n->mask[1]);

	return differs == 0 && (n->n <= 16 || ((load_u64(p + 16, false) ^ n->literal[2]) & n->mask[2]) == 0);
}

/* The child whose literal stands at p; NULL: none. */
static inline const struct dft_node *
next_node(const struct dft_node *at, const char *p)
{
	const struct dft_node *n = at->child;

	while (n != NULL && !matches(n, p))
		n = n->sibling;
	return n;
}

/* A value that is no text, and of another kind than the path's first. */
static const char *
other_value(struct dft_record *rec, const struct dft_node *n, struct dft_arg *a, const char *v, const char *e)
{
	enum json_kind kind;
	const char *end;

	if (*v == '-' && (end = skip_digits(v + 1)) > v + 1 && (v[1] != '0' || end == v + 2) &&
	    (*end == ',' || *end == '}'))
		kind = JSON_INT;
	else
		end = rare_value(rec, n->what, v, e, &kind);
	if (end == NULL)
		return NULL;
	if (n->what == DFT_PATH_ARG)
		a->kind = (uint8_t)kind;
	else
		rec->shape ^= (uint64_t)(kind ^ n->kind) << 4 * n->what;
	return end;
}

static inline bool
is_plain_number(const char *v, const char *end)
{
	return end > v && (*end == ',' || *end == '}') && (*v != '0' || end - v == 1);
}

/* What the complete path says. */
static void
take_shape(struct dft_record *rec, const struct dft_shape *shape)
{
	rec->shape ^= shape->shape;
	rec->hashes = shape->hashes;
	rec->nargs = shape->nargs;
	memcpy(rec->special, shape->special, sizeof rec->special);
	rec->nextras = 0;
	rec->clean = true;
	rec->too_many = false;
}

bool
dft_paths_follow(const struct dft_paths *x, struct dft_record *rec, const char *base, const uint32_t **quotes,
                 const char *p, const char *e)
{
	const char *const start = p;
	const uint32_t line_end = (uint32_t)(e - base);
	struct dft_arg *a = rec->args;
	const struct dft_node *n = next_node(x->nodes, p);
	const uint32_t *q = *quotes;

	rec->shape = 0; /* what differs from the path's */
	json_clear(&rec->json);
	rec->p = p;
	for (; n != NULL && n->what != DFT_PATH_END; n = next_node(n, p)) {
		struct dft_token *token;
		/* q is at the first quote of the literal, for no value leaves one behind */
		q += n->quotes;
		const char *const v = base + q[-1] + n->after;
		const char *end;
		if (n->what == DFT_PATH_ARG) {
			*a = n->arg;
			a->key.at = (uint32_t)(v - start) - n->key_back;
			token = &a->value;
			a++;
		} else {
			token = &rec->top[n->what];
		}
		if (n->kind == JSON_STRING) {
			end = base + *q;
			if (*q++ >= line_end)
				return false;
			p = end + 1;
		} else {
			p = end = skip_digits(v);
			if (n->kind != JSON_UINT || !is_plain_number(v, end)) {
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
	take_shape(rec, n->shape);
	return true;
}

/* ---- learning ---- */

/* A value of a record, in the order in which they stand there. */
struct stop {
	struct dft_token value;
	const struct dft_arg *arg; /* NULL: a field of the record itself */
	uint8_t kind, top;
};

static void
add_stop(struct stop *stops, uint32_t *n, struct stop one)
{
	uint32_t i = (*n)++;

	for (; i > 0 && stops[i - 1].value.at > one.value.at; i--)
		stops[i] = stops[i - 1];
	stops[i] = one;
}

static uint32_t
find_stops(const struct dft_record *rec, struct stop *stops)
{
	uint32_t n = 0;

	for (int i = 0; i < DFT_TOPS; i++) {
		const enum json_kind kind = dft_top_kind(rec, (enum dft_top)i);
		if (kind != JSON_ABSENT && !(i == DFT_ARGS && kind == JSON_OBJECT))
			add_stop(stops, &n, (struct stop){ rec->top[i], NULL, (uint8_t)kind, (uint8_t)i });
	}
	for (uint32_t i = 0; i < rec->nargs; i++)
		add_stop(stops, &n,
		         (struct stop){ rec->args[i].value, &rec->args[i], rec->args[i].kind, DFT_PATH_ARG });
	return n;
}

/* The node of a literal at p of n bytes (1 to DFT_LITERAL). */
static struct dft_node
make_node(const char *p, uint32_t n)
{
	struct dft_node node = { .n = (uint8_t)n, .after = 1 };
	char bytes[DFT_LITERAL] = { 0 }, mask[DFT_LITERAL] = { 0 };

	memcpy(bytes, p, n);
	memset(mask, -1, n);
	for (uint32_t i = 0; i < DFT_LITERAL / 8; i++) {
		node.literal[i] = load_u64(bytes + 8 * i, false);
		node.mask[i] = load_u64(mask + 8 * i, false);
	}
	for (uint32_t i = 0; i < n; i++)
		if (p[i] == '"') {
			node.quotes++;
			node.after = (uint8_t)(n - i);
		}
	return node;
}

/* The child of `at` that is this node, made if need be; NULL: there are too many.  Longer literals come
 * first: `"a":"` must be asked for before `"a":`, behind which no text may come. */
static struct dft_node *
step(struct dft_paths *x, struct dft_node *at, const struct dft_node *node)
{
	struct dft_node **link = &at->child;
	uint32_t siblings = 0;

	for (; *link != NULL && (*link)->n >= node->n; link = &(*link)->sibling, siblings++)
		if ((*link)->n == node->n &&
		    memcmp((*link)->literal, node->literal, sizeof node->literal) == 0)
			return *link;
	for (const struct dft_node *k = *link; k != NULL; k = k->sibling)
		siblings++;
	if (siblings >= DFT_SIBLINGS)
		return NULL;
	struct dft_node *const made = &x->nodes[x->n++];
	*made = *node;
	made->sibling = *link;
	return *link = made;
}

static struct dft_node *
step_to_value(struct dft_paths *x, struct dft_node *at, const struct dft_record *rec, const struct stop *s,
              uint32_t from)
{
	struct dft_node node = make_node(rec->p + from, s->value.at - from);

	node.what = s->top;
	node.kind = s->kind;
	if (s->arg != NULL) {
		node.arg = *s->arg;
		node.key_back = (uint8_t)(s->value.at - s->arg->key.at);
	}
	return step(x, at, &node);
}

/* The literal that ends the line, with the shape of its path. */
static void
step_to_end(struct dft_paths *x, struct dft_node *at, const struct dft_record *rec, uint64_t kinds,
            uint32_t from)
{
	struct dft_node node = make_node(rec->p + from, (uint32_t)(rec->end - rec->p) - from);
	struct dft_shape *const shape = &x->shapes[x->nshapes];

	node.what = DFT_PATH_END;
	node.shape = shape;
	const struct dft_node *const end = step(x, at, &node);
	if (end == NULL || end->shape != shape)
		return;
	*shape = (struct dft_shape){ .shape = kinds, .hashes = rec->hashes, .nargs = rec->nargs };
	memcpy(shape->special, rec->special, sizeof shape->special);
	x->nshapes++;
}

void
dft_paths_learn(struct dft_paths *x, const struct dft_record *rec)
{
	struct stop stops[DFT_MAX_DEPTH_OF_PATH + DFT_TOPS];
	struct dft_node *at;
	uint64_t kinds = rec->shape;
	uint32_t from = 0;

	if (rec->nargs > DFT_MAX_DEPTH_OF_PATH)
		return;
	const uint32_t n = find_stops(rec, stops);
	if (x->n + n + 1 > DFT_MAX_NODES ||
	    x->nshapes == DFT_MAX_SHAPES) { /* shapes without end: the old ones make room */
		x->nodes[0].child = NULL;
		x->n = 1;
		x->nshapes = 0;
	}
	at = &x->nodes[0];
	for (uint32_t i = 0; i < n; i++) {
		if (stops[i].value.at - from > DFT_LITERAL ||
		    (at = step_to_value(x, at, rec, &stops[i], from)) == NULL)
			return;
		if (stops[i].arg == NULL) /* the path's kind may be that of an earlier record */
			kinds ^= (uint64_t)(stops[i].kind ^ at->kind) << 4 * stops[i].top;
		from = stops[i].value.at + stops[i].value.n + (stops[i].kind == JSON_STRING);
	}
	if ((uint32_t)(rec->end - rec->p) - from <= DFT_LITERAL)
		step_to_end(x, at, rec, kinds, from);
}
