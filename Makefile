# Every command of the project. `make` alone lists them.
# All names are relative, so that the checkout may lie in a path with spaces.

PYTHON ?= python3
python := .venv/bin/python

.PHONY: help run test check admin backup restore content shots lighthouse html weights bench fuzz pastes faults docker-test licences sbom lock
.DEFAULT_GOAL := help

help: ## List these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

run: .venv/.run ## Serve the site on 127.0.0.1, with its own database unless DATABASE_URL names one
	@exec $(python) manage.py serve

test: .venv/.dev ## Run every test, in two processes (ARGS="..." goes to pytest)
	@$(python) -m pytest -n 2 $(ARGS)

check: export SECRET_KEY = $(shell $(PYTHON) -c 'import secrets; print(secrets.token_urlsafe(50))')
check: export DEBUG = 0
check: .venv/.dev ## Lint, format, types, imports, migrations, Django's deploy check, known weaknesses of dependencies
	$(python) -m ruff check .
	$(python) -m ruff format --check .
	$(python) -m mypy
	$(python) -c 'from importlinter.cli import lint_imports_command as check; check()' --no-cache
	$(python) manage.py makemigrations --check --dry-run
	BEHIND_TLS=1 $(python) manage.py check --deploy --fail-level WARNING
	.venv/bin/hadolint --failure-threshold warning Dockerfile
	$(python) tools/audit.py

admin: .venv/.run ## Create a curator, who may edit the content in the admin
	@exec $(python) manage.py create_curator

backup: .venv/.run ## Write the whole database to .data/backups/ (or to FILE=...)
	@exec $(python) manage.py backup $(if $(FILE),"$(FILE)")

restore: .venv/.run ## Bring the database to the backup FILE=... (REPLACE=1 gives up what it holds)
	@exec $(python) manage.py restore "$(FILE)" $(if $(REPLACE),--replace)

content: .venv/.run ## Write fixtures/ anew from the research pack beside the checkout
	$(python) tools/convert_pack.py ../shared/research

shots: .venv/.dev ## Write pictures of each kind of page to shots/ (needs Chromium)
	$(python) tools/shots.py $(ARGS)

lighthouse: .venv/.dev tools/node/node_modules/.installed ## Lighthouse on each kind of page, as on a phone (needs Chromium, Node.js 20)
	@$(python) tools/lighthouse.py $(ARGS)

html: .venv/.run tools/node/node_modules/.installed ## The Nu HTML checker on each kind of page (needs Java, Node.js 20)
	@$(python) tools/check_html.py

weights: .venv/.dev ## What the first visit of each kind of page weighs (needs Chromium)
	@$(python) tools/weigh.py

bench: .venv/.run .bench/.installed ## How quick it is, in ratios beside an empty view, nginx and Datasette (needs wrk)
	@SECRET_KEY=$$($(PYTHON) -c 'import secrets; print(secrets.token_urlsafe(50))') $(python) tools/bench.py $(ARGS)

fuzz: .venv/.dev ## Send 100,000 requests that a stranger might, to every public address (FUZZ=... for another number)
	@FUZZ=$(or $(FUZZ),100000) $(python) -m pytest tests/security/test_fuzz.py -s -q

faults: .venv/.dev ## Stop, kill and fill up real processes under load, and see what is lost (minutes)
	@FAULTS=1 $(python) -m pytest tests/security/test_faults.py -q

pastes: .venv/.dev ## 10,000 pastes made to break the error look-up, and 1,000 more over HTTP (PASTES=...)
	@PASTES=$(or $(PASTES),10000) $(python) -m pytest tests/nesting -k any_paste $(ARGS)

docker-test: ## Build the image and try compose.yaml out (needs Docker; ARGS="--help" says more)
	@$(PYTHON) tools/deployment/try_out.py $(ARGS)

licences: .venv/.dev ## The licences of what the site runs on
	@$(python) -m piplicenses --from=mixed --order=license --packages $(shell sed -n 's/^\([a-z0-9-]*\)==.*/\1/p' requirements.txt)

sbom: .venv/.dev ## Write what the site runs on to sandboxicon.cdx.json (CycloneDX)
	@$(python) -m cyclonedx_py requirements --pyproject pyproject.toml --output-reproducible --of JSON -o sandboxicon.cdx.json requirements.txt
	@echo "Written: sandboxicon.cdx.json"

lock: ## Pin the newest versions that pyproject.toml allows (needs uv)
	@command -v uv >/dev/null || { echo "make lock needs uv on the PATH: https://docs.astral.sh/uv/"; exit 1; }
	UV_CUSTOM_COMPILE_COMMAND="make lock" uv pip compile $(compile) pyproject.toml -o requirements.txt
	UV_CUSTOM_COMPILE_COMMAND="make lock" uv pip compile $(compile) pyproject.toml --group dev -c requirements.txt -o requirements-dev.txt
	UV_CUSTOM_COMPILE_COMMAND="make lock" uv pip compile $(compile) --group bench -o requirements-bench.txt

compile := --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate -q

# The stamps say which requirements file the environment holds; a newer file brings it up to date.
.venv/.run: requirements.txt .venv/.created
	@echo "Installing what $< pins."
	@$(python) -m pip install --quiet --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

.venv/.dev: requirements-dev.txt .venv/.created
	@echo "Installing what $< pins."
	@$(python) -m pip install --quiet --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

# What the bench measures beside the site has an environment of its own.
.bench/.installed: requirements-bench.txt .venv/.created
	@echo "Installing what $< pins."
	@$(python) -m venv .bench
	@.bench/bin/python -m pip install --quiet --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

tools/node/node_modules/.installed: tools/node/package-lock.json
	@command -v npm >/dev/null || { echo "This needs Node.js 20 and npm. On Debian and Ubuntu: apt install nodejs npm"; exit 1; }
	@echo "Installing what $< pins."
	@npm ci --prefix tools/node --ignore-scripts --silent
	@touch $@

.venv/.created:
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON) here. Install Python 3.11 to 3.14."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' || { \
		echo "$$($(PYTHON) --version) does not do: sandboxicon needs Python 3.11 to 3.14. Another one goes in as in: make run PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "This Python comes without the modules venv and ensurepip. On Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@$(PYTHON) -m venv .venv
	@touch $@
