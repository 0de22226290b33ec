# shellcheck shell=bash
# Completion of tracetool's command lines for bash; printed by: tracetool completion bash

_tracetool() {
	local typed=() word rest before='' last start='' kind prefix
	for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do # joins what is split at "="
		if [[ ${#typed[@]} -gt 0 && ($word == = || $before == =) ]]; then
			typed[-1]+=$word
		else
			typed+=("$word")
		fi
		before=$word
	done
	COMPREPLY=() last=${typed[-1]}
	[[ $COMP_WORDBREAKS != *=* ]] || start=${last%"${last##*=}"}
	{
		IFS=$'\t' read -r kind prefix || return 0
		while IFS=$'\t' read -r word rest; do
			[[ $word != "$last"* ]] || COMPREPLY+=("$word")
		done
	} < <("${COMP_WORDS[0]}" __complete "${typed[@]}" 2>/dev/null)
	if [[ $kind == files ]]; then
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -P "$prefix" -f -- "${last#"$prefix"}")
	elif [[ ${COMPREPLY[0]-} == *= ]]; then
		compopt -o nospace 2>/dev/null
	fi
	COMPREPLY=("${COMPREPLY[@]#"$start"}")
}

complete -F _tracetool tracetool
