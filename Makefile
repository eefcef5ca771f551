# Everything a newcomer or CI does. `make run` and `make test` work on a fresh machine.
PYTHON ?= python3
PORT ?= 8000
# How long `make fuzz` goes on.
MINUTES ?= 10
# How many tests run side by side; most of them wait for a server or a browser.
WORKERS ?= 3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test test-postgres conformance check format fuzz bench lock messages

run: $(VENV)/.run
	@$(BIN)/python -m mrtr_web.demo.tryout --port $(PORT)

test: $(VENV)/.test
	@sh .ci/packages.sh
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

# The same tests on PostgreSQL, but for those that use no database and those of pages in a browser, to which it is all
# one; the database itself need not exist, a test database is made beside it.
test-postgres: export DATABASE_URL ?= postgresql://postgres@127.0.0.1:5432/mrtr
test-postgres: $(VENV)/.test
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not browser" $(ARGS)

# The official suite against the client (by the wizard, and by a browser through the pages) and the demo server; and
# the pages against a server that is not built on the official SDK.
conformance: $(VENV)/.test
	@sh .ci/packages.sh
	@sh .ci/conformance/setup.sh $(BIN)/python var/conformance
	$(BIN)/python -m tests.conformance

check: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	SECRET_KEY=$(shell printf "only-for-types-%.0s" 1 2 3 4) $(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/bandit -q -c pyproject.toml -r mrtr_web manage.py .ci
	sh .ci/django_checks.sh
	$(BIN)/python .ci/audit.py requirements/run.txt requirements/sso.txt requirements/test.txt

format: $(VENV)/.test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Hostile input, drawn at random, for all that reads what strangers send; says how often, and what fell over.
fuzz: $(VENV)/.test
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES)

bench: $(VENV)/.test
	$(BIN)/python -m tests.bench

# Brings new texts into the catalogues, and compiles them. Needs gettext. What it marks as fuzzy is a guess: mend it,
# take the mark away, and run it again; tests/test_languages.py says what is left.
messages: $(VENV)/.test
	SECRET_KEY=$(shell printf "only-for-types-%.0s" 1 2 3 4) $(BIN)/python manage.py makemessages -l zh_Hant \
	    --add-location file --no-wrap --no-obsolete -i .venv -i var -i tests
	SECRET_KEY=$(shell printf "only-for-types-%.0s" 1 2 3 4) $(BIN)/python manage.py compilemessages -i .venv

# The lock files carry hashes and no addresses. Needs uv.
lock:
	uv pip compile --universal --generate-hashes --no-header pyproject.toml -o requirements/run.txt
	uv pip compile --universal --generate-hashes --no-header pyproject.toml --extra sso -c requirements/run.txt -o requirements/sso.txt
	uv pip compile --universal --generate-hashes --no-header pyproject.toml --extra test -c requirements/run.txt -o requirements/test.txt

$(VENV)/.run: requirements/run.txt
	@sh .ci/venv.sh $(PYTHON) $(VENV) requirements/run.txt
	@touch $@

$(VENV)/.test: requirements/test.txt
	@sh .ci/venv.sh $(PYTHON) $(VENV) requirements/test.txt
	@touch $@ $(VENV)/.run
