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
	$(shell find rust -path rust/proof -prune -o \( -name '*.rs' -o -name Cargo.toml \) -print)

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

# Each test's time is recorded, the last run of each target.
PYTEST = $(BIN)/python -m pytest --junit-xml=build/test-times/$@.xml

.PHONY: slowest
slowest: check-tools ## List the twenty tests that took longest in the last run of each target
	@"$(PYTHON)" scripts/list_tests.py --slowest 20

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

# Makes targets in turn, and says how long each took.
in_turn = +@for target in $(1); do SECONDS=0; $(MAKE) --jobs=1 $$target; echo "make $$target took $$((SECONDS / 60)) min $$((SECONDS % 60)) s."; done

# After what needs both cores to compile, two lanes beside one another: a group of tests uses one core, or waits for a broker.
.PHONY: test
test: ## Run every test: Rust and Python, lint, types, stubs, README, Kafka, Spark
	$(call in_turn,lint-rust lint-python lint-docs test-rust types)
	@echo 'Two lanes of tests run now; each shows what it printed when it ends.'
	@$(MAKE) --jobs=2 --output-sync=recurse lane-python lane-kafka
	@$(MAKE) slowest

.PHONY: lane-python lane-kafka
lane-python:
	$(call in_turn,docs test-python $(SPARK_GROUP))

lane-kafka:
	$(call in_turn,test-schedules test-worlds $(KAFKA_GROUP))

# The inner loop: under a minute once everything is built. The extension is built without optimisation into a package of its own,
# build/check, so that neither `make build` nor a measurement sees it.
CHECK := build/check
CHECK_RUST = $(RUST_partition)
CHECK_PYTHON := tests/pages/test_layers.py tests/pages/test_workflows.py tests/partition/test_boundary_values.py \
	tests/partition/test_errors.py tests/partition/test_not_active.py tests/partition/test_share_partitions.py \
	tests/pages/test_stub_docs.py tests/partition/test_values.py 'tests/pages/test_pages.py::test_the_blocks_of_a_page_run[README.md]'
CHECK_CRATE := share-state-core

# `make check PART=log`: the crate of a wing, the quick ones of its Rust tests (all, if none are named) and of its tests in Python.
PARTS := partition state groups log wire analysis kafka gateway operate spark
CRATE_partition := share-state-core
RUST_partition := --lib --test partition --test deliberate_differences -- $(addprefix --skip ,flat_memory in_flight_differential many_locks random_sequences settle_laws)
PYTHON_partition := tests/partition
CRATE_state := share-state-core
RUST_state := --lib --test state
PYTHON_state := tests/state --ignore tests/state/log
CRATE_groups := share-state-core
RUST_groups := --lib --test groups
PYTHON_groups := tests/groups
CRATE_log := share-state-log
RUST_log := -- --skip lying_disks --skip every_flipped_bit --skip ::sizes:: --skip any_pages
PYTHON_log := tests/state/log --ignore tests/state/log/disks
CRATE_wire := share-state-wire
PYTHON_wire := tests/kafka/wire
CRATE_analysis := share-state-analysis
PYTHON_analysis := tests/operate/analysis
PYTHON_kafka := tests/kafka --ignore tests/kafka/wire --ignore tests/kafka/server/test_cli_coordinator.py \
	--ignore tests/kafka/test_broker_process.py --ignore tests/kafka/roundtrip/test_cluster_rows.py
CRATE_gateway := share-state-gateway
PYTHON_gateway := tests/gateway --ignore tests/gateway/faults --ignore tests/gateway/hostile --ignore tests/gateway/connections/test_memory.py
PYTHON_operate := tests/operate --ignore tests/operate/analysis --ignore tests/operate/simulation --ignore tests/operate/top --ignore-glob '*/test_cli_*.py' \
	--ignore tests/operate/web/test_browser.py --ignore tests/operate/live/test_dashboard.py --ignore tests/operate/live/test_otlp.py
PYTHON_spark := -m spark tests/spark/test_schemas.py tests/spark/test_bad_input.py

ifdef PART
$(if $(filter $(PARTS),$(PART)),,$(error PART=$(PART): expected one of $(PARTS)))
CHECK_CRATE := $(CRATE_$(PART))
CHECK_RUST := $(RUST_$(PART))
CHECK_PYTHON := $(PYTHON_$(PART))
endif

.PHONY: check
check: venv $(and $(filter spark,$(PART)),$(SPARK_STAMP)) ## Check what breaks most often, in under a minute: formats, lints, types, the quickest tests (PART=log: those of a wing)
	$(CARGO) fmt --all --check
	$(if $(CHECK_CRATE),$(CARGO) clippy --package $(CHECK_CRATE) --all-targets --locked --quiet -- -D warnings)
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet
	$(BIN)/python scripts/check_tree.py
	$(BIN)/python scripts/check_prose.py
	$(BIN)/mypy
	$(if $(CHECK_CRATE),$(CARGO) test --package $(CHECK_CRATE) --locked --quiet $(CHECK_RUST))
	CARGO=$(CARGO) $(BIN)/python scripts/unoptimised.py $(CHECK)
	PYTHONPATH=$(abspath $(CHECK)) $(BIN)/python -m pytest -q $(CHECK_PYTHON)

# A workspace of its own; only its runs beside Kafka's classes need a JDK.
JUDGE := --manifest-path rust/proof/judge/Cargo.toml

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
lint-docs: venv ## Check the English of the pages, docstrings and doc comments, and the subjects of commits
	$(BIN)/python scripts/check_prose.py
	$(BIN)/python scripts/check_subject.py --history

.PHONY: man-page
man-page: build ## Renew docs/share-state.1 and docs/commands.md from the help of the commands
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
	$(PYTEST) $(PYTEST_ARGS)

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
	$(PYTEST) -m kafka tests/kafka tests/groups tests/gateway tests/operate tests/proof $(PYTEST_ARGS)

.PHONY: test-gateway-lab
test-gateway-lab: build kafka ## Run the tests of the gateway's lab against real Kafka (needs a JDK and Maven)
	$(PYTEST) -m kafka tests/gateway $(PYTEST_ARGS)

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
	$(PYTEST) -m spark tests/spark $(PYTEST_ARGS)

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
bench: build $(BENCH_STAMP) ## Measure what was not yet of every workload beside Kafka; write benches/results and docs/benchmarks.md (hours)
	$(BIN)/python -m benches.measure $(BENCH_ARGS)

.PHONY: bench-quick
bench-quick: build $(BENCH_STAMP) ## Measure the small sizes into build/bench, with wider error (some fifteen minutes)
	$(BIN)/python -m benches.measure --quick

# A job of its own, which the gate runs after the tests: the counts hold for one compiler and one processor, and elsewhere
# it says so and compares nothing.
.PHONY: bench-guard
bench-guard: venv ## Compare the instructions of guarded operations with those recorded, by the same compiler and processor (valgrind)
	$(BIN)/python -m benches.guard

.PHONY: bench-history
bench-history: build $(BENCH_STAMP) ## Measure the latest commits with asv (ASV_RANGE=HEAD~2..HEAD)
	$(BIN)/python -m asv run --show-stderr $(ASV_RANGE)

# Kafka's own tools, confluent's and bare members as the clients of a broker and of the gateway over it.
.PHONY: bench-gateway
bench-gateway: build kafka ## Measure share groups through the gateway beside a broker's own (needs a JDK and Maven; about an hour)
	$(BIN)/python -m benches.gateway.run $(BENCH_ARGS)

# One thread plays a world, so a seed gives the same again: a world with a finding is made smaller and its command is printed.
WORLDS_SECONDS ?= 120
.PHONY: worlds
worlds: ## Play fresh simulated worlds (WORLDS_SECONDS=120, WORLDS_JOBS=1, WORLDS_ARGS=...)
	$(CARGO) run --release --locked --quiet -p share-state-sim -- --seconds $(WORLDS_SECONDS) --jobs $(or $(WORLDS_JOBS),1) $(WORLDS_ARGS)

.PHONY: test-worlds
test-worlds: ## Play 50,000 simulated worlds of fixed seeds on one core; a finding, or a meeting that never happens, fails
	$(CARGO) run --release --locked --quiet -p share-state-sim -- --seed 93200000 --worlds 50000 --every-meeting

# What the gate plays with fixed seeds, with fresh ones. A finding becomes a fixed case.
.PHONY: campaign
campaign: build kafka $(MUTANTS_TOOLS)/bin/cargo-mutants ## Play the random tests with fresh seeds, before an issue ends (about an hour; needs a JDK and Maven)
	@export SHARE_STATE_FRESH=1 PROPTEST_RNG_SEED=$$(shuf -i 1-4294967295 -n 1); \
	echo "PROPTEST_RNG_SEED=$$PROPTEST_RNG_SEED"; set -e; \
	$(MAKE) test-rust test-schedules worlds; \
	$(PYTHON) -m scripts.mutants_rust $(MUTANTS_TOOLS)/bin/cargo-mutants --seconds $(MUTANTS_SECONDS); \
	$(BIN)/python -m pytest -m 'kafka or not kafka' tests/proof/histories tests/gateway/differential tests/proof/judge/test_differential.py; \
	$(BIN)/python -m pytest --ignore tests/pages

# Coverage-guided on the stable toolchain: without a sanitizer the instrumentation needs no nightly flag, and
# the code under test has no unsafe for one to watch. Needs a C++ compiler for libFuzzer.
$(FUZZ_TOOLS)/bin/cargo-fuzz:
	$(CARGO) install --quiet --locked --version $(CARGO_FUZZ_VERSION) --root $(FUZZ_TOOLS) cargo-fuzz

# The bytes of a script choose, and the code compares them with nothing: to trace its comparisons takes most of the time.
FUZZ_SCRIPTS := engine_twin share_partition

# What a run finds interesting goes to build/, not into the corpus that the gate replays.
.PHONY: fuzz
fuzz: $(FUZZ_TOOLS)/bin/cargo-fuzz ## Fuzz every decoder and the engine, coverage-guided (FUZZ_SECONDS=60 each, FUZZ_TARGETS=...)
	@for target in $(or $(FUZZ_TARGETS),$$($< list --fuzz-dir rust/proof/fuzz)); do \
		mkdir -p build/fuzz-corpus/$$target rust/proof/fuzz/corpus/$$target; \
		case " $(FUZZ_SCRIPTS) " in \
			*" $$target "*) traced="--no-trace-compares --target-dir $(abspath build/fuzz-scripts)" ;; \
			*) traced= ;; \
		esac; \
		$< run --fuzz-dir rust/proof/fuzz --sanitizer none $$traced $$target \
			$(abspath build/fuzz-corpus)/$$target $(abspath rust/proof/fuzz/corpus)/$$target \
			-- -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048; done

# Not optimised: it only lists.
$(MUTANTS_TOOLS)/bin/cargo-mutants:
	$(CARGO) install --quiet --debug --locked --version $(CARGO_MUTANTS_VERSION) --root $(MUTANTS_TOOLS) cargo-mutants

.PHONY: mutants
mutants: $(MUTANTS_TOOLS)/bin/cargo-mutants ## Break the Rust crates in every way that tests should notice (hours; MUTANTS_ARGS="--shard 1/8")
	$(PYTHON) -m scripts.mutants_rust $< $(MUTANTS_ARGS)

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
	rm -rf $(VENV) target build .demo .demo-gateway rust/proof/fuzz/target rust/proof/judge/target .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks
	find python tests examples benches scripts -name __pycache__ -type d -prune -exec rm -rf {} +
	find python -name '*.so' -delete
