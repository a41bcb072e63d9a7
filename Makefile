# Everything that is done with this project, `make check` and `make test` being what CI runs.

NODES ?= 0
PODS  ?= 0
LIFE  ?= 20
PORT  ?=
TIME  ?= 10m

export CGO_ENABLED ?= 0
# The race detector needs a C compiler; without one the tests run without it, and say so. It makes them take minutes,
# of which a busy machine makes many.
RACE := $(shell command -v gcc >/dev/null 2>&1 && echo CGO_ENABLED=1 go test -race -timeout 30m || echo go test -timeout 30m)
LINT := go tool -modfile=$(CURDIR)/internal/tools/go.mod golangci-lint

.DEFAULT_GOAL := help
.PHONY: help build demo generate check test attack soak bench bench-page clean

help: ## Say what there is.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build the dashboard into bin/.
	go build -trimpath -ldflags '-s -w' -o bin/dashboard ./cmd/dashboard

demo: build ## Bring up a real cluster and the dashboard on it: NODES= PODS= LIFE= (changes a minute) PORT=
	@echo "Building the demo cluster: the first time this compiles Kubernetes, which takes some minutes."
	deploy/demo/build.sh .demo/bin/demo
	.demo/bin/demo up --data-dir .demo --nodes $(NODES) --pods $(PODS) --life $(LIFE) -- \
		bin/dashboard --log-level warn $(if $(PORT),--listen 127.0.0.1:$(PORT))

generate: web/node_modules/.package-lock.json ## Rebuild generated files: pages, script, style sheet, license notices.
	go generate ./web/...
	go generate .

check: generate ## Format, lint, types, and that what is generated is current.
	git diff --exit-code -- web/static/dist 'web/templates/*_templ.go' THIRD_PARTY_NOTICES go.mod go.sum
	go mod tidy -diff
	cd deploy/demo && go mod tidy -diff
	cd test/faults && go mod tidy -diff
	cd test/attack && go mod tidy -diff
	cd test/deploy && go mod tidy -diff
	cd test/oidc && go mod tidy -diff
	npm --prefix web run types
	$(LINT) run --allow-parallel-runners --build-tags integration ./...
	cd deploy/demo && GOFLAGS=-trimpath $(LINT) run --allow-parallel-runners --config ../../.golangci.yml --disable depguard ./...
	cd test/faults && $(LINT) run --allow-parallel-runners --build-tags soak --config ../../.golangci.yml --disable depguard ./...
	cd test/attack && $(LINT) run --allow-parallel-runners --config ../../.golangci.yml --disable depguard ./...
	cd test/deploy && $(LINT) run --allow-parallel-runners --build-tags integration --config ../../.golangci.yml --disable depguard ./...
	cd test/oidc && $(LINT) run --allow-parallel-runners --build-tags integration --config ../../.golangci.yml --disable depguard ./...

test: build web/node_modules/.package-lock.json ## All tests: unit, then against a cluster, in a browser, and with faults.
	$(RACE) ./...
	cd deploy/demo && go test -trimpath ./...
	cd test/deploy && go test ./...
	npm --prefix web test
	.ci/chromium
	.ci/nginx
	.ci/buildah
	deploy/demo/build.sh .demo/bin/demo
	.ci/on-demo .ci/cluster-tests

attack: build ## Run all attacks on the built program: BASELINE= a second program, whose figures are printed beside
	deploy/demo/build.sh .demo/bin/demo
	.ci/on-demo env DASHBOARD=$(CURDIR)/bin/dashboard BASELINE=$(abspath $(BASELINE)) GLASSHOUSE_ATTACK=full \
		go -C test/attack test -count=1 -timeout 90m -v .

soak: build ## Break everything at random for TIME= (10m), and compare what clients hold with the API server.
	deploy/demo/build.sh .demo/bin/demo
	.ci/on-demo env DASHBOARD=$(CURDIR)/bin/dashboard GLASSHOUSE_SOAK=$(TIME) \
		go -C test/faults test -tags soak -count=1 -timeout 0 -v -run TestSoak .

bench: build ## Measure against baselines in the same run, in one table: PODS= (10000), 100000 for memory alone
	deploy/demo/build.sh .demo/bin/demo
	PODS=$(PODS) .ci/bench

bench-page: build web/node_modules/.package-lock.json ## Measure the page in Chromium: PODS= (10000) MINUTES= (10) of growth
	deploy/demo/build.sh .demo/bin/demo
	.ci/chromium
	PODS=$(PODS) MINUTES=$(MINUTES) .ci/bench-page

clean: ## Remove what was built, and the demo cluster's data.
	rm -rf bin .demo web/node_modules

web/node_modules/.package-lock.json: web/package-lock.json
	npm ci --prefix web --no-audit --no-fund
	@touch $@
