#!/bin/sh
# Installs the Debian packages that building and testing need and that are not there yet.
# Its operands are further programs, in packages of the same name, or PROGRAM=PACKAGE, or libraries (libNAME-dev).  --build before them: what tests
# need is left out.  A library counts as there when pkg-config knows it, a program when it can be found: other systems can bring their own.
set -eu

missing=
need_program() { # package program...
	package=$1
	shift
	for program; do
		command -v "$program" >/dev/null 2>&1 && return
	done
	missing="$missing $package"
}
need_library() { # package pkg-config-name
	pkg-config --exists "$2" 2>/dev/null || missing="$missing $1"
}

tests=yes
if [ "${1-}" = --build ]; then
	tests=no
	shift
fi
need_program gcc "${CC:-cc}" gcc clang
[ -e /usr/include/stdio.h ] || missing="$missing libc6-dev"
need_program pkg-config pkg-config
need_library libyaml-dev yaml-0.1
need_library libcjson-dev libcjson
need_library libisal-dev libisal
need_library liblzma-dev liblzma
need_library libzstd-dev libzstd
need_library libsqlite3-dev sqlite3
if [ $tests = yes ]; then
	need_library libcriterion-dev criterion
	need_program mandoc mandoc
	need_program sqlite3 sqlite3
	need_program python3-jsonschema jsonschema
	/usr/bin/python3 -c 'import yaml' 2>/dev/null || missing="$missing python3-yaml"
fi
for program; do # what one target needs besides
	case $program in
	lib*-dev) library=${program#lib} && need_library "$program" "${library%-dev}" ;;
	*) need_program "${program#*=}" "${program%%=*}" ;;
	esac
done

[ -n "$missing" ] || exit 0
echo "installing:$missing"
if ! command -v apt-get >/dev/null 2>&1; then
	echo "this system has no apt-get: install these, or what they are called here, by hand" >&2
	exit 1
fi
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
# shellcheck disable=SC2086
$as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
