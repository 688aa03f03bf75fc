// What every step of starting and stopping needs to know; put together by embedded.ts.

import type { Binaries } from './binaries.ts'
import type { ClusterPaths } from './paths.ts'
import type { Runner } from './run-as.ts'

export type Log = {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export type Cluster = {
  paths: ClusterPaths
  binaries: Binaries
  runner: Runner
  /** What every connection must show. */
  password: string
  /** Settings of PostgreSQL over those of postmaster.ts. */
  settings: Record<string, string>
  log: Log
}
