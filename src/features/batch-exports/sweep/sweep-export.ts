// The sweep of one export: its destination gets the runs that are over, and removes what they left there. The account
// stands in the export's log, also of a sweep that fails half-way.
import type { Redactor } from '../../../platform/secrets/redactor.ts'
import type { Services } from '../../../platform/services.ts'
import { isAimedElsewhere } from '../config.ts'
import type { Removed } from '../destinations/destination.ts'
import { DESTINATIONS } from '../destinations/index.ts'
import { classifyFailure } from '../engine/classify-failure.ts'
import { redactorOfExport } from '../engine/redactor-of-export.ts'
import { writeLog } from '../logs/write.ts'
import type { ExportRow, LogLevel } from '../rows.ts'
import { configOf, factsOf, isBegun, readFrozen, type FrozenRun } from '../runs/frozen.ts'
import { scrub } from '../scrub.ts'
import { accountOf } from './account.ts'
import { listRunsToSweep, listUploads, markSwept, type Stretch } from './queries.ts'

const UNREACHED = 'Earlier runs may have left unfinished uploads or staging tables'

export type Swept = { removed: number; is_done: boolean }

type Work = { services: Services; row: ExportRow; signal: AbortSignal; log: WriteLine }
type WriteLine = (level: LogLevel, message: string) => Promise<void>

/** A destination that cannot be reached, or says no, is left to the next sweep. */
export async function sweepExport(
  services: Services,
  row: ExportRow,
  stretch: Stretch,
  signal: AbortSignal,
): Promise<Swept> {
  const redactor = redactorOfExport(services, row)
  const log = logOf(services, row, redactor)
  const over = await listRunsToSweep(services.db, row, stretch)
  const runs: FrozenRun[] = []
  for (const run of over) {
    if (run.is_settled && isBegun(run)) runs.push(await readFrozen(services.db, run))
  }
  // The next sweep begins with the first that was passed over.
  const until = over.find(({ is_settled }) => !is_settled)?.finished_at ?? stretch.until
  const removed: Removed[] = []
  try {
    for await (const each of removeLeftovers({ services, row, signal, log }, runs)) removed.push(each)
    const run_ids = runs.map(({ id }) => id)
    await markSwept(services.db, row, run_ids, until)
    return { removed: removed.length, is_done: true }
  } catch (error) {
    const reason = signal.aborted ? 'It took too long.' : reasonOf(services, row, error, redactor)
    await log(
      'WARNING',
      `What earlier runs left could not be removed; the next daily sweep tries again. ${reason}`,
    )
    return { removed: removed.length, is_done: false }
  } finally {
    for (const line of accountOf(removed)) await log('INFO', line)
  }
}

async function* removeLeftovers(work: Work, runs: readonly FrozenRun[]): AsyncGenerator<Removed> {
  const { services, row, signal, log } = work
  const { outbound, settings } = services
  const kind = DESTINATIONS.get(row.destination_type)!
  const { sweep } = await kind.load()
  if (!sweep) return
  const uploads = await listUploads(
    services.db,
    row.project_id,
    runs.map(({ id }) => id),
  )
  for (const alike of byConfig(runs)) {
    const first = alike[0]!
    if (isAimedElsewhere(kind, row.config, first.definition.config)) {
      const target = kind.target(first.definition.config)
      await log('WARNING', `${UNREACHED} at ${target}. The export points elsewhere now: remove it by hand.`)
      continue
    }
    const swept = alike.map((run) => ({
      ...factsOf(run),
      uploads: uploads.filter(({ run_id }) => run_id === run.id),
    }))
    yield* sweep({ config: configOf(services, row, first), runs: swept, outbound, settings, signal })
  }
}

/** The configuration may have changed from run to run; each one's leftovers are where it went. */
function byConfig(runs: readonly FrozenRun[]): FrozenRun[][] {
  const groups = new Map<string, FrozenRun[]>()
  for (const run of runs) {
    const key = JSON.stringify(run.definition.config)
    groups.set(key, [...(groups.get(key) ?? []), run])
  }
  return [...groups.values()]
}

function reasonOf({ log }: Services, row: ExportRow, error: unknown, redactor: Redactor): string {
  const verdict = classifyFailure(error)
  if (verdict.kind !== 'ours') return verdict.message
  const err = redactor.cleanError(error)
  log.error({ err, batch_export_id: row.id }, 'the sweep of an export failed on our side')
  return 'Something went wrong in this server.'
}

function logOf(services: Services, row: ExportRow, redactor: Redactor): WriteLine {
  const { id: batch_export_id, project_id } = row
  const owner = { project_id, batch_export_id, run_id: null }
  return (level, message) => writeLog(services.db, owner, level, scrub(message, redactor), services.now())
}
