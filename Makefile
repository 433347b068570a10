# Every target sets itself up: a virtual environment in .venv, created once and again when pyproject.toml changes. What only
# the project's own tests and checks need is installed when they run.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# What the shipped suites and the page need; the extra `all` has the rest.
EXTRAS := iree,opencl,onnx,models,filecheck,report
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
SITE_STAMP := $(VENV)/.installed-site
# Other compilers have an environment of their own: their packages are large, and `retarget init` suggests what is installed.
ORACLES ?= build/oracles

# Hundreds of processes start here: what Python compiles is kept.
unexport PYTHONDONTWRITEBYTECODE

# Python before 3.13 reads where this checkout is in the encoding of the locale: in that of C it does not start where the path
# has an `Ü`. LC_CTYPE and LANG it sets right by itself.
ifneq (,$(filter C POSIX,$(LC_ALL)))
export LC_ALL := C.UTF-8
endif

.PHONY: demo suites sanitize toolchains models conformance oracles test test-slow test-all machines reliability mutate check docs site picture bench bench-onnx clean help

help:
	@echo "make demo         a slice of every shipped suite, on every device found here, and a page of it (a minute and a half when nothing is cached)"
	@echo "make suites       all shipped suites (minutes when nothing is cached)"
	@echo "make sanitize     the kernels of all shipped suites on Oclgrind: data races, barriers, bounds (minutes when nothing is cached)"
	@echo "make toolchains   IREE's runtime for arm64 Linux, which the suites run in an emulator (QEMU)"
	@echo "make models       whole networks of Python packages, for suites/models (100 MB)"
	@echo "make conformance  all of ONNX's node tests; writes docs/measurements/conformance.md (minutes when nothing is cached)"
	@echo "make oracles      suites/stablehlo on XLA, ONNX's node tests on TVM and XLA: is the reference right? (20 minutes when nothing is cached)"
	@echo "make test         the project's own tests"
	@echo "make test-slow    the same, with those that are slow, of which CI runs a part (half an hour)"
	@echo "make test-all     the same, with what repeats at length what CI proves on a sample"
	@echo "make machines     a slice of demo and tests on other CPUs, devices, packages, users and folders, as a table (most of an hour)"
	@echo "make reliability  kills at random moments and 100,000 mutated files: docs/measurements/reliability.md (hours; with KILLS=3 INPUTS=500 minutes)"
	@echo "make mutate       changes the code of each package at random places; fails where its fast tests notice too few"
	@echo "make check        ruff, mypy, the import contracts, the declarations of the suites and of CI, the examples in docs/"
	@echo "make docs         write the generated parts of docs/ again"
	@echo "make site         the pages as a site with a search, in build/site; fails where a link is broken"
	@echo "make picture      run suites/small-types and take README's pictures of its page again; needs Chromium"
	@echo "make bench        the benchmarks (minutes)"
	@echo "make bench-onnx   all of ONNX's node tests against one process per test (a quarter of an hour)"
	@echo "make clean        remove the virtual environment and what tools have left"

$(VENV)/pyvenv.cfg:
	$(PYTHON) -c 'import sys; sys.exit("retarget needs Python 3.11 or newer, found " + sys.version.split()[0] + "; try: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml | $(VENV)/pyvenv.cfg
	$(INSTALL) --editable '.[$(EXTRAS)]'
	@touch $@

# The extra `dev` has all of the others: one installation is enough for both.
$(DEV_STAMP): pyproject.toml | $(VENV)/pyvenv.cfg
	$(INSTALL) --editable '.[dev]'
	@touch $(STAMP) $@

$(SITE_STAMP): pyproject.toml | $(VENV)/pyvenv.cfg
	$(INSTALL) --editable '.[site]'
	@touch $@

# Some of them: make demo SUITES=suites/linalg
SUITES ?= suites
demo: $(STAMP)
	$(BIN)/pytest $(SUITES) -m "demo and not intel and not sanitize" --retarget-report build/demo $(PYTEST_ARGS)

suites: $(STAMP)
	$(BIN)/pytest $(SUITES) -m "not conformance and not sanitize" $(PYTEST_ARGS)

# Oclgrind interprets what is compiled for the generic OpenCL profile. A finding fails its target.
sanitize: $(DEV_STAMP)
	$(BIN)/pytest suites -m sanitize $(PYTEST_ARGS)

# The version of the environment's own runtime, for another machine.
toolchains: $(STAMP)
	$(INSTALL) --no-deps --upgrade --target build/toolchains/iree-linux-arm64 --only-binary :all: --platform manylinux_2_28_aarch64 \
	    "$$($(BIN)/python -m pip freeze | grep ^iree-base-runtime==)"

# Packages that carry models, without what their code needs: only the models are read.
models: $(DEV_STAMP)
	$(INSTALL) --no-deps --upgrade --target build/models/packages magika rapidocr-onnxruntime silero-vad
	$(BIN)/python suites/models/prepare.py build/models

# Some of them: make test TESTS=tests/retarget_opencl
TESTS ?= tests
test: $(DEV_STAMP)
	$(BIN)/pytest $(TESTS) -n auto --dist worksteal $(PYTEST_ARGS)

test-slow: $(DEV_STAMP)
	$(BIN)/pytest tests -n auto --dist worksteal --run-slow $(PYTEST_ARGS)

test-all: $(DEV_STAMP)
	$(BIN)/pytest tests -n auto --dist worksteal --run-slow --run-exhaustive $(PYTEST_ARGS)

# Those whose names match: make machines MACHINES='cpu-* memory-1gib'; which there are: make machines MACHINES=--list
machines: $(DEV_STAMP)
	$(BIN)/python tests/machines/machines.py --extras $(EXTRAS) $(foreach machine,$(MACHINES),'$(machine)')

# Seeds are given, so that a run can be repeated: make reliability SEED=2. A short one: make reliability KILLS=5 INPUTS=2000
SEED ?= 1
KILLS ?= 200
INPUTS ?= 100000
reliability: $(DEV_STAMP)
	$(BIN)/python tests/reliability/fuzz.py --inputs $(INPUTS) --seed $(SEED) --keep build/faults
	$(BIN)/python tests/reliability/fuzz_artifacts.py --inputs $$(($(INPUTS) / 100)) --seed $(SEED)
	$(BIN)/python tests/reliability/kills.py sessions --kills $(KILLS) --seed $(SEED)
	$(BIN)/python tests/reliability/kills.py workers --kills $(KILLS) --seed $(SEED)
	$(BIN)/python tests/reliability/kills.py devices --kills $(KILLS) --seed $(SEED)
	$(BIN)/python tests/reliability/cluster_kills.py workers --kills $(KILLS) --seed $(SEED)
	$(BIN)/python tests/reliability/cluster_kills.py scheduler --kills $(KILLS) --seed $(SEED)
	$(BIN)/pytest -q tests/reliability/test_upgrade.py tests/acceptance/test_cache_faults.py tests/retarget/session/cache --run-slow

# Of each package MUTANTS changes; those of SEED=2 are others. Of some: make mutate PACKAGES='retarget_report retarget/declare'
# Which changes of what writes OpenCL C 100 programs of `retarget fuzz` find: make mutate PACKAGES='--fuzz 100'
MUTANTS ?= 20
mutate: $(DEV_STAMP)
	$(BIN)/python tests/reliability/mutants.py --each $(MUTANTS) --seed $(SEED) $(PACKAGES)

# The page is written from what was found, also where that is not what was expected, with what `make oracles` found last.
conformance: $(STAMP)
	@mkdir -p build
	$(BIN)/pytest suites/onnx -m conformance --junitxml=build/conformance.xml $(PYTEST_ARGS); status=$$?; \
	$(BIN)/python benchmarks/onnx_conformance.py build/conformance.xml $(wildcard build/oracles.xml) \
	    -o docs/measurements/conformance.md && exit $$status

# Of the versions that the rules were reviewed with.
$(ORACLES)/.installed: pyproject.toml docs/examples/retarget-xla/pyproject.toml docs/examples/retarget-tvm/pyproject.toml docs/examples/oracles/constraints.txt
	$(PYTHON) -m venv $(ORACLES)
	$(ORACLES)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint docs/examples/oracles/constraints.txt --editable '.[iree,onnx]' \
	    --editable 'docs/examples/retarget-xla[onnx]' --editable docs/examples/retarget-tvm
	@touch $@

# A suite has only modules of its own folder. Some of them, which are not for the page: make oracles PYTEST_ARGS='-m sample'
oracles: $(ORACLES)/.installed
	rm -f docs/examples/oracles/stablehlo/*.mlir
	cp suites/stablehlo/*.mlir docs/examples/oracles/stablehlo/
	cp suites/onnx/nodes.toml docs/examples/oracles/onnx/
	$(ORACLES)/bin/pytest docs/examples/oracles $(if $(PYTEST_ARGS),$(PYTEST_ARGS),--junitxml=build/oracles.xml)

check: $(DEV_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/retarget check ./suites
	$(BIN)/retarget ci verify
	$(BIN)/pytest -q tests/docs --run-slow -n auto --dist worksteal

docs: $(STAMP)
	$(BIN)/python docs/declarations.py
	$(BIN)/python docs/packages.py

# Not with --quiet, which does not count broken links.
site: $(SITE_STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "build/site/index.html; with the search: $(BIN)/python -m http.server -d build/site"

# README's pictures, of a suite in which IREE does things wrong; the rules that know them are ignored, so pytest fails.
picture: $(DEV_STAMP)
	-$(BIN)/pytest suites/small-types --retarget-ignore-expectations --retarget-report build/picture $(PYTEST_ARGS)
	$(BIN)/python docs/screenshots.py build/picture

bench: $(DEV_STAMP)
	$(BIN)/python benchmarks/plugin_import.py
	$(BIN)/python benchmarks/collection.py
	$(BIN)/python benchmarks/ci_plan.py
	$(BIN)/python benchmarks/matrix.py
	$(BIN)/python benchmarks/comparison.py
	$(BIN)/python benchmarks/report.py
	$(BIN)/python benchmarks/results.py
	$(BIN)/python benchmarks/edit_loop.py
	$(BIN)/python benchmarks/warm_session.py
	$(BIN)/python benchmarks/cold.py
	$(BIN)/python benchmarks/cluster_compiles.py
	$(BIN)/python benchmarks/shared_store.py

bench-onnx: $(DEV_STAMP)
	$(BIN)/python benchmarks/onnx_suite.py

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache build dist
