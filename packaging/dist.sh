#!/bin/sh
# Makes OUT/tracetool-VERSION.tar.gz: the files of the last commit or, outside of a git repository, those of the
# unpacked tarball that this is.  The same files give the same bytes: order, times, owners and modes are fixed.
# Prints the name of the tarball.
set -eu
export LC_ALL=C

out=$1
version=$(sed -n 's/^#define TOOL_VERSION "\(.*\)"$/\1/p' src/cli/command.h)
name=tracetool-$version
mkdir -p "$out"
work=$(mktemp -d "$out/dist.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/$name"

if [ -e .git ]; then
	when=$(git log -1 --format=%ct)
	git archive HEAD | tar -C "$work/$name" -xf -
	git diff --quiet HEAD 2>/dev/null || echo "dist: changes that are not committed are left out" >&2
else
	when=$(stat -c %Y CHANGELOG.md)
	tar --exclude=./build --exclude='./build-*' --exclude=./tracetool --exclude='*.tmp' -cf - . |
		tar -C "$work/$name" -xf -
fi

tar -C "$work" --format=ustar --sort=name --mtime="@$when" --owner=0 --group=0 --numeric-owner \
	--mode=u=rwX,go=rX -cf "$work/tar" "$name"
gzip -9n "$work/tar"
mv "$work/tar.gz" "$out/$name.tar.gz"
echo "$out/$name.tar.gz"
