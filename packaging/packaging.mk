# Packages, included by the Makefile: source, Debian, static; and their tests.

dist: ## make the source tarball, in build/dist
	@sh packaging/dist.sh build/dist

deb: ## make the Debian package, in build/deb
	@sh scripts/deps.sh dh=debhelper dpkg-buildpackage=dpkg-dev
	@sh packaging/deb.sh build/deb

static: ## make one static program with its notices, in build/static
	@sh scripts/deps.sh --build nasm dpkg-source=dpkg-dev
	@sh packaging/static.sh build/static

check-package: ## packages: built twice, linted, installed in a bare Debian, run in an empty root (minutes, network)
	@sh scripts/deps.sh dh=debhelper dpkg-buildpackage=dpkg-dev lintian debootstrap nasm shellcheck
	@sh packaging/check_package.sh

# ---- completion, for installing ----

COMPLETIONS := $(addprefix $(BUILD)/completion/tracetool.,bash fish zsh)

completions: $(COMPLETIONS)

$(BUILD)/completion/tracetool.%: $(BUILD)/tracetool
	@mkdir -p $(@D)
	$(call say,$(BUILD)/tracetool completion $* > $@,GEN,$@)

.PHONY: dist deb static check-package completions
