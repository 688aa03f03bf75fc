// The settings our PostgreSQL runs with: a small machine, nothing but the socket, and no risk to what was committed.

import type { ClusterPaths } from './paths.ts'

export function commandLine(paths: ClusterPaths, extra: Record<string, string>): string[] {
  const settings = { ...smallMachine, ...socketOnly(paths.socketFolder), ...extra }
  return [
    '-D',
    paths.folder,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]
}

function socketOnly(folder: string) {
  return {
    listen_addresses: '',
    unix_socket_directories: `"${folder.replaceAll('"', '""')}"`, // a list: spaces and commas count
    unix_socket_permissions: '0700',
  }
}

const smallMachine = {
  shared_buffers: '32MB',
  max_connections: '40',
  io_method: 'sync', // no separate input/output processes
  jit: 'off',
  // Nobody replicates from here; a crash is recovered from all the same.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  min_wal_size: '32MB',
  max_wal_size: '256MB',
  autovacuum_max_workers: '1',
  autovacuum_worker_slots: '2',
  max_worker_processes: '2',
  max_parallel_workers: '0',
  max_parallel_workers_per_gather: '0',
  // Errors of statements reach us and are logged there; twice would only make the file grow.
  log_min_messages: 'log',
  log_checkpoints: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
}
