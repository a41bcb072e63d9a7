# The targets of this project. CI runs `make check` and `make test`.

NODES ?= 0
PODS  ?= 0
LIFE  ?= 20
PORT  ?=
TIME  ?= 10m

# With the same flags, all steps share compiled packages. Only the race detector needs cgo.
export CGO_ENABLED ?= 0
export GOFLAGS ?= -trimpath
# The race detector needs a C compiler. With it, the tests take minutes, and on a busy machine many, so the timeout is 30
# minutes. -short skips the tests that would take longest.
RACE := $(shell command -v gcc)
LINT := go tool -modfile=$(CURDIR)/internal/tools/go.mod golangci-lint

.DEFAULT_GOAL := help
.PHONY: help build demo dev unit generate format words size check test attack soak bench bench-page release clean

help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build the dashboard into bin/.
	go build -trimpath -ldflags '-s -w' -o bin/dashboard ./cmd/dashboard

demo: build ## Start a real cluster and the dashboard: NODES= PODS= LIFE= (changes per minute) PORT=
	@echo "Building the demo cluster: the first time this compiles Kubernetes, which takes some minutes."
	deploy/demo/build.sh .demo/bin/demo
	.demo/bin/demo up --data-dir .demo --nodes $(NODES) --pods $(PODS) --life $(LIFE) -- \
		bin/dashboard --log-level warn $(if $(PORT),--listen 127.0.0.1:$(PORT))

dev: web/node_modules/.package-lock.json ## Run the demo, and rebuild and restart the dashboard whenever a source file is saved.
	deploy/demo/build.sh .demo/bin/demo
	.demo/bin/demo up --data-dir .demo --nodes $(NODES) --pods $(PODS) --life $(LIFE) -- \
		.ci/dev --log-level warn --listen 127.0.0.1:$(or $(PORT),8080)

generate: web/node_modules/.package-lock.json ## Rebuild generated files: pages, script, styles, license notices, reference.
	go generate ./web/...
	go generate .

format: web/node_modules/.package-lock.json ## Format TypeScript, JavaScript and CSS.
	npm --prefix web run format

words: ## Check spelling, refused words and the length of lines.
	.ci/lines.mjs
	npm ci --prefix .ci/spelling --no-audit --no-fund
	.ci/spelling/node_modules/.bin/cspell lint --config .ci/spelling/cspell.json --root . --no-progress --quiet --dot '**'

size: ## Print the size of the code base with its limits.
	.ci/size.mjs --check

check: generate words size ## Check format, lint, types, words, size and generated files.
	git diff --exit-code -- web/static/dist 'web/templates/*_templ.go' THIRD_PARTY_NOTICES docs/reference.md docs/invariants.md go.mod go.sum
	go mod tidy -diff
	cd deploy/demo && go mod tidy -diff
	cd test/faults && go mod tidy -diff
	cd test/attack && go mod tidy -diff
	cd test/incidents && go mod tidy -diff
	cd test/deploy && go mod tidy -diff
	cd test/oidc && go mod tidy -diff
	cd test/argocd && go mod tidy -diff
	npm --prefix web run lint
	npm --prefix web run types
	go run ./internal/typecheck ./cmd/dashboard darwin/arm64 windows/amd64
	$(LINT) run --allow-parallel-runners --build-tags integration ./...
	cd deploy/demo && $(LINT) run --allow-parallel-runners --config ../../.golangci.yml --disable depguard ./...
	cd test/faults && $(LINT) run --allow-parallel-runners --build-tags soak --config ../../.golangci.yml --disable depguard ./...
	cd test/attack && $(LINT) run --allow-parallel-runners --config ../../.golangci.yml --disable depguard ./...
	cd test/incidents && $(LINT) run --allow-parallel-runners --config ../../.golangci.yml --disable depguard ./...
	cd test/deploy && $(LINT) run --allow-parallel-runners --build-tags integration --config ../../.golangci.yml --disable depguard ./...
	cd test/oidc && $(LINT) run --allow-parallel-runners --build-tags integration --config ../../.golangci.yml --disable depguard ./...
	cd test/argocd && $(LINT) run --allow-parallel-runners --config ../../.golangci.yml --disable depguard ./...

unit: ## Run the unit tests of Go: no cluster, no browser, no npm.
	go test ./...
	cd test/argocd && go test ./...

test: ## Run all tests: unit, cluster, browser, faults, incidents.
	.ci/packages chromium-headless-shell firefox-esr nginx openssl buildah
	$(MAKE) build web/node_modules/.package-lock.json
	.ci/go-test . ./... -timeout 10m
	$(if $(RACE),CGO_ENABLED=1 .ci/go-test . "$$(.ci/concurrent-packages)" -race -short -timeout 30m)
	.ci/go-test deploy/demo ./...
	.ci/go-test test/deploy ./...
	.ci/go-test test/argocd ./...
	npm --prefix web test
	deploy/demo/build.sh .demo/bin/demo
	.ci/on-demo .ci/cluster-tests
	.ci/on-demo env DASHBOARD=$(CURDIR)/bin/dashboard .ci/go-test test/incidents . -count=1 -timeout 20m

attack: build ## Run all attacks on the built program: BASELINE= a second program to compare with
	deploy/demo/build.sh .demo/bin/demo
	.ci/on-demo env DASHBOARD=$(CURDIR)/bin/dashboard BASELINE=$(abspath $(BASELINE)) GLASSHOUSE_ATTACK=full \
		go -C test/attack test -count=1 -timeout 90m -v .

soak: build ## Inject random faults for TIME= (10m), and compare the clients' state with the API server.
	deploy/demo/build.sh .demo/bin/demo
	.ci/on-demo env DASHBOARD=$(CURDIR)/bin/dashboard GLASSHOUSE_SOAK=$(TIME) \
		go -C test/faults test -tags soak -count=1 -timeout 0 -v -run TestViewersConvergeDuringSoak .

bench: build ## Run benchmarks with baselines in the same run: PODS= (10000), 100000 for memory only
	deploy/demo/build.sh .demo/bin/demo
	PODS=$(PODS) .ci/bench

bench-page: build web/node_modules/.package-lock.json ## Measure the page in Chromium: PODS= (10000) MINUTES= (10) of growth
	deploy/demo/build.sh .demo/bin/demo
	.ci/packages chromium
	PODS=$(PODS) MINUTES=$(MINUTES) .ci/bench-page

release: ## Build the files of a release into dist/: archives, SBOMs, images, checksums. SNAPSHOT=1 without a tag
	.ci/packages buildah zip
	.ci/release $(if $(SNAPSHOT),--snapshot)

clean: ## Remove build results and the data of the demo cluster.
	rm -rf bin dist .demo web/node_modules

web/node_modules/.package-lock.json: web/package-lock.json
	npm ci --prefix web --no-audit --no-fund
	@touch $@
