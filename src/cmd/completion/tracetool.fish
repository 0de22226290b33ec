# Completion of tracetool's command lines for fish; printed by: tracetool completion fish

function __tracetool_complete
	set -l typed (commandline -opc)
	set -l last (commandline -ct)
	set -l tool $typed[1]
	set -e typed[1]
	set -l answer ($tool __complete $typed "$last" 2>/dev/null)
	set -l head (string split \t -- "$answer[1]")
	set -e answer[1]
	if test "$head[1]" = files
		set -l from (math (string length -- "$head[2]") + 1)
		set answer $head[2](__fish_complete_path (string sub -s $from -- "$last"))
	end
	printf '%s\n' $answer
end

complete -c tracetool -f -a '(__tracetool_complete)'
