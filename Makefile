# SPDX-License-Identifier: Apache-2.0
# The commands people type. Each sets up what it needs; the work is CMake's and the scripts' in tools/.
.DEFAULT_GOAL := help
# Targets share build folders, so they run one after another; Ninja uses all cores inside each.
.NOTPARALLEL:
.PHONY: help build run test bare bench docs site pictures packages wheel intervals accuracy format tidy fuzz clean

# Ninja's counter on a terminal, its silence in a log.
QUIET := $(shell [ -t 1 ] || echo -- --quiet)

help: ## this list
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

build: ## the program, at build/sextant
	@tools/setup.sh build
	@[ -f build/build.ninja ] || cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build build --target sextant-cli $(QUIET)
	@echo "build/sextant is ready"

run: build ## build, then the main job: a kernel and a training step explained, and accuracy against measurements
	@tools/main-job.sh build/sextant

test: ## everything CI checks: tests with g++, with clang and sanitizers, format, lint, fuzzing
	@tools/setup.sh test
	@tools/test.sh

bare: ## `make run` and `make test` in a new Debian 12 with nothing but git and make (root; before landings that touch set-up)
	@tools/bare.sh

bench: ## speed of the parts that searches call
	@tools/setup.sh test
	@cmake --preset release -DSEXTANT_BENCH=ON --log-level=WARNING >/dev/null
	@cmake --build build $(QUIET)
	@tools/bench.sh build/bench

docs: ## the pages of docs/ as a site, at build/site/index.html
	@tools/setup.sh test
	@mkdocs build --strict --quiet
	@echo "build/site/index.html is ready"

site: build ## the page without a server, at build-site/site: a folder for any static host (minutes), and its test
	@tools/setup.sh site
	@tools/site.sh
	@cd ui && SEXTANT=../build/sextant node --test site-test/

pictures: build ## docs/images anew: every view, by the browser that tests it
	@tools/setup.sh test
	@cd ui && SEXTANT=../build/sextant npm run --silent screenshots

packages: ## Debian packages in build/packages: sextant, libsextant-dev, python3-sextant
	@tools/setup.sh test
	@cmake --preset release -DSEXTANT_PYTHON=ON --log-level=WARNING >/dev/null
	@cmake --build build $(QUIET)
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2>/dev/null || echo 1) \
	  cpack --config build/CPackConfig.cmake -B build/packages >/dev/null
	@ls build/packages/*.deb

wheel: ## a wheel for pip, in build/packages, for this machine's Python
	@tools/setup.sh test
	@cmake --preset release -DSEXTANT_PYTHON=ON --log-level=WARNING >/dev/null
	@cmake --build build --target sextant-python $(QUIET)
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2>/dev/null || echo 1) \
	  tools/wheel.py build/python/sextant $$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' build/CMakeCache.txt) build/packages

# Measurements are other people's, so they are not in the repository.
intervals: build ## presets/errors anew: how far off predictions are, from CASES=FOLDER and what ships of scenarios it lacks
	@python3 tools/intervals.py build/sextant $(CASES)/*.csv $(addprefix cases/,h200-single-models.csv h200-single-experts.csv gemm-aiter.csv attention-flash2.csv attention-flash3.csv experts-triton.csv infer-llamacpp-spark.csv infer-rocm-vllm.csv serving-gpustack.csv serving-rocm-vllm.csv)

accuracy: build ## docs/accuracy.md anew, from the case files in CASES=FOLDER (minutes)
	@tools/accuracy.py build/sextant "$(CASES)"

format: ## clang-format over all sources
	@tools/setup.sh test
	@tools/format.sh

tidy: ## clang-tidy over all of src/
	@tools/setup.sh test
	@tools/tidy.sh

fuzz: ## every fuzz target, a minute each
	@tools/setup.sh test
	@fuzz/run.sh 60

clean: ## remove what was built
	@rm -rf build build-*
