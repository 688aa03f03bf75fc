// A run, step by step: freeze what it is about → select the rows → count them → encode → deliver. Every step may fail and
// be done again; attempt.ts decides what a failure means.
import type { Db } from '../../../platform/db/database.ts'
import type { PositionBlock } from '../../../platform/event-store/event-store.ts'
import type { DeliveryContext, DestinationKind } from '../destinations/destination.ts'
import { DESTINATIONS } from '../destinations/index.ts'
import { encode } from '../formats/encode.ts'
import type { OutputFile } from '../formats/encoding.ts'
import { planPieces } from '../formats/plan.ts'
import { findNewestArrival } from '../freshness/newest.ts'
import { countClaimed } from '../ledger/count.ts'
import { deliver } from '../runs/deliver.ts'
import { configOf, factsOf, selectionOf, type FrozenRun } from '../runs/frozen.ts'
import { updateRun, type RunChange, type RunEnd } from '../runs/queries.ts'
import type { SelectedRows } from '../source/select.ts'
import { assertDelivered, assertWithinClaims, assertWritten } from './account-open.ts'
import { insertUpload } from '../sweep/queries.ts'
import { warnOfCutTexts } from './cut-texts.ts'
import { freeze } from './freeze.ts'
import { assertNotDelivered, filesLeftBy, progressOf, uploadsLeftBy, withoutNeighbours } from './leftovers.ts'
import { Stopped, type Work } from './work.ts'

export async function performRun(work: Work): Promise<RunEnd> {
  const { services, signal, log } = work
  const run = await freeze(work)
  const { definition } = run
  const kind = DESTINATIONS.get(definition.destination_type)!
  const selection = selectionOf(services.eventStore, run)
  const plan = await planPieces(services.eventStore, selection.rows, signal)
  assertWithinClaims(run, plan.rows, await countClaimed(services, run, signal))
  await keep(work, { records_total_count: plan.rows })
  const left_files = filesLeftBy(run, (message) => log.write('WARNING', message))
  if (plan.rows === 0 && left_files.length === 0) {
    log.write('INFO', 'Nothing to export in this interval; the destination was not contacted.')
    return completed(0, [], [])
  }
  const target = kind.target(definition.config)
  if (plan.rows > 0) log.write('INFO', `Exporting ${plan.rows} rows to ${target}.`)
  else log.write('INFO', `Nothing to export in this interval any more; removing what was left at ${target}.`)
  await warnOfCutTexts(work, selection)
  // Before anything is sent: should the store be too busy for it, the next attempt sends nothing twice.
  const newest_arrival = await findNewestArrival(services.eventStore, run, plan.pieces)
  const end = await send(work, run, kind, selection, plan, left_files)
  assertDelivered(run, plan.rows, end.records_completed!)
  return { ...end, newest_arrival }
}

async function send(
  work: Work,
  run: FrozenRun,
  kind: DestinationKind,
  selection: SelectedRows,
  plan: { rows: number; pieces: readonly PositionBlock[] },
  left_files: readonly string[],
): Promise<RunEnd> {
  const { services, signal, log } = work
  const destination = work.watch.over(await kind.load())
  const left_uploads = await uploadsLeftBy(services.db, run)
  const context = { ...contextOf(work, run, selection), left_files, left_uploads }
  const encoding = destination.encoding(context.config, context.run)
  const files = encode(services.eventStore, selection.rows, plan.pieces, encoding, signal)
  const written: OutputFile[] = []
  let published: readonly string[] = []
  // Whoever does this again must know that some of its rows may be there.
  if (kind.is_piecewise) await keep(work, { published: [] })
  const delivered = await deliver(() => destination.open(context), files, {
    onWritten(file) {
      written.push(file)
      work.onProgress?.(file)
      log.write('DEBUG', `File ${file.index + 1}: ${file.rows} rows, ${file.bytes} bytes.`)
      signal.throwIfAborted()
    },
    // From here on it is too late to cancel: the destination decides. What an earlier attempt may have left stays written
    // down until it has been removed.
    beforeFinish: async (names) => {
      assertWritten(run, plan.rows, rowsIn(written))
      published = names
      await services.db.transaction(async (tx) => {
        await assertNotDelivered(tx, run, names)
        const all = [...new Set([...names, ...(run.published ?? [])])]
        await keep(work, { is_committing: true, published: all }, tx)
      })
    },
    confirm: (left) =>
      services.db.transaction(async (tx) => {
        const files = await withoutNeighbours(tx, run, left, (message) => log.write('WARNING', message))
        await keep(work, { is_committing: true }, tx)
        return files
      }),
  })
  return { ...completed(delivered.rows, delivered.files, written), published }
}

function contextOf(
  work: Work,
  run: FrozenRun,
  selection: SelectedRows,
): Omit<DeliveryContext, 'left_files' | 'left_uploads'> {
  const { services, signal, log, row } = work
  return {
    config: configOf(services, row, run),
    run: factsOf(run),
    columns: selection.columns,
    outbound: services.outbound,
    settings: services.settings,
    signal,
    log: (level, message) => log.write(level, message),
    progress: {
      last: progressOf(run),
      save: (progress) => keep(work, { progress }),
      began: (upload) => insertUpload(services.db, run, upload),
      leftOut: (left_out) => keep(work, { left_out }),
    },
  }
}

const rowsIn = (files: readonly OutputFile[]) => files.reduce((sum, { rows }) => sum + rows, 0)

function completed(rows: number, files: RunEnd['files'], written: readonly OutputFile[]): RunEnd {
  return {
    status: 'Completed',
    records_completed: rows,
    bytes_exported: written.reduce((sum, { bytes }) => sum + bytes, 0),
    files,
    latest_error: null,
  }
}

async function keep({ services, lease }: Work, change: RunChange, db: Db = services.db): Promise<void> {
  if (!(await updateRun(db, lease, change, services.now()))) throw new Stopped('lost')
}
