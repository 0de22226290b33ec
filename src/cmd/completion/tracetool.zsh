#compdef tracetool
# Completion of tracetool's command lines for zsh; printed by: tracetool completion zsh

_tracetool() {
	local -a answer suffix
	answer=("${(@f)$(${(Q)words[1]} __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
	if [[ $answer[1] == files* ]]; then
		local prefix=${answer[1]#files$'\t'}
		compset -p $#prefix
		_files
		return
	fi
	shift answer
	(( $#answer )) || return
	[[ $answer[1] != *=($'\t'*|) ]] || suffix=(-S '')
	answer=("${(@)answer//:/\\:}")
	answer=("${(@)answer/$'\t'/:}")
	_describe -t words word answer $suffix
}

_tracetool "$@"
