#!/bin/sh
# Makes the Debian package, its source package and the .changes file in OUT.  Without DEB_BUILD_OPTIONS the tests are not
# run: `make test` does that.
set -eu

out=$1
tarball=$(sh packaging/dist.sh "$out")
name=$(basename "$tarball" .tar.gz)
rm -rf "${out:?}/$name"
tar -C "$out" -xf "$tarball"
# Debian keeps its own folder apart from the source.
gzip -dc "$tarball" | tar --delete -f - "$name/debian" | gzip -9n >"$out/$(echo "$name" | tr - _).orig.tar.gz"
rm "$tarball"
cd "$out/$name"
[ -n "${DEB_BUILD_OPTIONS+set}" ] || export DEB_BUILD_PROFILES=nocheck
export DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS-nocheck parallel=$(nproc)}"
# What an enclosing make hands on is not for the package's own.
unset MAKEFLAGS MAKELEVEL MFLAGS
dpkg-buildpackage -us -uc >../build.log 2>&1 || {
	tail -n 30 ../build.log >&2
	exit 1
}
cd ..
rm -rf "$name"
ls -- *.deb *.changes
