#!/bin/sh
# man.sh BIN PAGE...: the manual pages are well-formed, nothing in them is too wide for a terminal of 80 columns (whatever
# mandoc or groff says about one of them is an error), nothing of a template is left in them, and a page of a command lists
# the options of its --help, and no others; those that tracetool-select(7) explains it names at least.
set -u

bin=$1
shift
bad=0
complain() {
	printf '%s: %s\n' "$1" "$2"
	bad=1
}

# --help's options, one a line, without their dashes: those of rows, and those of lines of options.
options_of() {
	"$bin" "$1" --help | sed -n -e 's/^  \(-., \|    \)--\([a-z][a-z-]*\).*/\2/p' -e '/^  --/s/  --\([a-z-]*\)[^ ]*\( [^ -][^ ]*\)\{0,1\}/\1\n/gp' |
		sed '/^$/d' | sort -u
}

# Those that have an item of their own in the page, .It Fl o , Fl -output Ar FILE, or in that of selections, if it refers
# to that: they are the same in all commands.
options_in() {
	pages=$1
	! grep -q '^\.Xr tracetool-select 7' "$1" || pages="$1 ${1%/*}/tracetool-select.7"
	sed -n 's/^\.It .*Fl -\([a-z][a-z-]*\).*/\1/p' $pages | sort -u
}

# Whether the page names the option anywhere: .Fl -since , Fl -until
is_named() {
	grep -qE -e "^\.(It )?(.* )?Fl -$2( |\$)" "$1"
}

for page; do
	said=$(mandoc -T lint -W warning "$page"; mandoc -T utf8 -O width=78 "$page" 2>&1 >/dev/null)
	said="$said$(groff -mdoc -ww -Tutf8 -rLL=80n "$page" 2>&1 >/dev/null)"
	[ -z "$said" ] || complain "$page" "$said"
	# A macro that quotes takes the rest of its line, words that are no part of the quotation too.
	said=$(grep -nE '^\.(Pq )?(Ql|Sq) [^"]* [;:] |^\.Pq (Ql|Sq) tracetool .* (shows|is|are) ' "$page")
	said="$said$(mandoc -T utf8 "$page" | col -b | tr -s '\n\t ' ' ' | grep -oE '[^ ]+ [^ ]+ an tracetool-[a-z]+|[^ ]+ Text\. explain|id (\(level\) )?Text\.')"
	[ -z "$said" ] || complain "$page" "leftovers: $said"
	case $page in
	*/tracetool-*.1)
		command=${page##*/tracetool-}
		command=${command%.1}
		[ "$command" = rules ] || [ "$command" = explain ] || [ "$command" = completion ] ||
			"$bin" "$command" --help >/dev/null || complain "$page" "tracetool has no command $command"
		missing=$(options_of "$command" | while read -r o; do options_in "$page" | grep -qxe "$o" || printf ' --%s' "$o"; done)
		extra=$(options_in "$page" | while read -r o; do options_of "$command" | grep -qxe "$o" || printf ' --%s' "$o"; done)
		unnamed=$(options_of "$command" | while read -r o; do is_named "$page" "$o" || printf ' --%s' "$o"; done)
		[ -z "$missing" ] || complain "$page" "lacks options of --help:$missing"
		[ -z "$unnamed" ] || complain "$page" "does not name options of --help:$unnamed"
		[ -z "$extra" ] || complain "$page" "has options that --help lacks:$extra"
		;;
	esac
done
exit $bad
