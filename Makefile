.PHONY: check format lint types layers test demo

PYTHON ?= .venv/bin/python

check: format lint types layers test  ## everything that has to hold before a commit lands

format:
	$(PYTHON) -m ruff format --check .

lint:
	$(PYTHON) -m ruff check .

types:
	$(PYTHON) -m mypy

layers:
	$(PYTHON) -c "from importlinter.cli import lint_imports_command as run; run()"

test:
	$(PYTHON) -m pytest -q

demo:
	$(PYTHON) -m taskward demo
