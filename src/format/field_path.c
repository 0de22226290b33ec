/* Values by path: members of objects, maps and lists in fields. */
#include "format/field_path.h"

#include "model/number.h"

/* The name at the start of a path, found so far, and what follows it. */
struct step {
	const void *at; /* what has the name; NULL: nothing */
	uint32_t length;
};

/* Whether the path begins with the name, and no longer one was found. */
static bool is_longer(const struct step *s, struct slice path, struct slice name)
{
	return name.n <= path.n && (s->at == NULL || name.n > s->length) &&
	       (name.n == path.n || path.p[name.n] == '.') && memcmp(name.p, path.p, name.n) == 0;
}

static struct slice rest_of(struct slice path, uint32_t length)
{
	const uint32_t n = length < path.n ? length + 1 : length;

	return slice_of(path.p + n, path.n - n);
}

/* Reads the number of an element.  Returns false if the path does not begin with one. */
static bool read_index(struct slice path, uint64_t *number, uint32_t *length)
{
	const char *const dot = memchr(path.p, '.', path.n);

	*length = dot != NULL ? (uint32_t)(dot - path.p) : path.n;
	return *length > 0 && json_digits_any(path.p, *length, number);
}

/* ---- lists and maps ---- */

/* Returns the value at the start of the path, and moves *path past it; NULL: none. */
static const struct value *take_entry(const struct value *v, struct slice *path)
{
	struct step found = { 0 };
	uint64_t number;

	if (v->type == VALUE_LIST) {
		if (read_index(*path, &number, &found.length) && number < v->count)
			found.at = &v->values[number];
	} else {
		for (uint32_t i = 0; i < v->count; i++) {
			const struct value *const key = &v->values[2 * (size_t)i];
			if (key->type == VALUE_STRING && is_longer(&found, *path, value_text(key)))
				found = (struct step){ key + 1, key->count };
		}
	}
	*path = rest_of(*path, found.length);
	return found.at;
}

/* ---- JSON text ---- */

/* Copies a text with its escapes replaced if it fits. */
static struct slice plain_text(const struct json_token *t, char to[PATH_TEXT])
{
	const struct slice s = json_token_text(t);

	if (t->kind != JSON_ESCAPED || s.n > PATH_TEXT)
		return s;
	return slice_of(to, (size_t)(json_put_unescaped(to, s) - to));
}

/* Returns the member or element at the start of the path, and moves *path past it; absent: none. */
static struct json_token take_member(const struct json_token *of, struct slice *path)
{
	struct json_token found = { .kind = JSON_ABSENT };
	struct step step = { 0 };
	struct json_walk w = json_walk_again(of);
	uint64_t number = 0;

	if (*of->p == '[' && !read_index(*path, &number, &step.length))
		return found;
	while (json_walk_next(&w)) {
		if (*of->p == '[') {
			if (number-- > 0)
				continue;
			found = w.value;
			break;
		}
		char space[PATH_TEXT];
		const struct slice key = plain_text(&w.key, space);
		if (is_longer(&step, *path, key)) {
			step = (struct step){ of, key.n };
			found = w.value;
		}
	}
	*path = rest_of(*path, step.length);
	return found;
}

const struct value *field_path_find(const struct field *f, uint32_t n, struct slice path,
                                    struct path_value *to)
{
	struct step found = { 0 };

	if (memchr(path.p, '.', path.n) == NULL)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		if (is_longer(&found, path, f[i].name))
			found = (struct step){ &f[i].value, f[i].name.n };
	path = rest_of(path, found.length);
	const struct value *v = found.at;
	while (v != NULL && path.n > 0 && value_is_list(v))
		v = take_entry(v, &path);
	if (v == NULL || path.n == 0)
		return v;
	if (v->type != VALUE_JSON || v->count == 0)
		return NULL;
	struct json_token t = { v->p, v->p + v->count, *v->p == '{' ? JSON_OBJECT : JSON_ARRAY };
	while (path.n > 0) {
		if (*t.p != '{' && *t.p != '[')
			return NULL;
		t = take_member(&t, &path);
		if (t.kind == JSON_ABSENT)
			return NULL;
	}
	if (!json_is_string(t.kind))
		to->value = value_of_json(&t);
	else if (t.kind == JSON_ESCAPED && t.end - t.p > PATH_TEXT + 2)
		to->value = value_json(slice_of(t.p, (size_t)(t.end - t.p)));
	else
		to->value = value_string(plain_text(&t, to->text));
	return &to->value;
}
