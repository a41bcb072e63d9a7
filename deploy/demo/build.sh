#!/bin/sh
# Builds the demo cluster program into the file OUT, unless OUT is up to date: `deploy/demo/build.sh OUT`.
# The first build compiles Kubernetes (five minutes on two cores). Later builds take some seconds.
set -eu
out=${1:?usage: build.sh OUT}
case $out in /*) ;; *) out=$PWD/$out ;; esac
cd "$(dirname "$0")"

# The Kubernetes version, set only here. It must have a valid form, because kubectl and client-go parse it.
kubernetes=v1.36.3
version=k8s.io/component-base/version
ldflags="-s -w -X $version.gitVersion=$kubernetes -X $version.gitMajor=1 -X $version.gitMinor=36"

sum=$({ go version; find . -type f \( -name '*.go' -o -name '*.yaml' -o -name go.mod -o -name go.sum -o -name build.sh \) \
	! -name '*_test.go' | LC_ALL=C sort | xargs cat; } | sha256sum | cut -d' ' -f1)
if [ -x "$out" ] && [ "$(cat "$out.sum" 2>/dev/null)" = "$sum" ]; then
	exit 0
fi
mkdir -p "$(dirname "$out")"
CGO_ENABLED=0 go build -trimpath -ldflags "$ldflags" -o "$out" .
echo "$sum" >"$out.sum"
