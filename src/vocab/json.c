/* A vocabulary as JSON: the tree of its YAML, without the comments. */
#include "output/text_json.h"
#include "vocab/vocab.h"
#include "yaml/yaml.h"

/* Lists and mappings that lie less deep have a line for each item: keys of the file, and its rules. */
#define LINES_DEPTH 2

/* Recurses YAML_MAX_DEPTH deep at most, as yaml_root() refuses what is deeper. */
static void put_node(struct text *t, const struct yaml_node *node, unsigned depth)
{
	const bool is_map = node->kind == NODE_MAP;
	const char *const line = depth == 0 ? "\n" : depth < LINES_DEPTH ? "\n  " : "";

	if (node->kind == NODE_SCALAR) {
		text_json_string(t, node->text);
		return;
	}
	text_char(t, is_map ? '{' : '[');
	for (const struct yaml_node *at = node->child; at != NULL; at = at->next) {
		text_str(t, at != node->child ? "," : "");
		text_str(t, line);
		if (is_map) {
			text_json_string(t, at->text);
			text_char(t, ':');
			at = at->next;
		}
		put_node(t, at, depth + 1);
	}
	text_str(t, depth < LINES_DEPTH ? "\n" : "");
	text_char(t, is_map ? '}' : ']');
}

void vocab_put_json(struct text *t, struct slice yaml)
{
	struct findings mistakes;
	struct yaml_file file = { .text = yaml, .rules = vocab_rules, .findings = &mistakes };

	findings_init(&mistakes, "", NULL, NULL);
	const struct yaml_node *const root = yaml_root(&file);
	if (root != NULL)
		put_node(t, root, 0);
	text_char(t, '\n');
	t->failed |= file.no_memory;
	arena_free(&file.nodes);
	findings_free(&mistakes);
}
