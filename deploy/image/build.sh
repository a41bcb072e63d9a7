#!/bin/sh
# Builds the image into an OCI layout: `deploy/image/build.sh FOLDER [TAG]`. It needs Go and buildah, no registry and no
# daemon. The same source produces the same image, bit for bit. Push it with `buildah push` or `skopeo copy oci:FOLDER:TAG docker://...`.
set -eu
out=${1:?usage: build.sh FOLDER [TAG]}
tag=${2:-0.1.0}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/../.."
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT

arch=$(go env GOARCH)
CGO_ENABLED=0 GOOS=linux go build -trimpath -buildvcs="${BUILDVCS:-auto}" -ldflags '-s -w' -o "$context/dashboard" ./cmd/dashboard
chmod 0555 "$context/dashboard"
install -m 0444 LICENSE THIRD_PARTY_NOTICES "$context"
buildah --root "$context/store" --runroot "$context/run" --storage-driver vfs build --isolation chroot --arch "$arch" \
	--timestamp 0 --identity-label=false --label org.opencontainers.image.title=glasshouse --label "org.opencontainers.image.version=$tag" \
	--file deploy/image/Containerfile --tag "localhost/glasshouse:$tag" "$context"
buildah --root "$context/store" --runroot "$context/run" --storage-driver vfs push "localhost/glasshouse:$tag" "oci:$out:$tag"
