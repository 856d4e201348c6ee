# The steps of .ci/run, one by one. Each target installs what it needs first: make help

SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help install check test where docs prose build generate

help: ## lists the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | expand -t 12

install: ## a virtual environment in .venv, a Redis server, a headless Chromium, a JDK and Maven
	bash tests/run.sh --only-install

check: ## formatting, types, generated code, pages; no tests
	bash tests/run.sh --only-checks

test: ## all checks and all tests
	bash tests/run.sh

where: ## the tests to run first after a change: make where FILE=redisson_dq/scheduling/engine.py
	@.venv/bin/python -m tests.where $(FILE)

docs: ## the pages, into build/docs
	.venv/bin/python -m sphinx -EW -q -c docs . build/docs

prose: ## the style of the pages, by proselint (pip install proselint)
	proselint check --config docs/proselint.json *.md docs/*.md docs/how-to/*.md docs/tutorials/*.md

build: ## a wheel and an sdist in dist/
	.venv/bin/python -m build

generate: ## what is generated: the synchronous modules, the sections and tables of the pages, the list of promised JSON fields
	.venv/bin/python .ci/unasync.py
	.venv/bin/python docs/make_diagram.py
	.venv/bin/python docs/make_methods.py
	.venv/bin/python -m tests.json_schemas
	.venv/bin/python docs/make_llms.py
