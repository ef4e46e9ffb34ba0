# What a person or CI runs. `make help` lists the targets; a repeated run does only what changed.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell command -v python3.11 || command -v python3)
CARGO ?= cargo
PYTEST_ARGS ?=
FUZZ_SECONDS ?= 60
BENCH_ARGS ?=
ASV_RANGE ?= HEAD~2..HEAD
MUTANTS_ARGS ?=
CARGO_FUZZ_VERSION := 0.13.2
CARGO_MUTANTS_VERSION := 27.1.0
MUTANTS_SECONDS ?= 120
FUZZ_TOOLS := build/fuzz-tools
MUTANTS_TOOLS := build/mutants-tools
DOCS_SITE := build/docs/site
DOCS_CARGO := build/docs/cargo
# What the crates are compared with: the last release, or another commit.
SEMVER_BASELINE ?= $(shell git describe --tags --abbrev=0 --match 'v*' 2>/dev/null)
DENY_ARGS ?=

# cargo and maturin build against the interpreter of the virtual environment.
export PYO3_PYTHON := $(abspath $(BIN)/python)

DEPS_STAMP := $(VENV)/.deps-installed
BUILD_STAMP := $(VENV)/.extension-built
SPARK_STAMP := $(VENV)/.spark-installed
GATEWAY_SUITE := build/gateway-suite
GATEWAY_SUITE_STAMP := $(GATEWAY_SUITE)/.installed
EXTENSION_SOURCES := Cargo.toml Cargo.lock pyproject.toml \
	$(shell find rust -path rust/fuzz -prune -o \( -name '*.rs' -o -name Cargo.toml \) -print)

.PHONY: help
help: ## List the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | while IFS=$$'\t' read -r name text; do \
		printf '  make %-16s %s\n' "$$name" "$$text"; done

.PHONY: check-tools
check-tools:
	@test -n "$(PYTHON)" || { echo 'Python 3.11 or newer is needed: no python3 was found.' >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'Python 3.11 or newer is needed: name one with `make PYTHON=...`.' >&2; exit 1; }
	@command -v $(CARGO) >/dev/null || \
		{ echo 'A Rust toolchain (1.95 or newer, with rustfmt and clippy) is needed: no cargo was found.' >&2; exit 1; }
	@command -v cc >/dev/null || { echo 'A C compiler is needed to link: no cc was found.' >&2; exit 1; }

$(DEPS_STAMP): requirements/dev.txt | check-tools
	"$(PYTHON)" -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary :all: -r $<
	@touch $@

# Through pip and not `maturin develop`: that would install the dependency groups again, unlocked.
$(BUILD_STAMP): $(DEPS_STAMP) $(EXTENSION_SOURCES)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--no-build-isolation --no-deps --no-index --editable .
	@touch $@

.PHONY: venv
venv: $(DEPS_STAMP) ## Create .venv with the locked dependencies

.PHONY: build
build: $(BUILD_STAMP) ## Build the extension (release) into .venv

.PHONY: demo
demo: build ## Run the main job on a real broker's state: inspect, serve, kill, restart, check
	$(BIN)/python examples/demo/run.py

.PHONY: demo-gateway
demo-gateway: build ## Serve share groups on a cluster without them, no JVM: members killed, gateway killed, every record checked
	$(BIN)/python examples/gateway/run.py

# CI always runs the group, so that a missing Java or Maven is a failure there.
KAFKA_GROUP := $(if $(or $(CI),$(and $(shell command -v javac),$(shell command -v mvn))),test-kafka,left-out-kafka)

.PHONY: left-out-kafka
left-out-kafka:
	@echo 'NOT RUN: the tests against real Kafka. They need a JDK (17 or newer) and Maven; then `make test-kafka` fetches the rest.'

# The same for the group `spark`, which needs a broker as well, and PySpark, which it installs.
SPARK_GROUP := $(subst kafka,spark,$(KAFKA_GROUP))

.PHONY: left-out-spark
left-out-spark:
	@echo 'NOT RUN: the tests on Spark. They need a JDK (17 or newer) and Maven; then `make test-spark` fetches the rest.'

# After what needs both cores to compile, two lanes beside one another: a group of tests uses one core, or waits for a broker.
.PHONY: test
test: lint-rust lint-python lint-docs test-rust types ## Run every test: Rust and Python, lint, types, stubs, README, Kafka, Spark
	@echo 'Two lanes of tests run now; each shows what it printed when it ends.'
	@$(MAKE) --jobs=2 --output-sync=recurse lane-python lane-kafka

.PHONY: lane-python lane-kafka
lane-python:
	@$(MAKE) --jobs=1 test-python test-worlds $(SPARK_GROUP)

lane-kafka:
	@$(MAKE) --jobs=1 test-schedules mutants-sample $(KAFKA_GROUP)

# The inner loop: under a minute once everything is built. The extension is built without optimisation into a package of its own,
# build/check, so that neither `make build` nor a measurement sees it.
CHECK := build/check
CHECK_RUST := --lib --test transition_table --test share_partition_scenarios --test deliberate_differences
CHECK_PYTHON := tests/readme/test_layers.py tests/readme/test_workflows.py tests/python/test_boundary_values.py \
	tests/python/test_errors.py tests/python/test_not_active.py tests/python/test_share_partitions.py \
	tests/python/test_stub_docs.py tests/python/test_values.py 'tests/readme/test_pages.py::test_the_blocks_of_a_page_run[README.md]'
.PHONY: check
check: venv ## Check what breaks most often, in under a minute: formats, lints, types, the quickest tests
	$(CARGO) fmt --all --check
	$(CARGO) clippy --package share-state-core --all-targets --locked --quiet -- -D warnings
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet
	$(BIN)/python scripts/check_tree.py
	$(BIN)/mypy
	$(CARGO) test --package share-state-core --locked --quiet $(CHECK_RUST)
	CARGO=$(CARGO) $(BIN)/python scripts/unoptimised.py $(CHECK)
	PYTHONPATH=$(abspath $(CHECK)) $(BIN)/python -m pytest -q $(CHECK_PYTHON)

# A workspace of its own; only its runs beside Kafka's classes need a JDK.
JUDGE := --manifest-path rust/judge/Cargo.toml

# In this order under `make test`, each also by itself.
.PHONY: lint-rust
lint-rust: venv ## Check Rust format and lints
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(CARGO) fmt $(JUDGE) --check
	$(CARGO) clippy $(JUDGE) --all-targets --locked --quiet -- -D warnings

.PHONY: lint-python
lint-python: venv ## Check Python format and lints, and the rules of the tree
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet
	$(BIN)/python scripts/check_tree.py

.PHONY: stubs
stubs: build ## Renew the docstrings of python/share_state/_core.pyi from the extension
	$(BIN)/python scripts/stub_docs.py

.PHONY: lint-docs
lint-docs: venv ## Check the English of the pages, docstrings and doc comments
	$(BIN)/python scripts/check_prose.py

.PHONY: man-page
man-page: build ## Renew docs/share-state.1 from the help of the commands
	$(BIN)/python scripts/man_page.py

# The binding crate has no tests of its own: it links against a running interpreter, and pytest drives it.
.PHONY: test-rust
test-rust: venv ## Run the Rust tests
	$(CARGO) test --workspace --exclude share-state-python --locked --quiet
	$(CARGO) test $(JUDGE) --locked --quiet

# A build of its own, in which the locks are those of a scheduler.
.PHONY: test-schedules
test-schedules: venv ## Run threads on one store in orders that a scheduler draws (SCHEDULES=300 of each kind)
	$(CARGO) test --package share-state-log --features schedules --lib --locked --quiet schedules

.PHONY: types
types: build ## Check the types, and the stubs and their docstrings against the built extension
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest share_state._core
	$(BIN)/python scripts/stub_docs.py --check

.PHONY: test-python
test-python: build ## Run the Python tests: conformance, command line and README included (PYTEST_ARGS=...)
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# The site: static files, without a fetch from elsewhere. Sphinx reads the pages of docs/ and the docstrings of the installed
# package; a warning, a link that leads nowhere too, is an error.
DOCS_STAMP := $(VENV)/.docs-installed
$(DOCS_STAMP): requirements/docs.txt $(DEPS_STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary :all: -r $<
	@touch $@

.PHONY: docs
docs: build $(DOCS_STAMP) ## Build the site into build/docs/site: pages, Python reference, Rust API; a broken link fails
	@rm -rf $(DOCS_CARGO)/doc
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --exclude share-state-python --exclude share-state-benches \
		--no-deps --locked --quiet --target-dir $(DOCS_CARGO)
	$(BIN)/python -m scripts.docs_site $(DOCS_SITE) --crates $(DOCS_CARGO)/doc

# What draws the curves and follows the history: not part of what the tests need.
BENCH_STAMP := $(VENV)/.bench-installed
$(BENCH_STAMP): requirements/bench.txt $(DEPS_STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary :all: -r $<
	@touch $@

# Into a cache outside the tree (XDG_CACHE_HOME); a second run finds everything in place. Needs a JDK and Maven.
.PHONY: kafka
kafka: venv ## Fetch real Kafka from Maven and build its driver, the judge of tests/kafka
	$(BIN)/python -m tests.kafka.home

# The group `kafka` of the tests: Kafka's own classes as judge, and real brokers.
.PHONY: test-kafka
test-kafka: build kafka ## Run the tests against real Kafka (needs a JDK and Maven)
	$(BIN)/python -m pytest -m kafka tests/kafka tests/gateway tests/histories tests/python/kafka_persister $(PYTEST_ARGS)

.PHONY: test-gateway-lab
test-gateway-lab: build kafka ## Run the tests of the gateway's lab against real Kafka (needs a JDK and Maven)
	$(BIN)/python -m pytest -m kafka tests/gateway $(PYTEST_ARGS)

# PySpark is published as sources only; without build isolation, so that what builds it is locked as well.
$(SPARK_STAMP): $(DEPS_STAMP) requirements/spark-build.txt requirements/spark.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary :all: \
		-r requirements/spark-build.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary :all: \
		--no-binary pyspark --no-build-isolation -r requirements/spark.txt
	@touch $@

# Spark starts its workers with the Python that it finds first, which need not be this one.
spark test-spark bench-spark bench-spark-quick: export PYSPARK_PYTHON := $(abspath $(BIN)/python)

.PHONY: spark
spark: $(SPARK_STAMP) build ## Install PySpark into .venv and try it (needs Java 17)
	$(BIN)/share-state spark-doctor

# The group `spark` of the tests.
.PHONY: test-spark
test-spark: spark kafka ## Run the tests on Spark (needs a JDK and Maven)
	$(BIN)/python -m pytest -m spark tests/spark $(PYTEST_ARGS)

# In an environment of its own: the suite needs nothing of ours, and older packages. Trivup is published as sources only.
$(GATEWAY_SUITE_STAMP): requirements/gateway-suite-build.txt requirements/gateway-suite.txt | check-tools
	"$(PYTHON)" -m venv --clear $(GATEWAY_SUITE)
	$(GATEWAY_SUITE)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps \
		--only-binary :all: -r requirements/gateway-suite-build.txt
	$(GATEWAY_SUITE)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps \
		--only-binary :all: --no-binary trivup --no-build-isolation -r requirements/gateway-suite.txt
	@touch $@

.PHONY: gateway-suite
gateway-suite: $(GATEWAY_SUITE_STAMP) ## Install what a share consumer's own tests import (python -m tests.gateway.suites runs them)

# Its logs go to build/bench too: up to 9 GB, and away again.
.PHONY: bench-spark
bench-spark: spark $(BENCH_STAMP) ## Measure the folds on Spark; write benches/results and docs/benchmarks-spark.md (the better part of an hour)
	$(BIN)/python -m benches.spark.measure

.PHONY: bench-spark-quick
bench-spark-quick: spark $(BENCH_STAMP) ## Measure the folds on Spark at small sizes into build/bench (under five minutes)
	$(BIN)/python -m benches.spark.measure --quick

# Operation logs go to build/bench and away again; the results of `bench` are committed, those of `bench-quick` are not.
.PHONY: bench
bench: build $(BENCH_STAMP) ## Measure every workload beside Kafka; write benches/results and docs/benchmarks.md (an hour and a half)
	$(BIN)/python -m benches.measure

.PHONY: bench-quick
bench-quick: build $(BENCH_STAMP) ## Measure the small sizes into build/bench, with wider error (some seven minutes)
	$(BIN)/python -m benches.measure --quick

# A job of its own, which the gate runs after the tests: the counts hold for one compiler and one processor, and elsewhere
# it says so and compares nothing.
.PHONY: bench-guard
bench-guard: venv ## Compare the instructions of guarded operations with those recorded, by the same compiler and processor (valgrind)
	$(BIN)/python -m benches.guard

.PHONY: bench-history
bench-history: build $(BENCH_STAMP) ## Measure the latest commits with asv (ASV_RANGE=HEAD~2..HEAD)
	$(BIN)/python -m asv run --show-stderr $(ASV_RANGE)

# Beside Kafka's own persister, against a real broker, which is fetched if need be. Needs a JDK and Maven.
.PHONY: bench-persister
bench-persister: build ## Measure the Kafka persisters beside Kafka's own (needs a JDK and Maven)
	$(BIN)/python -m benches.persister.run

# Kafka's own tools, confluent's and bare members as the clients of a broker and of the gateway over it. Go adds NATS JetStream.
.PHONY: bench-gateway
bench-gateway: build kafka ## Measure share groups through the gateway beside a broker's own (needs a JDK and Maven; about an hour)
	$(BIN)/python -m benches.gateway.run $(BENCH_ARGS)

# One thread plays a world, so a seed gives the same again: a world with a finding is made smaller and its command is printed.
WORLDS_SECONDS ?= 120
.PHONY: worlds
worlds: ## Play fresh simulated worlds (WORLDS_SECONDS=120, WORLDS_JOBS=1, WORLDS_ARGS=...)
	$(CARGO) run --release --locked --quiet -p share-state-sim -- --seconds $(WORLDS_SECONDS) --jobs $(or $(WORLDS_JOBS),1) $(WORLDS_ARGS)

.PHONY: test-worlds
test-worlds: ## Play fresh simulated worlds for 180 s on one core; a finding, or a meeting that never happens, fails
	$(CARGO) run --release --locked --quiet -p share-state-sim -- --seconds 180 --every-meeting

# Coverage-guided on the stable toolchain: without a sanitizer the instrumentation needs no nightly flag, and
# the code under test has no unsafe for one to watch. Needs a C++ compiler for libFuzzer.
$(FUZZ_TOOLS)/bin/cargo-fuzz:
	$(CARGO) install --quiet --locked --version $(CARGO_FUZZ_VERSION) --root $(FUZZ_TOOLS) cargo-fuzz

# The bytes of a script choose, and the code compares them with nothing: to trace its comparisons takes most of the time.
FUZZ_SCRIPTS := engine_twin share_partition

# What a run finds interesting goes to build/, not into the corpus that the gate replays.
.PHONY: fuzz
fuzz: $(FUZZ_TOOLS)/bin/cargo-fuzz ## Fuzz every decoder and the engine, coverage-guided (FUZZ_SECONDS=60 each, FUZZ_TARGETS=...)
	@for target in $(or $(FUZZ_TARGETS),$$($< list --fuzz-dir rust/fuzz)); do \
		mkdir -p build/fuzz-corpus/$$target rust/fuzz/corpus/$$target; \
		case " $(FUZZ_SCRIPTS) " in \
			*" $$target "*) traced="--no-trace-compares --target-dir $(abspath build/fuzz-scripts)" ;; \
			*) traced= ;; \
		esac; \
		$< run --fuzz-dir rust/fuzz --sanitizer none $$traced $$target \
			$(abspath build/fuzz-corpus)/$$target $(abspath rust/fuzz/corpus)/$$target \
			-- -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048; done

# Not optimised: it only lists.
$(MUTANTS_TOOLS)/bin/cargo-mutants:
	$(CARGO) install --quiet --debug --locked --version $(CARGO_MUTANTS_VERSION) --root $(MUTANTS_TOOLS) cargo-mutants

.PHONY: mutants
mutants: $(MUTANTS_TOOLS)/bin/cargo-mutants ## Break the Rust crates in every way that tests should notice (hours; MUTANTS_ARGS="--shard 1/8")
	$(PYTHON) -m scripts.mutants_rust $< $(MUTANTS_ARGS)

.PHONY: mutants-sample
mutants-sample: $(MUTANTS_TOOLS)/bin/cargo-mutants ## Break them in some of these ways, drawn anew, for two minutes
	$(PYTHON) -m scripts.mutants_rust $< --seconds $(MUTANTS_SECONDS) $(MUTANTS_ARGS)

# What breaks the code, and tells whether a test noticed. Works in a copy below build/.
MUTANTS_STAMP := $(VENV)/.mutants-installed
$(MUTANTS_STAMP): requirements/mutants.txt $(DEPS_STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary :all: -r $<
	@touch $@

.PHONY: mutants-python
mutants-python: build $(MUTANTS_STAMP) ## Try every mutant of the Python network code; one that lives and is not listed fails (MUTANTS_ARGS=...)
	$(BIN)/python -m scripts.mutants_python $(MUTANTS_ARGS)

.PHONY: mutants-python-sample
mutants-python-sample: build $(MUTANTS_STAMP) ## Try some of them, drawn anew, in about a minute (MUTANTS_ARGS='--seed N')
	$(BIN)/python -m scripts.mutants_python --sample 40 $(MUTANTS_ARGS)

COMPILE := uv pip compile --universal --python-version 3.11 --generate-hashes --upgrade \
	--no-emit-index-url --no-emit-find-links --no-header --quiet

.PHONY: lock
lock: ## Renew the lock files of requirements/, and Cargo.lock (needs uv)
	@command -v uv >/dev/null || { echo 'uv is needed to renew the lock files: pip install uv.' >&2; exit 1; }
	$(COMPILE) pyproject.toml --group dev --output-file requirements/dev.txt
	$(COMPILE) pyproject.toml --extra spark --group spark-test --constraint requirements/dev.txt --output-file requirements/spark.txt
	$(COMPILE) --group spark-build --output-file requirements/spark-build.txt
	$(COMPILE) --group gateway-suite-build --output-file requirements/gateway-suite-build.txt
	$(COMPILE) --group gateway-suite --constraint requirements/dev.txt --output-file requirements/gateway-suite.txt
	$(COMPILE) pyproject.toml --group docs --constraint requirements/dev.txt --output-file requirements/docs.txt
	$(COMPILE) pyproject.toml --group bench --constraint requirements/dev.txt --output-file requirements/bench.txt
	$(COMPILE) pyproject.toml --group mutants --constraint requirements/dev.txt --output-file requirements/mutants.txt
	$(CARGO) update --quiet

.PHONY: semver
semver: ## Compare the public API of the crates with the last release (SEMVER_BASELINE=REVISION)
	@$(CARGO) semver-checks --version >/dev/null 2>&1 || \
		{ echo 'cargo-semver-checks is needed: cargo install --locked cargo-semver-checks' >&2; exit 1; }
	@test -n "$(SEMVER_BASELINE)" || \
		{ echo 'There is no tag `v*` to compare with: name a commit with `make semver SEMVER_BASELINE=...`.' >&2; exit 1; }
	$(CARGO) semver-checks --workspace --exclude share-state-python --exclude share-state-benches \
		--baseline-rev "$(SEMVER_BASELINE)"

# `advisories` fetches the advisory database; DENY_ARGS='bans licenses sources' leaves it out.
.PHONY: deny
deny: ## Check licences, sources, duplicates and advisories of the crates depended on (DENY_ARGS=...)
	@$(CARGO) deny --version >/dev/null 2>&1 || \
		{ echo 'cargo-deny is needed: cargo install --locked cargo-deny' >&2; exit 1; }
	$(CARGO) deny --workspace --locked check $(DENY_ARGS)

.PHONY: publish-dry-run
publish-dry-run: ## Package every crate as for crates.io, and build it from its package
	$(CARGO) publish --workspace --dry-run --locked --allow-dirty

.PHONY: clean
clean: ## Remove everything that was built, the virtual environment included
	rm -rf $(VENV) target build .demo .demo-gateway rust/fuzz/target rust/judge/target .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks
	find python tests examples benches scripts -name __pycache__ -type d -prune -exec rm -rf {} +
	find python -name '*.so' -delete
