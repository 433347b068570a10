# Every target sets itself up: a virtual environment in .venv, made once and again when pyproject.toml changes.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test conformance check bench bench-onnx docs clean help

help:
	@echo "make demo         compile and run the shipped suites on every device found here"
	@echo "make conformance  run all of ONNX's node tests and write docs/conformance.md (half an hour when nothing is cached)"
	@echo "make test         run the project's own tests"
	@echo "make check        ruff, mypy, docs examples, generated files up to date"
	@echo "make bench        the benchmarks (minutes)"
	@echo "make bench-onnx   all of ONNX's node tests against one process per test (a quarter of an hour)"
	@echo "make docs         write the generated parts of docs/ again"

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("retarget needs Python 3.11 or newer, found " + sys.version.split()[0] + "; try: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(STAMP)
	$(BIN)/pytest suites -m "not conformance" $(PYTEST_ARGS)

test: $(STAMP)
	$(BIN)/pytest tests -n auto $(PYTEST_ARGS)

# The page is written from what was found, also where that is not what was expected.
conformance: $(STAMP)
	@mkdir -p build
	$(BIN)/pytest suites/onnx -m conformance --junitxml=build/conformance.xml $(PYTEST_ARGS); status=$$?; \
	$(BIN)/python -m retarget_onnx.table build/conformance.xml -o docs/conformance.md && exit $$status

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/retarget check ./suites
	$(BIN)/pytest -q tests/docs

docs: $(STAMP)
	$(BIN)/retarget schema --format markdown > docs/declarations.md

bench: $(STAMP)
	$(BIN)/python benchmarks/plugin_import.py
	$(BIN)/python benchmarks/collection.py
	$(BIN)/python benchmarks/matrix.py
	$(BIN)/python benchmarks/comparison.py

bench-onnx: $(STAMP)
	$(BIN)/python benchmarks/onnx_suite.py

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache build dist
