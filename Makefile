# What a newcomer and CI call. Everything that is needed beyond Rust and Python 3.10 is set up here.

# Folders of `make` may have spaces in their names, so rules name files by relative paths only.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# All that are tested and linted. The same for the extension module, so that what both need is built once.
FEATURES := marey/tracing,marey/yaml
WORKSPACE := --workspace --exclude latent-video --exclude recording-bench --features $(FEATURES)
export OMP_NUM_THREADS ?= 1
export RAYON_NUM_THREADS ?= 2

# Where cargo's own folder cannot be written, say below a read-only home, its downloads stay in the clone.
CARGO_FOLDER := $${CARGO_HOME:-$$HOME/.cargo}/registry
ifneq ($(shell mkdir -p "$(CARGO_FOLDER)" 2>/dev/null && test -w "$(CARGO_FOLDER)" && echo writable),writable)
export CARGO_HOME := $(CURDIR)/target/cargo
endif

.PHONY: demo test test-more test-rust test-example test-python test-pythons test-oracle test-goldens test-cost test-torch test-torch-older test-engines test-web test-viewers test-docs test-loom test-threads web docs pictures schemas lint bench bench-torch clean

## Runs the main job, a latent-video pipeline with random weights, under `marey run`; ends with the summary and the folder.
demo:
	@echo "Building the command and the pipeline: some minutes the first time, most of them for candle."
	cargo build --locked -p marey-cli --no-default-features -p latent-video
	target/debug/marey run --output profiling_results -- target/debug/latent-video --out profiling_results/frames

# In CI a test that fails is tried again, twice, and named at the end.
ifdef CI
RETRIED := --profile ci
RERUNS := --reruns 2 --reruns-delay 2
endif

## All tests that need no torch.
test: test-rust test-python test-oracle test-goldens

## What takes programs of others, other interpreters or much time.
test-more: test-pythons test-example test-torch-older test-engines test-viewers test-docs test-loom test-threads

# Random tests draw the same each time; with another PROPTEST_RNG_SEED and more PROPTEST_CASES they look further.
test-rust: export PROPTEST_RNG_SEED ?= 1
test-rust:
	if cargo nextest --version >/dev/null 2>&1; then \
	    cargo nextest run --locked $(WORKSPACE) $(RETRIED) && cargo test --locked --doc $(WORKSPACE); \
	else \
	    cargo test --locked $(WORKSPACE); \
	fi

## The demo pipeline's own tests; building candle takes some minutes.
test-example:
	cargo test --locked -p latent-video

test-python: $(BIN)/marey
	$(BIN)/python -m pytest --numprocesses 2 $(RERUNS)

## Every figure of random programs against what they log, and of traces and snapshots of torch against what others say of them.
test-oracle: $(BIN)/marey
	$(BIN)/python -m pytest tests/oracle --numprocesses 2 $(RERUNS)

## Instructions and peak bytes of the readers and of a section, against scripts/cost.txt; needs valgrind.
test-cost: $(BIN)/marey
	cargo test --locked --quiet --no-run $(WORKSPACE)
	$(BIN)/python scripts/cost

## Every figure of some captures, traces, snapshots and pairs, as it was; with TRACE_FIXTURES of those there, too.
test-goldens: $(BIN)/marey
	$(BIN)/python -m pytest tests/goldens --numprocesses 2 $(RERUNS)

## Sections, forks, asyncio, greenlets and decorators on the oldest and the newest CPython from 3.10 to 3.14 that are installed; ALL=1: on all.
test-pythons: $(BIN)/maturin
	scripts/python-versions

## The tests with real torch and diffusers, on the CPU; downloads some 600 MB the first time.
test-torch: wheel
	$(PYTHON) scripts/torch-env/make_torch_env.py .venv-torch
	.venv-torch/bin/python -m pip install --quiet --no-deps -r scripts/torch-env/engines.txt
	.venv-torch/bin/python -m pip install --quiet --force-reinstall --no-deps target/wheels/torch/*.whl
	.venv-torch/bin/python -m pytest tests/torch --numprocesses 2 --dist loadfile $(RERUNS)

## The names of torch that are used, in an older torch; another download of 0.8 GB.
test-torch-older: wheel
	$(PYTHON) scripts/torch-env/make_torch_env.py .venv-torch-older --requirements scripts/torch-env/older.txt
	.venv-torch-older/bin/python -m pip install --quiet --force-reinstall --no-deps target/wheels/torch/*.whl
	.venv-torch-older/bin/python -m pytest --noconftest $(addprefix tests/torch/test_,names_of_torch.py parameters.py memory_history.py torch_import.py)

## Tables as DuckDB, DataFusion, Spark (Sail), pyarrow and Polars read them; downloads some 600 MB the first time. Ray is in a process of its own:
## what it forks beside the gRPC of Spark's client, whose threads wait then, may be aborted before it begins, and Ray waits for it.
test-engines: wheel .venv-engines/bin/pytest
	.venv-engines/bin/python -m pip install --quiet --force-reinstall --no-deps target/wheels/torch/*.whl
	.venv-engines/bin/python -m pytest tests/engines --ignore tests/engines/test_ray.py $(RERUNS)
	.venv-engines/bin/python -m pytest tests/engines/test_ray.py $(RERUNS)

.venv-engines/bin/pytest: requirements-engines.txt scripts/constraints/engines.txt
	$(PYTHON) -m venv .venv-engines
	.venv-engines/bin/python -m pip install --quiet -r requirements-engines.txt -c scripts/constraints/engines.txt
	touch $@

## Every interleaving of a producer, the drain and a reader of a lane, in small models.
test-loom:
	cargo run --locked --quiet --manifest-path loom/Cargo.toml --target-dir target/loom

## The recorder's concurrent tests under ThreadSanitizer; needs gcc and a nightly toolchain on x86-64 Linux.
test-threads:
	scripts/threads/check-threads

## The site of `docs/`, in target/site: open index.html, no server is needed. Downloads some 20 MB the first time.
docs: wheel .venv-docs/bin/sphinx-build
	.venv-docs/bin/python -m pip install --quiet --force-reinstall --no-deps target/wheels/torch/*.whl
	rm -rf target/site
	.venv-docs/bin/sphinx-build --quiet --fresh-env --fail-on-warning --keep-going --conf-dir scripts/site docs target/site

.venv-docs/bin/sphinx-build: requirements-docs.txt scripts/constraints/docs.txt
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet -r requirements-docs.txt -c scripts/constraints/docs.txt
	touch $@

## That the site is made without a warning, that its links lead somewhere, and that its search finds; needs chromium and Python 3.11.
test-docs: docs
	$(BIN)/python -m pytest tests/site $(RERUNS)

## `docs/schema`, `docs/tables.md`, tables of `docs/findings.md` and the page's schema, after a change of what they are made of.
schemas:
	UPDATE_DOCS=1 cargo test --locked --quiet $(WORKSPACE) --test it documents::

## The page of the HTML report, from its source in web/ and the schema of what it carries; needs node. Everything else uses the committed page.
web: web/node_modules
	cd web && npm run --silent types && npm run --silent check && npm run --silent build

## The pictures of the page in docs/pictures; needs node and chromium.
pictures: web/node_modules
	cd web && node pictures.mjs

## The page in headless Chromium, and that the committed one and its types are what their sources give; needs node and chromium.
test-web: web/node_modules
	cd web && node types.mjs --check && npm run --silent check && node build.mjs --check
	cd web && npm test

## Traces as the viewers' own programs read them: Perfetto, HolisticTraceAnalysis, TensorBoard's plugin, speedscope; needs node and
## chromium, and downloads some 80 MB the first time.
test-viewers: .venv-viewers/bin/pytest web/node_modules
	.venv-viewers/bin/python -m pytest tests/viewers $(RERUNS)
	node --test --test-concurrency=1 tests/viewers/*.test.mjs

.venv-viewers/bin/pytest: scripts/viewers-env/requirements.txt
	$(PYTHON) -m venv .venv-viewers
	.venv-viewers/bin/python -m pip install --quiet --no-deps -r scripts/viewers-env/requirements.txt
	touch $@

web/node_modules: web/package-lock.json
	cd web && npm ci --silent
	touch $@

# Of the same profile and features as what `make test-python` tests, so that nothing is compiled again.
.PHONY: wheel
wheel: $(BIN)/maturin
	rm -rf target/wheels/torch
	$(BIN)/maturin build --locked --quiet --features marey/tracing --interpreter $(PYTHON) --out target/wheels/torch

## Formatting, lints, documentation and types, with no warning left; what takes seconds first.
lint: $(BIN)/maturin
	cargo fmt --all --check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python scripts/check_cycles.py
	$(BIN)/python scripts/check_threads.py
	$(BIN)/python scripts/line-budget
	$(MAKE) --no-print-directory $(BIN)/marey
	$(BIN)/pyright
	$(BIN)/python -m mypy.stubtest marey._core
	cargo clippy --locked --workspace --all-targets --features $(FEATURES) -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --workspace --exclude marey-python --features $(FEATURES)
	cargo publish --quiet --workspace --dry-run --no-verify --allow-dirty

## Every figure of docs/overhead.md and docs/performance.md, against its peers; the last needs node and chromium.
bench: $(BIN)/maturin web/node_modules
	VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN)/maturin develop --release --locked --quiet --features marey/tracing
	cargo run --release --locked -p recording-bench
	cargo bench --locked -p marey --bench watching
	$(BIN)/python benches/python/run.py
	$(BIN)/python benches/python/gpu_times.py
	$(BIN)/python -m pip install --quiet psutil nvidia-ml-py
	cargo build --release --locked -p marey-gpu --example mock_nvml
	$(BIN)/python benches/python/telemetry.py
	$(BIN)/python benches/python/reports.py
	$(BIN)/python benches/python/traces.py
	$(BIN)/python benches/python/analysis.py
	cargo bench --locked -p marey-report --features parquet --bench parquet
	cargo bench --locked -p marey-analysis --bench comparing
	cd web && npm run --silent bench

## What windows of torch's profiler cost; wants the environment that `make test-torch` made.
bench-torch:
	.venv-torch/bin/python benches/torch/window.py
	.venv-torch/bin/python benches/torch/instrument.py

$(BIN)/maturin: requirements-dev.txt scripts/constraints/dev.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -r requirements-dev.txt -c scripts/constraints/dev.txt
	touch $@

# Built by cargo, so cargo decides what is new.
.PHONY: $(BIN)/marey
$(BIN)/marey: $(BIN)/maturin
	VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN)/maturin develop --locked --quiet --features marey/tracing

clean:
	cargo clean
	rm -rf $(VENV) .venv-torch .venv-viewers .venv-engines .venv-docs
