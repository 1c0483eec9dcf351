# All dev commands. `make` alone lists them.
# Assumed: CPython 3.11 or newer with venv and pip, and make. Everything else goes into .venv.

SHELL := /bin/sh
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	"$$p" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo "$$p"; break; }; done)

MEMBERS := proto services/engine/rules services/engine/server services/matchmaker \
	services/progression services/kit services/all_in_one clients/python_sdk
PACKAGES := services/engine/rules/opolyx_rules services/engine/server/opolyx_engine \
	services/matchmaker/opolyx_matchmaker services/progression/opolyx_progression \
	services/kit/opolyx_servicekit services/all_in_one/opolyx_server clients/python_sdk/opolyx_sdk
LOCKED := $(VENV)/.locked
INSTALLED := $(VENV)/.installed

# Processes that run tests
WORKERS ?= 2
# Further arguments of demo, test and bench: make test ARGS="-k rent"
ARGS ?=

.PHONY: help
help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# --- Set-up ---------------------------------------------------------------------------------------

.PHONY: setup
setup: $(INSTALLED) ## Install everything into .venv (only what changed)
	@:

$(LOCKED): requirements.lock
	@test -n "$(PYTHON)" || { echo "needs CPython 3.11 or newer with venv (Debian: python3-venv)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing what requirements.lock names into $(VENV): one to three minutes the first time"
	@$(BIN)/python -m pip install --quiet --no-compile --require-hashes --requirement requirements.lock
	@touch $@

$(INSTALLED): $(LOCKED) $(MEMBERS:%=%/pyproject.toml)
	$(BIN)/python -m pip install --quiet --no-index --no-deps --no-build-isolation $(MEMBERS:%=--editable ./%)
	@touch $@

.PHONY: lock
lock: setup ## Resolve the dependencies anew into requirements.lock (ARGS=--upgrade for newer ones)
	$(BIN)/python tools/lock_requirements.py $(ARGS)

.PHONY: image-locks
image-locks: setup ## Rewrite the locks of the container images from requirements.lock
	$(BIN)/python tools/image_locks.py

.PHONY: prometheus-rule
prometheus-rule: setup ## Rewrite the manifests' alert rules from deploy/monitoring/alerts
	$(BIN)/python tools/prometheus_rule.py

.PHONY: envoy-variants
envoy-variants: setup ## Rewrite deploy/envoy/plaintext.yaml from deploy/envoy/envoy.yaml
	$(BIN)/python tools/envoy_variant.py --write

.PHONY: settings-page
settings-page: setup ## Rewrite docs/settings.md from the settings' classes
	$(BIN)/python tools/settings_page.py

.PHONY: clean
clean: ## Remove .venv, caches and results
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis htmlcov .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- Use ------------------------------------------------------------------------------------------

.PHONY: demo
demo: setup ## Serve, play a full game of four bots over gRPC, verify it
	@$(BIN)/opolyx demo $(ARGS)

# --- Proto ----------------------------------------------------------------------------------------

.PHONY: proto
proto: setup ## Regenerate the Python code beside the .proto files
	$(BIN)/python tools/generate_protos.py

.PHONY: proto-baseline
proto-baseline: setup ## Make the contract as it is now the one `make check` compares with
	$(BIN)/buf build --output proto/baseline.binpb

# --- Tests and checks -----------------------------------------------------------------------------
# setup is a prerequisite of each, so that any of them is the first command on a new machine.

.PHONY: test
test: setup ## Run all tests (ARGS="-k rent" or a path for some)
	$(BIN)/pytest -n $(WORKERS) $(ARGS)

.PHONY: golden
golden: setup ## Rewrite the golden files from what the code does now; review the diff
	$(BIN)/pytest tests/golden --update-golden -p no:randomly $(ARGS)

.PHONY: themes
themes: setup ## Copy the names of squares and cards from the rules into the SDK
	$(BIN)/python tools/generate_themes.py

.PHONY: dashboards
dashboards: setup ## Write deploy/monitoring/dashboards from their description
	$(BIN)/python tools/dashboards.py $(ARGS)

.PHONY: quick-match-plot
quick-match-plot: setup ## Simulate quick match anew and rewrite the figures of docs/quick-match.md
	$(BIN)/python tools/quick_match_plot.py $(ARGS)

.PHONY: performance-page
performance-page: setup ## Rewrite docs/performance.md from docs/performance.json (make bench ARGS="--json docs/performance.json")
	$(BIN)/python tools/performance_page.py

.PHONY: scaling
scaling: setup ## Compute the figures of docs/scaling.md anew from docs/scaling-costs.json
	$(BIN)/python tools/scaling.py

.PHONY: scaling-costs
scaling-costs: setup ## Measure docs/scaling-costs.json anew: minutes, on a machine that does nothing else
	$(BIN)/python tests/bench/scaling_costs.py $(ARGS)

.PHONY: screenshots
screenshots: setup ## Play in the terminal client and take the pictures of docs/images anew
	$(BIN)/python tools/screenshots.py

.PHONY: rule-book
rule-book: setup ## Rewrite docs/rules from the rules as they are now; review the diff
	$(BIN)/python tools/rule_book.py

.PHONY: rules-coverage
rules-coverage: setup ## Print which tests prove which rule and statement; fail if one has none
	$(BIN)/python tools/rules_coverage.py

.PHONY: mutation
mutation: setup ## Break every comparison and value of the rules in turn; fail if no test notices (ARGS="--only phases")
	@$(BIN)/python tools/mutation.py --workers $(WORKERS) $(ARGS)

.PHONY: statements
statements: setup ## Rewrite docs/rules/statements.md: which tests prove what the rule texts say
	$(BIN)/python tools/rules_coverage.py --write

.PHONY: bench
bench: setup ## Measure everything, within ten minutes (ARGS="--only core rooms-50" for some; --help names the parts)
	@$(BIN)/python tests/bench $(ARGS)

.PHONY: bench-quick
bench-quick: setup ## The same within 90 seconds, for a first look
	@$(BIN)/python tests/bench --quick $(ARGS)

.PHONY: bench-compiled
bench-compiled: setup ## The rules core alone, compiled: builds its wheel if there is none of this source
	@$(BIN)/python tests/bench --core compiled --only core simulate $(ARGS)

.PHONY: bench-guard
bench-guard: setup ## Fail if the rules core or the server has become a quarter slower, by ratios
	@$(BIN)/python tests/bench/guard.py $(ARGS)

.PHONY: bench-guard-proof
bench-guard-proof: setup ## See that the guard raises no false alarm and notices planted losses: a quarter of an hour
	@$(BIN)/python tests/bench/guard_proof.py $(ARGS)

.PHONY: core-wheel
core-wheel: setup ## Compile the rules core into dist/core; pure Python where there is no C compiler
	@$(BIN)/python tools/core_wheel.py $(ARGS)

.PHONY: core-check
core-check: setup ## Run golden playouts and property tests on the compiled core: minutes
	@$(BIN)/python tools/core_check.py $(ARGS)

.PHONY: core-check-quick
core-check-quick: setup ## All golden playouts and fewer random ones on a compiled core: a minute or two
	@$(BIN)/python tools/core_check.py --quick

.PHONY: chaos
chaos: setup ## Strike three engines, Redis and Envoy 300 times under a hundred games; count what was lost (ARGS="--blows 30 --games 20")
	@$(BIN)/python tests/chaos/replicas.py $(ARGS)

.PHONY: chaos-alone
chaos-alone: setup ## Kill one server 200 times under fifty games, and cut its connections (ARGS="--kills 20" for less)
	@$(BIN)/python tests/chaos $(ARGS)

.PHONY: rehearsal
rehearsal: setup ## Roll out every pod of the production manifests and lose a node, as processes of this machine
	@$(BIN)/python tests/chaos/rehearsal.py $(ARGS)

.PHONY: leaks
leaks: setup ## Open and end 10,000 streams, and see what the server keeps of them
	@$(BIN)/python tests/chaos/leaks.py $(ARGS)

.PHONY: fuzz
fuzz: setup ## Feed hostile inputs to the wire and the parsers, two minutes (ARGS="--inputs 300000 --kinds tokens")
	@$(BIN)/python tests/fuzz $(ARGS)

.PHONY: audit
audit: setup ## Look for known faults in what requirements.lock names (ARGS="--database DIR")
	@$(BIN)/python tools/audit_dependencies.py $(ARGS)

.PHONY: monitoring-check
monitoring-check: setup ## Watch the system with a real Prometheus while everything goes wrong once
	@$(BIN)/python tests/monitoring $(ARGS)

.PHONY: monitoring-pictures
monitoring-pictures: setup ## The same, and draw the dashboards into docs/monitoring
	@$(BIN)/python tests/monitoring --pictures $(ARGS)

.PHONY: policies
policies: setup ## Play built-in bots against each other, 400 games (ARGS="steady random --games 60")
	$(BIN)/python tools/compare_policies.py $(ARGS)

.PHONY: cov
cov: setup ## Run all tests and print what no test reaches
	$(BIN)/pytest -n $(WORKERS) --cov --cov-report=term $(ARGS)

.PHONY: wheels
wheels: setup ## Build what users of the SDK install, into dist
	$(BIN)/python tools/sdk_check.py --wheels dist

.PHONY: sdk-check
sdk-check: setup ## Install those wheels at their lowest and newest dependencies, and play; needs a package index
	$(BIN)/python tools/sdk_check.py $(ARGS)

.PHONY: format
format: setup ## Format, and fix what ruff can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: quick
quick: setup ## Check format, lint, imports, proto and generated code: seconds
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/buf lint
	$(BIN)/python tools/generate_protos.py --check
	$(BIN)/python tools/generate_themes.py --check
	$(BIN)/python tools/image_locks.py --check
	$(BIN)/python tools/settings_page.py --check
	$(BIN)/python tools/prometheus_rule.py --check

.PHONY: types
types: setup ## Check the types of all packages, tests and tools
	$(BIN)/mypy $(PACKAGES) clients/python_sdk/examples tests tools

.PHONY: breaking
breaking: setup ## Compare the contract with the released one, proto/baseline.binpb
	$(BIN)/buf breaking --against proto/baseline.binpb

.PHONY: check
check: quick breaking types rules-coverage bench-guard core-check-quick ## Everything, exactly as CI does it; ends with `make test`
	@$(MAKE) --no-print-directory test
