#!/usr/bin/env bash
# Builds a release of the commit that is checked out into release/: the package, what deploys it, the image where Docker is
# there, and the sums of all. The same commit gives the same package, byte for byte, wherever it is built.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -n "$(git status --porcelain)" ]; then
  echo 'release: there are changes that are not committed' >&2
  exit 1
fi
version=$(node -p "require('./package.json').version")
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C
umask 022

# A copy of the commit and nothing else: what lies about in a checkout has no part in it.
sources=$(mktemp -d)
trap 'rm -rf "$sources"' EXIT
git archive HEAD | tar -x -C "$sources"
release=$PWD/release
rm -rf "$release" && mkdir "$release"

cd "$sources"
npm ci
npm run build
npm pack --pack-destination "$release"
cp -p compose.yaml .env.example deploy/systemd/longshore.service "$release"

if docker buildx version >/dev/null 2>&1; then
  # By its digest, so that the same commit gets the same Node.
  docker buildx build . --platform linux/amd64,linux/arm64 --tag "longshore:$version" --tag longshore:latest --provenance=false \
    --build-arg SOURCE_DATE_EPOCH --build-arg "NODE_IMAGE=${NODE_IMAGE:-node:22-bookworm-slim}" \
    --output "type=oci,rewrite-timestamp=true,dest=$release/longshore-$version.oci.tar"
else
  echo 'release: no image, because docker buildx is not installed' >&2
fi

cd "$release"
sha256sum .env.example ./* | sed 's, \./, ,' >SHA256SUMS
cat SHA256SUMS
