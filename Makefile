# The commands of this repository. `make` alone lists them.

PREFIX ?= /usr/local
DESTDIR ?=
CC ?= cc
CARGO ?= cargo

# Where an installed Ferry lies; `uninstall` removes exactly what `install` has put there.
bindir = $(DESTDIR)$(PREFIX)/bin
mandir = $(DESTDIR)$(PREFIX)/share/man/man1
incdir = $(DESTDIR)$(PREFIX)/include/ferry
docdir = $(DESTDIR)$(PREFIX)/share/doc/ferry
libdir = $(DESTDIR)$(PREFIX)/lib
libexecdir = $(DESTDIR)$(PREFIX)/libexec/ferry
cmakedir = $(libdir)/cmake/Ferry
pkgdir = $(libdir)/pkgconfig
bashdir = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
zshdir = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
fishdir = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d

target = $(or $(CARGO_TARGET_DIR),target)
ferry = $(target)/release/ferry
stage = $(target)/stage
# Built beside ferry; what is not there is not installed.
built = $(patsubst %/,%,$(dir $(ferry)))
libraries = $(notdir $(wildcard $(built)/libferry.so $(built)/libferry.a))
helpers = $(notdir $(wildcard $(built)/ferry-cpu-device $(built)/ferry-narrow))
# What ferry-narrow is built with; the device riscv needs it, nothing else does.
has_llvm = $(shell folder=$$(llvm-config-19 --includedir 2>/dev/null) && test -e "$$folder/llvm-c/Core.h" && echo yes)
# All that there can be.
expected = libferry.so libferry.a ferry-cpu-device ferry-narrow
version = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
headers = $(notdir $(wildcard include/ferry/*.h))
documents = README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md LICENSE LICENSE-APACHE LICENSE-MIT
manuals = $(patsubst docs/%,%,$(wildcard docs/*.* docs/results/*.*))

.PHONY: help setup setup-tests build narrow hosts dropin demo test bench install install-files uninstall fmt lint fuzz clean

help:
	@echo 'make demo               build Ferry, check and explain the examples, run them'
	@echo 'make test               every check and test (what CI runs)'
	@echo 'make bench PART= CASES=  time ferry; PART: front, overheads, mapping, loops, kernels, sizes, nests, mapping-quality, sim, allocators, tasks; CASES: of a part'
	@echo 'make install PREFIX=    install ferry, its library, man pages, … (default /usr/local);'
	@echo '                        HOSTS="aarch64 riscv64": the library for programs that start there, too'
	@echo 'make uninstall PREFIX=  remove what install has put there'
	@echo 'make build              build target/release/ferry'
	@echo 'make dropin             the library under the name that programs of clang 19 ask for'
	@echo 'make setup              install missing system packages (asked first by demo; test asks for more)'
	@echo 'make fmt                format the Rust code'
	@echo 'make lint               formatting, clippy and the rules of the repository'
	@echo 'make fuzz SECONDS=60    throw mutated programs at the front end, random kernels at the passes'
	@echo 'make clean              remove build output'

setup:
	@scripts/setup

# All of the workspace, with what needs LLVM 19: only checks and tests build that.
setup-tests:
	@scripts/setup tests

build: setup
	$(CARGO) build --release --package driver --package libferry
	@$(optimised)

# The shared library once more, alone, as only then it is optimised as a whole. The archive stays in parts: programs without
# shared libraries leave out the part with the host's names (crate interpose). What debuggers and compilers read of it goes.
define optimised
$(CARGO) rustc --release --package libferry --lib --crate-type cdylib && \
if command -v objcopy >/dev/null; then \
objcopy --strip-debug --remove-section=.llvmbc --remove-section=.llvmcmd $(built)/libferry.a; fi
endef

narrow: setup
	@if [ -n '$(has_llvm)' ]; then $(CARGO) build --release --package narrow; \
	else echo 'left out: ferry-narrow, with which programs are compiled for the device riscv, and which ferry bench' \
	'mixed-data-model runs: it is built with LLVM 19 (Debian: llvm-19-dev)'; fi

# libferry for programs that start on other machines (ferry cc --host): make hosts HOSTS="aarch64 riscv64".
HOSTS ?=
hosts:
	@CARGO='$(CARGO)' scripts/hosts release $(HOSTS)

# For programs of clang 19 and flang 19: libferry with the name and symbol version they were linked
# with. Put the folder into their library path.
dropin: setup
	$(CARGO) build --release --package libferry
	@CC='$(CC)' scripts/dropin $(built)/libferry.a $(built)/dropin
	@echo 'built $(built)/dropin/libomptarget.so.19.1; run programs with LD_LIBRARY_PATH=$(built)/dropin'

demo: build
	@CC='$(CC)' scripts/demo $(ferry)

# Tests of what a machine lacks tell so and pass; the last line says how many these were.
test: lint
	@CARGO='$(CARGO)' scripts/hosts dev aarch64
	@$(CARGO) nextest run --workspace --no-tests=pass; status=$$?; \
	$(CARGO) test --workspace --doc --quiet || status=1; \
	scripts/skipped $(target)/nextest/default/junit.xml; exit $$status

lint: setup-tests
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	$(CARGO) xtask tidy

fmt:
	$(CARGO) fmt --all

bench: build
	@CC='$(CC)' bench/run $(if $(PART),--only $(PART)) $(if $(CASES),--cases $(CASES)) $(ferry)

SECONDS ?= 60
fuzz: setup
	@fuzz/run $(SECONDS)

# Under sudo there is often no cargo; then what `make build` has built before is installed.
install: $(if $(shell command -v $(CARGO)),build narrow hosts)
	@test -x $(ferry) || { echo 'install: run `make build` first' >&2; exit 1; }
	@$(MAKE) --no-print-directory install-files

# What was built, to its places; nothing is built here.
install-files:
	rm -rf '$(stage)'
	mkdir -p '$(stage)/man'
	$(ferry) man '$(stage)/man'
	$(ferry) completions bash >'$(stage)/ferry.bash'
	$(ferry) completions zsh >'$(stage)/_ferry'
	$(ferry) completions fish >'$(stage)/ferry.fish'
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(version)|' cmake/ferry.pc.in >'$(stage)/ferry.pc'
	sed 's|@VERSION@|$(version)|' cmake/FerryConfigVersion.cmake.in >'$(stage)/FerryConfigVersion.cmake'
	install -d '$(bindir)' '$(incdir)' '$(mandir)' '$(docdir)/docs/results' '$(bashdir)' '$(zshdir)' '$(fishdir)'
	install -d '$(cmakedir)' '$(pkgdir)'
	install -m 755 $(ferry) '$(bindir)/ferry'
	for it in ferrycc ferryc++ ferryfc; do ln -sf ferry '$(bindir)/'$$it; done
	$(if $(libraries),install -m 755 $(addprefix $(built)/,$(libraries)) '$(libdir)')
	$(if $(helpers),install -d '$(libexecdir)')
	$(if $(helpers),install -m 755 $(addprefix $(built)/,$(helpers)) '$(libexecdir)')
	for it in $(HOSTS); do rust=$$(sed -n 's/^rust = "\(.*\)"/\1/p' crates/driver/src/cc/remote/toolchains/$$it.toml); \
	test ! -e $(target)/$$rust/release/libferry.a || \
	{ install -d '$(libdir)/ferry/'$$it && install -m 644 $(target)/$$rust/release/libferry.a '$(libdir)/ferry/'$$it; } || exit 1; done
	install -m 644 $(addprefix include/ferry/,$(headers)) '$(incdir)'
	install -m 644 cmake/FerryToolchain.cmake cmake/FerryConfig.cmake '$(cmakedir)'
	install -m 644 '$(stage)/FerryConfigVersion.cmake' '$(cmakedir)'
	install -m 644 '$(stage)/ferry.pc' '$(pkgdir)'
	install -m 644 '$(stage)'/man/*.1 '$(mandir)'
	install -m 644 '$(stage)/ferry.bash' '$(bashdir)/ferry'
	install -m 644 '$(stage)/_ferry' '$(zshdir)/_ferry'
	install -m 644 '$(stage)/ferry.fish' '$(fishdir)/ferry.fish'
	install -m 644 $(documents) '$(docdir)'
	cd docs && for it in $(manuals); do install -m 644 $$it '$(docdir)/docs/'$$it; done
	@echo 'installed $(bindir)/ferry'
	@for it in $(filter-out $(libraries) $(helpers),$(expected)); do echo "left out: $$it, which was not built"; done

uninstall:
	rm -f '$(bindir)/ferry' '$(bindir)/ferrycc' '$(bindir)/ferryc++' '$(bindir)/ferryfc'
	rm -f '$(bashdir)/ferry' '$(zshdir)/_ferry' '$(fishdir)/ferry.fish'
	rm -f '$(libdir)/libferry.so' '$(libdir)/libferry.a' '$(pkgdir)/ferry.pc'
	rm -f '$(libdir)/ferry/'*/libferry.a
	-rmdir '$(libdir)/ferry/'* '$(libdir)/ferry' 2>/dev/null
	rm -f '$(libexecdir)/ferry-cpu-device' '$(libexecdir)/ferry-narrow'
	rm -f '$(cmakedir)'/Ferry*.cmake
	rm -f '$(mandir)/ferry.1' '$(mandir)'/ferry-*.1
	rm -f $(patsubst %,'$(docdir)/%',$(documents)) $(patsubst %,'$(docdir)/docs/%',$(manuals))
	rm -f $(patsubst %,'$(incdir)/%',$(headers))
	-rmdir '$(docdir)/docs/results' '$(docdir)/docs' '$(docdir)' '$(incdir)' '$(cmakedir)' '$(libexecdir)' 2>/dev/null

clean:
	$(CARGO) clean
