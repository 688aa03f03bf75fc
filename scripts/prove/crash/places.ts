// Where the exports go: a folder, a bucket, a table and an endpoint. They live with the prover and survive the server.
import { watch, type FSWatcher } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Env } from '../../../test/end-to-end/program.ts'
import { startCaptureServer, type CaptureStandIn } from '../../../test/stand-ins/capture-server.ts'
import { startPostgresServer, type PostgresStandIn } from '../../../test/stand-ins/postgres.ts'
import { startS3Server, type S3Server } from '../../../test/stand-ins/s3/server.ts'
import type { Bucket } from '../../../test/stand-ins/s3/store.ts'

const BUCKET = 'exports'
export const TOKEN = 'phc_of_the_endpoint'

/** `table` and `endpoint` have one export each, the others two. */
export type Kind = 'folder' | 'bucket' | 'table' | 'endpoint'

export type PlannedExport = {
  name: string
  kind: Kind
  /** Without a schedule, for backfills alone: files of a backfill stand where those of the schedule do. */
  paused: boolean
  destination: { type: string; config: Record<string, unknown> }
}

export type Places = {
  folder: string
  bucket: Bucket
  warehouse: PostgresStandIn
  endpoint: CaptureStandIn
  exports: readonly PlannedExport[]
  /** How often something has happened there: calls, statements, files made or renamed. */
  exchanges(kind: Kind): number
  /** A delivered file by its name; null when it is not there. */
  read(kind: Kind, name: string): Promise<Buffer | null>
  close(): Promise<void>
}

/** What a server needs to reach them. */
export const REACH: Env = { OUTBOUND_ALLOW: '127.0.0.1', ALLOW_PLAINTEXT: 'on' }

const PREFIXES = { lines: 'lines', parquet: 'parquet', backfilled: 'backfilled' }

/** `root` is the server's folder for exports. */
export async function openPlaces(root: string): Promise<Places> {
  const folder = join(root, '1') // of the only project
  const s3 = await startS3Server([BUCKET])
  const endpoint = await startCaptureServer(TOKEN)
  const warehouse = await startPostgresServer()
  const proxy = await warehouse.openProxy()
  const bucket = s3.buckets.get(BUCKET)!
  let in_folder = 0
  const watchers = await watchFolders(folder, () => in_folder++)
  const counts: Record<Kind, () => number> = {
    folder: () => in_folder,
    bucket: () => s3.calls.length,
    table: () => proxy.count(),
    endpoint: () => endpoint.requests(),
  }
  return {
    folder,
    bucket,
    warehouse,
    endpoint,
    exports: planExports(s3, { ...warehouse.login, port: proxy.port }, endpoint.url),
    exchanges: (kind) => counts[kind](),
    async read(kind, name) {
      if (kind === 'bucket') return bucket.objects.get(name)?.content ?? null
      return readFile(join(folder, name)).catch(() => null)
    },
    async close() {
      for (const watcher of watchers) watcher.close()
      await proxy.close()
      await warehouse.close()
      await endpoint.close()
      await s3.close()
    },
  }
}

async function watchFolders(folder: string, onChange: () => void): Promise<FSWatcher[]> {
  const folders = Object.values(PREFIXES).map((prefix) => join(folder, prefix))
  for (const each of folders) await mkdir(each, { recursive: true })
  return folders.map((each) => watch(each, onChange))
}

function planExports(s3: S3Server, login: object, url: string): PlannedExport[] {
  const file = (prefix: string, config: object) => ({ type: 'File', config: { prefix, ...config } })
  const object = (prefix: string) => ({
    type: 'S3',
    config: {
      bucket_name: BUCKET,
      region: s3.region,
      prefix,
      aws_access_key_id: s3.access_key_id,
      aws_secret_access_key: s3.secret_access_key,
      endpoint_url: s3.url,
      max_file_size_mb: 1,
    },
  })
  const gzip = { compression: 'gzip', max_file_size_mb: 1 }
  const parquet = { file_format: 'Parquet', compression: 'zstd' }
  const table = { type: 'Postgres', config: { host: '127.0.0.1', ...login } }
  const http = { type: 'HTTP', config: { url, token: TOKEN } }
  const planned = (name: string, kind: Kind, destination: PlannedExport['destination'], paused = false) => ({
    name,
    kind,
    paused,
    destination,
  })
  return [
    planned('lines', 'folder', file(PREFIXES.lines, gzip)),
    planned('Parquet', 'folder', file(PREFIXES.parquet, parquet)),
    planned('S3', 'bucket', object('scheduled/{table}')),
    planned('Postgres', 'table', table),
    planned('HTTP', 'endpoint', http),
    planned('lines of backfills', 'folder', file(PREFIXES.backfilled, gzip), true),
    planned('S3 of backfills', 'bucket', object('backfilled/{table}'), true),
  ]
}
