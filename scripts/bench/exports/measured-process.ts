// A process of its own for every measured thing, ours or bare: neither finds the other's memory or threads. Orders come
// in by the environment, answers go back as a message.
import { createExport } from '../../../src/features/batch-exports/create.ts'
import type { ExportRow, RunRow } from '../../../src/features/batch-exports/rows.ts'
import type { VerificationRow } from '../../../src/features/batch-exports/verification/rows.ts'
import { beginExport, workOff } from '../../../src/cli/exports/export-range.ts'
import { withWorkspace } from '../../../src/cli/exports/open-workspace.ts'
import { verifyExports } from '../../../src/cli/exports/verify-exports.ts'
import type { ProjectRow } from '../../../src/features/projects/schema.ts'
import { sql } from '../../../src/platform/db/sql.ts'
import type { EventStore } from '../../../src/platform/event-store/event-store.ts'
import type { Services } from '../../../src/platform/services.ts'
import { postmasterOf } from '../../../test/end-to-end/program.ts'
import { startS3Server } from '../../../test/stand-ins/s3/server.ts'
import { onFiles, upload, type Bucket } from './bare.ts'
import { addPast, type Past } from './past.ts'
import { postgresCpuS } from './process-figures.ts'
import { configOf, type SampleStore } from './sample-store.ts'

export type Destination = { type: string; config: Record<string, unknown> }

export type ExportOptions = {
  /** What the export has behind it. */
  past?: Past
  /** Then what was delivered is read back. */
  is_verified?: boolean
  /** Then what is asked before there is a run, how much there is to export, does not count. */
  is_run_alone?: boolean
  /** A PostgreSQL that it goes to: what that does counts too. */
  postmaster?: number
}

export type Order =
  | ({ kind: 'export'; store: SampleStore; destination: Destination } & ExportOptions)
  /** COPY, then the file to S3 if that is asked for. */
  | { kind: 'copy'; store: SampleStore; sql: string; upload?: { bucket: Bucket; key: string; path: string } }
  | { kind: 's3'; bucket_name: string }

export type Measured = {
  seconds: number
  cpu_s: number
  /** Null where nobody asked. */
  peak_mb: number | null
}

export type Exported = Measured & {
  rows: number
  /** Events that the past had taken. */
  taken_before: number
  /** Null where nobody asked. */
  verified: Measured | null
  files: NonNullable<RunRow['files']>
  /** How long calls to the event store took; some go at the same time. */
  store_s: { counting: number; asking: number; writing: number }
}

export async function runOrder(order: Order): Promise<void> {
  const answer = await carryOut(order)
  process.send!(answer, () => {
    if (order.kind !== 's3') process.disconnect()
  })
}

async function carryOut(order: Order): Promise<Exported | Measured | Bucket> {
  switch (order.kind) {
    case 'export':
      return exportAll(order)
    case 'copy':
      return onFiles(order.store, (connection) =>
        measured(async () => {
          await connection.run(order.sql)
          if (order.upload) await upload(order.upload.bucket, order.upload.key, order.upload.path)
        }),
      )
    case 's3':
      return serveS3(order.bucket_name)
  }
}

/** The real engine on the real stores, as `longshore export` has them: from the wish to the end of the run. */
function exportAll(order: Extract<Order, { kind: 'export' }>): Promise<Exported> {
  const { store, destination, past, is_verified = false, is_run_alone = false, postmaster } = order
  return withWorkspace(configOf(store.folder), async (services) => {
    const own = (await postmasterOf(store.folder))!
    const cpuS = () => [own, ...(postmaster === undefined ? [] : [postmaster])].map(postgresCpuS).reduce(add)
    const project = await services.db.only<ProjectRow>(sql`SELECT * FROM project`)
    const change = { services, db: services.db, caller: null, request: { ip: '' }, now: services.now() }
    const body = { name: 'Bench', interval: 'week', paused: true, destination } as const
    const row = await createExport(change, project, body)
    const range = { start_at: new Date(store.start_at), end_at: new Date(store.end_at) }
    const taken_before = past ? await addPast(services, row, store, past) : 0
    const { watched, store_s } = watch(services)
    const { signal } = new AbortController()
    let runs: RunRow[] = []
    const begin = () => beginExport(watched, row, range)
    const begun = is_run_alone ? await begin() : null
    const figures = await measured(async () => {
      ;({ runs } = await workOff(watched, row, begun ?? (await begin()), signal, () => undefined))
    }, cpuS)
    const [run] = runs
    if (runs.length !== 1 || run?.status !== 'Completed') {
      throw new Error(`${runs.length} runs, ${run?.status}: ${run?.latest_error}`)
    }
    const verified = is_verified ? await measured(() => verifyAll(services, row, run), cpuS) : null
    return { ...figures, rows: run.records_completed!, taken_before, verified, files: run.files!, store_s }
  })
}

/** Throws unless all rows were read and are right. */
async function verifyAll(services: Services, row: ExportRow, run: RunRow): Promise<void> {
  const results: VerificationRow[] = []
  await verifyExports(services.db, services, [row], new AbortController().signal, (_, result) =>
    results.push(result),
  )
  const [result] = results
  if (result?.verdict !== 'intact' || result.rows !== run.records_completed) {
    throw new Error(
      `${result?.rows} rows were read back: ${result?.verdict}, ${JSON.stringify(result?.problems)}`,
    )
  }
}

const add = (one: number, other: number) => one + other

function watch(services: Services): { watched: Services; store_s: Exported['store_s'] } {
  const { eventStore } = services
  const store_s = { counting: 0, asking: 0, writing: 0 }
  const timed =
    <Args extends unknown[], Result>(what: keyof typeof store_s, call: (...args: Args) => Promise<Result>) =>
    async (...args: Args) => {
      const began = performance.now()
      try {
        return await call(...args)
      } finally {
        store_s[what] += (performance.now() - began) / 1000
      }
    }
  const watched: EventStore = {
    ...eventStore,
    countBlocks: timed('counting', eventStore.countBlocks),
    cutRows: timed('counting', eventStore.cutRows),
    query: timed('asking', eventStore.query),
    exportRows: timed('writing', eventStore.exportRows),
  }
  return { watched: { ...services, eventStore: watched }, store_s }
}

/** `othersCpuS` is what processes beside this one have used. */
async function measured(work: () => Promise<void>, othersCpuS = () => 0): Promise<Measured> {
  const [cpu, others, began] = [process.cpuUsage(), othersCpuS(), performance.now()]
  await work()
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const peak_mb = (process.resourceUsage().maxRSS * 1024) / 1e6
  return { seconds, cpu_s: (user + system) / 1e6 + othersCpuS() - others, peak_mb }
}

/** Until the bench lets go of it. */
async function serveS3(bucket_name: string): Promise<Bucket> {
  const server = await startS3Server([bucket_name])
  process.once('disconnect', () => void server.close())
  return {
    endpoint_url: server.url,
    region: server.region,
    bucket_name,
    aws_access_key_id: server.access_key_id,
    aws_secret_access_key: server.secret_access_key,
  }
}
