#!/bin/sh
# Makes OUT/tracetool, one static position-independent program for Linux, and OUT/THIRD-PARTY-NOTICES: the licences of
# what is linked into it; and both in OUT/tracetool-VERSION-linux-MACHINE.tar.gz.
#
# Debian has no archive (.a) of ISA-L and cJSON.  They are built from Debian's sources of exactly the version whose
# headers are installed, which apt gets and verifies; the sources of apt on this machine are used, but not changed.
set -eu
export LC_ALL=C

out=$1
here=$(pwd)
mkdir -p "$out/lib" "$out/source"
out=$(cd "$out" && pwd)
version=$(sed -n 's/^#define TOOL_VERSION "\(.*\)"$/\1/p' src/cli/command.h)
if [ -e .git ]; then when=$(git log -1 --format=%ct); else when=$(stat -c %Y CHANGELOG.md); fi
unset MAKEFLAGS MAKELEVEL MFLAGS

# ---- apt, with lists of its own that have sources ----

apt=$out/apt
apt_sources() {
	# shellcheck source=/dev/null
	suites="$(. /etc/os-release && echo "$VERSION_CODENAME")(-updates|-security)?"
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/parts"
	: >"$apt/sources.list"
	for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ ! -f "$list" ] || sed -En "s/^deb (.* $suites )/deb-src \1/p" "$list" >>"$apt/sources.list"
	done
	for list in /etc/apt/sources.list.d/*.sources; do
		[ -f "$list" ] || continue
		awk -v RS= -v ORS='\n\n' -v suites="(^|\n)Suites:([^\n]* )?$suites( |\n)" '$0 "\n" ~ suites' "$list" |
			sed 's/^Types:.*/Types: deb-src/' >"$apt/parts/$(basename "$list")"
	done
}
apt_get() {
	set -- -qq -o "Dir::Etc::sourcelist=$apt/sources.list" -o "Dir::Etc::sourceparts=$apt/parts" \
		-o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" "$@"
	[ "$(id -u)" != 0 ] || set -- -o APT::Sandbox::User=root "$@"
	apt-get "$@"
}

# source_of PACKAGE: the folder with its source; it is got when it is not there.
source_of() {
	package=$(dpkg-query -W -f '${source:Package}' "$1")
	package_version=$(dpkg-query -W -f '${source:Version}' "$1")
	dir=$out/source/$package-$package_version
	if [ ! -d "$dir" ]; then
		[ -d "$apt" ] || { apt_sources && apt_get update >&2; }
		rm -rf "$out/source/get" && mkdir "$out/source/get"
		(cd "$out/source/get" && apt_get source "$package=$package_version" >log 2>&1) || {
			cat "$out/source/get/log" >&2
			echo "static: apt cannot get the source of $package $package_version" >&2
			return 1
		}
		mv "$out/source/get"/*/ "$dir"
	fi
	echo "$dir"
}

isal=$(source_of libisal-dev)
cjson=$(source_of libcjson-dev)
jobs=-j$(nproc)
[ -f "$out/lib/libisal.a" ] || {
	make -s -C "$isal" -f Makefile.unx "$jobs" lib >"$out/isal.log" 2>&1 || { tail "$out/isal.log" >&2; exit 1; }
	cp "$isal/bin/isa-l.a" "$out/lib/libisal.a"
}
[ -f "$out/lib/libcjson.a" ] || {
	make -s -C "$cjson" static >"$out/cjson.log" 2>&1 || { tail "$out/cjson.log" >&2; exit 1; }
	cp "$cjson/libcjson.a" "$out/lib/libcjson.a"
}

# ---- the program ----

# SQLite can load extensions, which a static program cannot, and tracetool never does: the linker warns about dlopen().
make -s "$jobs" BUILD="$out/objects" CFLAGS="-O2 -fPIE -ffile-prefix-map=$here=." \
	LDFLAGS="-static-pie -Wl,--build-id=none" \
	LIBS="-L$out/lib -lcjson -lisal -llzma -lzstd -lsqlite3 -lyaml -lpthread -lm" "$out/objects/tracetool" >"$out/build.log" 2>&1 || {
	tail -n 20 "$out/build.log" >&2
	exit 1
}
strip -o "$out/tracetool" "$out/objects/tracetool"

{
	echo "tracetool $version is linked with the following libraries, as Debian has them.  Their licences:"
	for package in libc6-dev libcjson-dev libisal-dev liblzma-dev libsqlite3-dev libyaml-dev libzstd-dev; do
		printf '\n======== %s %s ========\n\n' "$(dpkg-query -W -f '${source:Package} ${source:Version}' $package)" ''
		cat "/usr/share/doc/$package/copyright"
	done
	printf '\n======== tracetool ========\n\n'
	cat LICENSE
} >"$out/THIRD-PARTY-NOTICES"

name=tracetool-$version-linux-$(uname -m)
tar -C "$out" --format=ustar --mtime="@$when" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
	--transform="s|^|$name/|" -cf - THIRD-PARTY-NOTICES tracetool | gzip -9n >"$out/$name.tar.gz"
echo "$out/$name.tar.gz"
