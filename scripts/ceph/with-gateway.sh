#!/usr/bin/env bash
# Runs a command beside a real S3 gateway: Ceph's radosgw on one monitor and one object daemon that keeps everything in
# memory. The gateway's address and keys are in S3_TEST_*; it is gone when the command ends.
#   apt-get install --no-install-recommends radosgw ceph-mon ceph-osd
#   scripts/ceph/with-gateway.sh npx vitest run src/features/batch-exports/destinations/s3
set -euo pipefail

for program in ceph ceph-mon ceph-osd monmaptool radosgw radosgw-admin; do
  command -v "$program" > /dev/null || { echo "$program is not installed" >&2; exit 1; }
done

folder=$(mktemp -d)
started=()
stop() {
  for ((index = ${#started[@]} - 1; index >= 0; index--)); do
    kill "${started[index]}" 2> /dev/null || true
    wait "${started[index]}" 2> /dev/null || true
  done
  rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT TERM

free_port() {
  node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })'
}

wait_for() {
  for _ in $(seq 120); do
    "$@" > /dev/null 2>&1 && return
    sleep 0.5
  done
  echo "gave up waiting for: $*" >&2
  tail -n 20 "$folder"/*.log >&2
  exit 1
}

fsid=$(cat /proc/sys/kernel/random/uuid)
monitor="127.0.0.1:$(free_port)"
port=$(free_port)

# Without authentication there can be no secure connections, which the gateway would otherwise insist on: hence `crc`.
# The file is also what `ceph` and the daemons below read.
export CEPH_CONF="$folder/ceph.conf"
cat > "$CEPH_CONF" <<CONF
[global]
fsid = $fsid
mon_host = [v2:$monitor/0]
public_addr = 127.0.0.1
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
ms_mon_client_mode = crc
ms_client_mode = crc
ms_service_mode = crc
ms_cluster_mode = crc
run_dir = $folder
admin_socket = $folder/\$name.asok
pid_file = $folder/\$name.pid
log_file = $folder/\$name.log
crash_dir = $folder
mon_data = $folder/mon
mon_data_avail_crit = 1
mon_allow_pool_size_one = true
osd_data = $folder/osd
osd_objectstore = memstore
osd_crush_chooseleaf_type = 0
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 4
osd_pool_default_pgp_num = 4
osd_pool_default_pg_autoscale_mode = off
memstore_device_bytes = 4294967296
rgw_frontends = beast endpoint=127.0.0.1:$port
rgw_data = $folder/rgw
CONF
mkdir "$folder/mon" "$folder/osd" "$folder/rgw"

monmaptool --create --fsid "$fsid" --addv a "[v2:$monitor/0]" "$folder/monmap" > /dev/null
ceph-mon --mkfs -i a --monmap "$folder/monmap" > /dev/null
ceph-mon -f -i a > /dev/null 2>&1 &
started+=($!)
wait_for ceph --connect-timeout 5 mon stat

osd=$(cat /proc/sys/kernel/random/uuid)
id=$(ceph osd new "$osd")
ceph-osd -i "$id" --mkfs --osd-uuid "$osd" > /dev/null 2>&1
ceph-osd -f -i "$id" > /dev/null 2>&1 &
started+=($!)
wait_for bash -c 'ceph osd stat | grep -q "1 up"'

radosgw -f -n client.gateway > /dev/null 2>&1 &
started+=($!)
wait_for bash -c "exec 3<> /dev/tcp/127.0.0.1/$port"

export S3_TEST_ENDPOINT="http://127.0.0.1:$port"
export S3_TEST_ACCESS_KEY_ID=gateway-access-key
export S3_TEST_SECRET_ACCESS_KEY=gateway-secret-access-key
radosgw-admin user create --uid test --display-name test \
  --access-key "$S3_TEST_ACCESS_KEY_ID" --secret "$S3_TEST_SECRET_ACCESS_KEY" > /dev/null 2>&1

"$@"
