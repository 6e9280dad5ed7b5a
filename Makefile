# Rank One. `make` lists the targets; every target does its own set-up.

PYTHON  := .venv/bin/python
READY   := .venv/.ready
# With what the tests and the tools need; the book does without.
TESTS   := .venv/.ready-tests
# `make html SOLUTIONS=no` builds beside the book another without any solution, for a class's own site.
OUTPUT  := $(if $(filter no,$(SOLUTIONS)),_build/without-solutions,.)
SITE    := $(OUTPUT)/_build/html
HTML    := $(SITE)/.ready
NPM     := frontend/node_modules/.ready
# Tests in environments of other versions, each notebook's among them: left to `make compat`.
COLAB   := tests/book/test_colab.py tests/tools/test_installed.py
SOURCES := _config.yml _toc.yml $(shell find book src benchmarks/results experiments/results -type f ! -path '*/__pycache__/*' 2>/dev/null)
# Programs compiled once serve the chapters, their notebooks in a clean environment, and every later run.
export JAX_COMPILATION_CACHE_DIR := $(CURDIR)/_build/.jax_cache
export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS := 0
export JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES := -1
# Every kernel of a chapter would compile the libraries' source anew.
unexport PYTHONDONTWRITEBYTECODE
# A chapter runs most of its programs once: what the compiler spends on their speed is lost, and more so in pieces.
XLA_QUICK = --xla_backend_optimization_level=1 --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1
$(HTML) test walk check: export XLA_FLAGS := $(XLA_QUICK) $(XLA_FLAGS)
# Chapters and tests run side by side, one a core: threads of one product would wait for each other.
$(HTML) test walk check compat: export OPENBLAS_NUM_THREADS := 1
# As many processes as `tests/conftest.py` finds cores for.
PYTEST = $(PYTHON) -m pytest --numprocesses auto --max-worker-restart 1
# Where set-up installed a node, because the system has none that fits, that one comes first.
export PATH := $(CURDIR)/.venv/node:$(PATH)

ifeq ($(MAKECMDGOALS)$(CHAPTER),assignment)
$(error CHAPTER is missing: `make assignment CHAPTER=editing`, or `make assignments` for all)
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help book html pdf zip assignment assignments test walk check compat core processors colab lint lint-text lint-types lint-frontend format bench record widgets stills screenshot requirements clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1|/' | column -t -s '|'

book: $(HTML) ## build the book, serve it on this machine and print its address
	@$(PYTHON) tools/serve.py $(SITE)

html: $(HTML) ## build the book into _build/html; with SOLUTIONS=no, one without solutions beside it
	@echo $(SITE)

pdf: $(TESTS) $(HTML) ## print the whole book into _build/rank-one.pdf
	@$(PYTHON) tools/chromium.py
	@$(PYTHON) tools/print_book.py $(SITE)

zip: $(HTML) ## pack the built book into _build/rank-one.zip, which opens from a folder
	@$(PYTHON) tools/zip_site.py $(SITE)

assignment: $(HTML) ## write what a class needs for one page of exercises, such as CHAPTER=editing
	@$(PYTHON) tools/assignment.py $(CHAPTER)

assignments: $(HTML) ## the same for all pages of exercises
	@$(PYTHON) tools/assignment.py

# The book first, because hundreds of tests read its pages; `make check` does without it.
test: $(TESTS) $(HTML) ## build what is stale, then run every test but those of the next targets
	@$(PYTHON) tools/chromium.py
	$(PYTEST) --dist loadfile --no-loadscope-reorder -m "not walk" $(addprefix --ignore ,$(COLAB))

walk: $(TESTS) $(HTML) ## look at every page and explorer on the other screen and in the other theme
	@$(PYTHON) tools/chromium.py
	$(PYTEST) --dist loadgroup -m walk tests/browser

check: $(TESTS) ## lint what changed and run the tests that it concerns, without the book: two minutes at most
	@$(PYTHON) tools/changed.py

compat: $(TESTS) $(HTML) ## test the core on the oldest and the newest jax and on an older processor, the installed wheel, and notebooks on Colab's versions
	@$(MAKE) --no-print-directory --keep-going --jobs 2 core processors colab

core: $(TESTS)
	@$(PYTHON) tools/compat.py

processors: $(TESTS) # all else about it: CONTRIBUTING.md
	@XLA_FLAGS="$(XLA_QUICK) $$XLA_FLAGS" OPENBLAS_NUM_THREADS=1 $(PYTHON) tools/processors.py

colab: $(TESTS) $(HTML) # beside the core: while one installs its environments, the other computes
	XLA_FLAGS="$(XLA_QUICK) $$XLA_FLAGS" $(PYTHON) -m pytest $(COLAB)

lint: lint-text lint-types lint-frontend ## ruff, mypy, codespell, biome and tsc

# In three parts, because `make check` leaves out the slow ones that a change cannot alter.
lint-text: $(TESTS)
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/codespell

lint-types: $(TESTS)
	.venv/bin/mypy

lint-frontend: $(TESTS) $(NPM)
	cd frontend && npm run --silent lint

format: $(TESTS) $(NPM) ## let ruff and biome rewrite what they can
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .
	cd frontend && npm run --silent format

bench: $(TESTS) ## time this package and its peers side by side
	$(PYTHON) -m benchmarks

record: $(READY) ## list the experiments and what of them is missing; with MINUTES=20, measure what fits
	@$(PYTHON) experiments/missing.py --minutes $(or $(MINUTES),0) $(if $(ONLY),--only $(ONLY))

widgets: $(NPM) ## rebuild the committed widget bundles and vendored scripts
	cd frontend && npm run --silent build

stills: $(TESTS) $(HTML) ## draw the stills of the explorers that have changed, or with ALL=yes of all; the next build shows them
	@$(PYTHON) tools/chromium.py
	$(PYTHON) tools/draw_stills.py $(if $(ALL),--all)

screenshot: $(TESTS) $(HTML) ## renew the picture in the README
	@$(PYTHON) tools/chromium.py
	$(PYTHON) tools/screenshot.py

requirements: $(TESTS) ## pin requirements.in anew
	PATH="$(CURDIR)/.venv/bin:$$PATH" sh tools/pin.sh

clean: ## remove what was built; the environment stays
	rm -rf _build frontend/node_modules

$(READY): requirements.txt pyproject.toml src/rankone_book/pyproject.toml
	@sh tools/setup.sh
	@touch $@

$(TESTS): requirements-tests.txt $(READY)
	@sh tools/setup.sh tests
	@touch $@

$(HTML): $(READY) $(SOURCES)
	@$(PYTHON) tools/build.py $@

$(NPM): frontend/package-lock.json | $(TESTS)
	cd frontend && npm ci --no-audit --no-fund
	@touch $@
