# make setup    .venv with everything, pinned; with torch for GPUs, gigabytes, by
#               make setup TORCH_INDEX=https://pypi.org/simple
# make demo     a trained agent, where it errs, and a game against the optimum in the browser
# make train    the main job
# make test     lint, types, layers, tests
# make jax      the tests of the extra jax, in .venv-jax beside .venv
# make slow     long tests, and further cases of others
# make reproduce  every number of the sources beside the exact one
# make bench    timings, as ratios within one run; writes docs/speed.md
# make site     the documentation as web pages, in build/site
# make notebooks  run them and keep what they show
# make notebooks-ui  open them in the browser, with jupyterlab
# make constraints  list the versions of all extras and groups; versions that are listed stay

PYTHON ?= python3
BIN := .venv/bin
# On Linux the torch of PyPI is that for GPUs. A build for processors that pip finds elsewhere will do.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
CHECK := import sys; sys.version_info >= (3, 11) or sys.exit("error: Python must be 3.11 or later, got %d.%d: make setup PYTHON=python3.12" % sys.version_info[:2])
VERSION := import sys; print(sys.version_info[:2])
# An interpreter that is named must be that of .venv, too; without pip, .venv is what a try that failed has left.
SAME := $(if $(filter file,$(origin PYTHON)),true,test "$$($(BIN)/python -c '$(VERSION)')" = "$$($(PYTHON) -c '$(VERSION)')")
ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

.PHONY: setup demo train test suite jax slow reproduce bench site notebooks notebooks-ui constraints lint

setup: .venv/installed

# The editable install links files one by one: a new file needs a new install.
.venv/installed: pyproject.toml constraints.txt .venv/modules
	@echo "pip installs 200 packages, a gigabyte, into .venv: 2 minutes, or 10 on a slow line or disk."
	$(BIN)/python -m pip install --quiet --constraint constraints.txt pip setuptools
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-deps --retries 1 \
		--extra-index-url $(TORCH_INDEX) torch
	@echo "torch is installed; the other packages follow."
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-build-isolation \
		--editable '.[all]' --group dev --config-settings editable_mode=strict
	touch $@

.venv/modules: FORCE
	@{ $(BIN)/python -c 'import pip; $(CHECK)' 2>/dev/null && $(SAME); } || { $(PYTHON) -c '$(CHECK)' && rm -rf .venv && $(PYTHON) -m venv .venv; }
	find agents baselines board core diagnose envs games look play src -name '*.py' -o -name '*.pyi' -o -name '*.csv' -o -name '*.json' -o -name '*.yml' -o -name '*.html' -o -name '*.js' -o -name '*.css' -o -name '*.svg' | sort > $@.new
	cmp --silent $@.new $@ && rm $@.new || mv $@.new $@

FORCE:

# An agent that is trained once, until it is good.
runs/demo: | setup
	@echo "An agent trains until its normalised score is 0.99: about a minute."
	$(BIN)/python train.py --stop-at 0.99 --run-folder $@

demo: setup runs/demo
	$(BIN)/exactdice plot mistakes runs/demo --picture runs/demo/mistakes.png
	$(BIN)/exactdice report runs/demo --page runs/demo/report.html
	@echo "The agent: runs/demo/report.html; where it errs: runs/demo/mistakes.png"
	$(BIN)/exactdice play --web --coach

train: setup
	$(BIN)/python train.py

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy -p exactdice -p docs.reproductions
	$(BIN)/mypy examples
	$(BIN)/lint-imports

# One process a core, each on one thread; a file's tests stay together, as they share what is costly.
# The many commands that tests start must not compile the package anew, whatever the caller says.
# Types are checked meanwhile.
test: setup
	$(MAKE) --jobs 2 lint suite

suite: setup
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m 'not slow' --numprocesses auto --dist loadfile --no-loadscope-reorder

# Beside the packages of .venv, which it sees, this environment has those of the extra alone.
.venv-jax/installed: .venv/installed
	$(BIN)/python -m venv .venv-jax
	$(BIN)/python -c "import site; print('import site; site.addsitedir(%r)' % site.getsitepackages()[0])" \
		> "$$(.venv-jax/bin/python -c 'import site; print(site.getsitepackages()[0])')/beside.pth"
	.venv-jax/bin/python -m pip install --quiet --constraint constraints.txt 'exactdice[jax]'
	touch $@

jax: .venv-jax/installed
	OMP_NUM_THREADS=1 .venv-jax/bin/python -m pytest -m 'not slow' -k jax tests/envs/test_jax.py tests/test_docs.py

slow: setup
	$(BIN)/python -m pytest -m slow --timeout 1800

reproduce: setup
	$(BIN)/python -m docs.reproductions greed lowest-score shut-the-box 421

bench: setup
	$(BIN)/python benchmarks/speed.py

site: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --site-dir build/site

notebooks: setup
	$(BIN)/python docs/notebooks/run.py

notebooks-ui: setup
	$(BIN)/python -m pip install --quiet --constraint constraints.txt 'exactdice[notebooks]'
	$(BIN)/jupyter lab $(ROOT) --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/docs/notebooks/your-first-agent.ipynb

constraints: setup
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --all-extras --group dev \
		--no-annotate --no-emit-package exactdice --custom-compile-command "make constraints" \
		--output-file constraints.txt pyproject.toml
