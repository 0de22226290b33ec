#!/bin/sh
# make check-package: the packages are built twice and compared, linted, and installed or run where nothing else is.
# What a machine cannot do (no root, a program is missing) is skipped with a line.  Everything is left in
# build/package-check.
# shellcheck disable=SC2016 # texts for other shells
set -eu
export LC_ALL=C.UTF-8

here=$(pwd)
work=$here/build/package-check
good=$here/testdata/htdump/good/wire-little.htdump.gz
bad=$here/testdata/htdump/bad/cut-record.htdump
rm -rf "$work"
mkdir -p "$work"
# Options of the make that runs this are not for those that it starts.
unset MAKEFLAGS MAKELEVEL MFLAGS

ok() { echo "ok: $*"; }
skip() { echo "skipped: $*"; }
die() {
	echo "FAILED: $*" >&2
	exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }
same() { cmp "$1" "$2" || die "$3"; }
# expect STATUS COMMAND...
expect() {
	want=$1
	shift
	got=0
	"$@" >"$work/said" 2>&1 || got=$?
	[ "$got" = "$want" ] || {
		cat "$work/said" >&2
		die "status $got, not $want: $*"
	}
}

# ---- the tarball; the other builds begin with it, in a folder of another name ----

sh packaging/dist.sh "$work/one" >/dev/null
sh packaging/dist.sh "$work/two" >/dev/null
tarball=$(basename "$work"/one/*.tar.gz)
same "$work/one/$tarball" "$work/two/$tarball" "two tarballs of the same commit differ"
mkdir "$work/a folder of another name"
tar -C "$work/a folder of another name" -xf "$work/one/$tarball"
mv "$work/a folder of another name/${tarball%.tar.gz}" "$work/another"
(cd "$work/another" && sh packaging/dist.sh "$work/three" >/dev/null)
same "$work/one/$tarball" "$work/three/$tarball" "the tarball made from the tarball differs"
ok "tarball: $tarball, the same from the repository and from itself"

# ---- the action, from a fresh copy: it builds tracetool ----

mkdir -p "$work/repository/traces"
cp "$bad" "$work/repository/traces"
(cd "$work/another" && PATH=$(dirname "$(command -v git)"):/usr/bin:/bin &&
	expect 1 /usr/bin/python3 packaging/run_steps.py action.yml --workspace "$work/repository" --input paths=traces \
		--input sarif=found.sarif)
grep -q 'htdump/cut-record' "$work/repository/found.sarif" || die "the action's SARIF lacks the finding"
make -s -C "$work/another" DESTDIR="$work/installed" install >/dev/null
for file in bin/tracetool share/man/man1/tracetool.1 share/zsh/site-functions/_tracetool \
	share/bash-completion/completions/tracetool share/fish/vendor_completions.d/tracetool.fish; do
	[ -s "$work/installed/usr/local/$file" ] || die "make install lacks $file"
done
rm -rf "$work/another/build" "$work/another/tracetool"
ok "action: builds tracetool, fails for a broken trace; make install: complete"

# ---- the Debian package ----

sh packaging/deb.sh "$work/deb" >/dev/null 2>&1 || die "no Debian package, see $work/deb/build.log"
(cd "$work/another" && umask 027 && TZ=Asia/Tokyo LC_ALL=C CCACHE_DISABLE=1 DEB_BUILD_PROFILES=nocheck \
	DEB_BUILD_OPTIONS='nocheck parallel=1' sh packaging/deb.sh "$work/deb-another" >/dev/null 2>&1) || die "no second Debian package"
for deb in "$work"/deb/*.deb; do
	same "$deb" "$work/deb-another/$(basename "$deb")" "two builds of the Debian package differ"
done
ok "Debian package: the same in another folder, time zone, locale and number of jobs"
lintian --allow-root --fail-on error,warning,info "$work"/deb/*.changes || die "lintian"
ok "Debian package: lintian has nothing to say"
deb=$(ls "$work"/deb/tracetool_*.deb)

# Debian with nothing but what every one has.
install_in_debian() {
	root=$work/debian
	# shellcheck source=/dev/null
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Codename: $codename" 2>/dev/null | head -n 1)
	debootstrap --variant=minbase "$codename" "$root" "${mirror:-http://deb.debian.org/debian}" >"$work/debootstrap.log" ||
		die "debootstrap, see $work/debootstrap.log"
	# The image below is made of this.
	tar -C "$root" -cf "$work/debian.tar" .
	cp "$deb" "$good" "$bad" "$root/root"
	# Manual pages too, which minimal images leave out.
	chroot "$root" sh -ec 'rm -f /etc/dpkg/dpkg.cfg.d/docker*; apt-get update -qq
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends /root/*.deb' \
		>"$work/install.log" 2>&1 || die "apt-get install, see $work/install.log"
	expect 0 chroot "$root" tracetool validate /root/wire-little.htdump.gz
	expect 1 chroot "$root" tracetool validate /root/cut-record.htdump
	expect 0 chroot "$root" tracetool convert /root/wire-little.htdump.gz /root/out.json.zst
	expect 0 chroot "$root" bash -ec 'source /usr/share/bash-completion/completions/tracetool; complete -p tracetool'
	for file in man/man1/tracetool.1.gz man/man5/tracetool-htdump.5.gz zsh/vendor-completions/_tracetool \
		fish/vendor_completions.d/tracetool.fish tracetool/schemas/validate.schema.json doc/tracetool/copyright; do
		[ -s "$root/usr/share/$file" ] || die "the package lacks $file"
	done
	expect 0 chroot "$root" dpkg --purge tracetool
	[ -z "$(find "$root/usr" -name '*tracetool*')" ] || die "the package leaves files behind"
	rm -rf "$root"
}
if [ "$(id -u)" != 0 ]; then
	skip "Debian package: only root can make a bare Debian to install it in"
else
	install_in_debian
	ok "Debian package: installed, run and removed in a bare Debian"
fi

# ---- the static program ----

sh packaging/static.sh build/static >/dev/null || die "no static program, see build/static/build.log"
(cd "$work/another" && mkdir -p build/static && cp -R "$here/build/static/source" build/static &&
	find build/static/source \( -name '*.[oa]' \) -delete && umask 027 &&
	CCACHE_DISABLE=1 sh packaging/static.sh build/static >/dev/null) || die "no second static program"
for file in build/static/*.tar.gz; do
	same "$file" "$work/another/$file" "two builds of the static program differ"
done
readelf -lW build/static/tracetool >"$work/said"
! grep -q INTERP "$work/said" || die "the static program needs a dynamic linker"
for name in cjson libisal libyaml libzstd sqlite3 xz-utils glibc; do
	grep -q "^======== $name " build/static/THIRD-PARTY-NOTICES || die "the notices lack $name"
done
ok "static program: the same in another folder; notices of all that is in it"
if [ "$(id -u)" != 0 ]; then
	skip "static program: only root can run it in an empty root"
else
	mkdir "$work/empty"
	cp build/static/tracetool "$good" "$bad" "$work/empty"
	expect 0 chroot "$work/empty" /tracetool validate /wire-little.htdump.gz
	expect 1 chroot "$work/empty" /tracetool validate /cut-record.htdump
	expect 0 chroot "$work/empty" /tracetool convert /wire-little.htdump.gz /out.json.zst
	expect 0 chroot "$work/empty" /tracetool convert /wire-little.htdump.gz /out.db
	expect 0 chroot "$work/empty" /tracetool stats /wire-little.htdump.gz
	ok "static program: runs where there is no other file"
fi

# ---- the container ----

b() {
	buildah --storage-driver vfs --root "$work/images" --runroot "$work/images-run" "$@"
}
build_image() {
	base=$(b from scratch)
	b add -q "$base" "$work/debian.tar" / >/dev/null
	b commit -q "$base" docker.io/library/debian:bookworm-slim >/dev/null
	for tag in tracetool:ci tracetool:latest; do
		target=
		[ $tag = tracetool:latest ] || target=--target=ci
		b bud --isolation chroot --pull-never --network host -t "$tag" $target "$work/another" >"$work/image.log" 2>&1 ||
			die "the image $tag cannot be built, see $work/image.log"
	done
	c=$(b from --pull-never tracetool:ci)
	expect 0 b run --isolation chroot "$c" -- tracetool --version
	expect 0 b run --isolation chroot "$c" -- sh -c 'test "$(id -u)" = 65532'
	b inspect --type image --format '{{.OCIv1.Config.User}} {{.OCIv1.Config.Entrypoint}}' tracetool >"$work/said"
	[ "$(cat "$work/said")" = '65532:65532 [/tracetool]' ] || die "the image runs: $(cat "$work/said")"
	c=$(b from --pull-never tracetool)
	m=$(b mount "$c")
	[ "$(cd "$m" && find . -type f | sort | tr '\n' ' ')" = './THIRD-PARTY-NOTICES ./tracetool ' ] ||
		die "the image holds other files"
	b rm -a >/dev/null
	b rmi -a -f >/dev/null
	rm -rf "$work/images" "$work/images-run"
}
if [ "$(id -u)" != 0 ] || ! has buildah; then
	skip "image: only root with buildah can build it"
else
	rm -rf "$work/another/build"
	build_image
	ok "image: built; it holds the program and the notices, and is not run by root"
fi
if has dockerfilelint; then
	dockerfilelint Dockerfile
	ok "Dockerfile: linted"
else
	skip "Dockerfile: dockerfilelint is not installed"
fi

shellcheck packaging/*.sh
ok "packaging scripts: shellcheck has nothing to say"
rm -f "$work/debian.tar"
