// What happens by itself and what people do, one act at a time: time passes, clocks are set, events arrive, exports are
// changed by the code behind the routes.
import { cancelBackfill } from '../../src/features/batch-exports/backfills/cancel.ts'
import { retryRun } from '../../src/features/batch-exports/backfills/retry.ts'
import { changeExport, type Addressed } from '../../src/features/batch-exports/change.ts'
import type { Change } from '../../src/features/batch-exports/create.ts'
import { getExport, lockExport } from '../../src/features/batch-exports/queries.ts'
import { reconcile } from '../../src/features/batch-exports/reconciliation/reconcile.ts'
import type { BackfillRow, RunRow } from '../../src/features/batch-exports/rows.ts'
import { BACKFILL_COLUMNS, RUN_COLUMNS } from '../../src/features/batch-exports/runs/columns.ts'
import { cancelRun } from '../../src/features/batch-exports/runs/queries.ts'
import {
  backfillExport,
  deleteExport,
  repairExport,
  resumeExport,
} from '../../src/features/batch-exports/actions.ts'
import { runNow } from '../../src/features/batch-exports/schedule/run-now.ts'
import { RowGone } from '../../src/platform/db/database.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { StoreBusy } from '../../src/platform/event-store/event-store.ts'
import { ApiError } from '../../src/platform/http/errors.ts'
import type { Services } from '../../src/platform/services.ts'
import type { Random } from '../crash/random.ts'
import { drawFilter, INTERVALS } from './scenario.ts'
import { describe, isMeant, servicesOf } from './worker.ts'
import type { World } from './world.ts'

const MINUTE_MS = 60_000

type Deed = (context: Deeds) => Promise<unknown>
type Deeds = { world: World; random: Random; services: Services; change: Change; at: Addressed }

const DEEDS: Record<string, { weight: number; deed: Deed }> = {
  pause: { weight: 4, deed: ({ change, at }) => changeExport(change, at, { paused: true }) },
  unpause: { weight: 4, deed: ({ change, at }) => resumeExport(change, at, {}) },
  'unpause with backfill': {
    weight: 3,
    deed: ({ change, at }) => resumeExport(change, at, { backfill: true }),
  },
  backfill: {
    weight: 6,
    deed: ({ random, change, at }) => backfillExport(change, at, drawRange(random, change)),
  },
  repair: {
    weight: 4,
    deed: ({ random, change, at }) => repairExport(change, at, drawRange(random, change)),
  },
  // Only when the storm is over.
  'backfill everything': {
    weight: 0,
    deed: ({ change, at }) => backfillExport(change, at, { end_at: change.now.toISOString() }),
  },
  'backfill without an end': {
    weight: 3,
    deed: ({ random, change, at }) => backfillExport(change, at, drawStart(random, change)),
  },
  'cancel a run': { weight: 8, deed: cancelSomeRun },
  'retry a run before its end': { weight: 1, deed: (context) => retrySomeRun(context, true) },
  'cancel a backfill': { weight: 3, deed: cancelSomeBackfill },
  'retry a run': { weight: 5, deed: (context) => retrySomeRun(context, false) },
  'change the filter': {
    weight: 5,
    deed: ({ random, change, at }) =>
      changeExport(change, at, { destination: { config: drawFilter(random) } }),
  },
  'change the size of files': { weight: 4, deed: changeFileSize },
  'change the interval': {
    weight: 3,
    deed: ({ random, change, at }) => changeExport(change, at, { interval: random.pick(INTERVALS) }),
  },
  'run now': {
    weight: 2,
    deed: ({ services, change, at }) => services.db.transaction((tx) => runNow(tx, at.row, change.now)),
  },
  'look at the account': { weight: 1, deed: lookAtAccount },
  delete: { weight: 1, deed: ({ change, at }) => deleteExport(change, at) },
}

const NAMES = Object.entries(DEEDS).flatMap(([name, { weight }]) =>
  Array.from({ length: weight }, () => name),
)

/** Somebody does something to some export; it is done when the calls have been let through. */
export async function actOnExport(world: World, name = world.random.pick(NAMES), id?: string): Promise<void> {
  const { random, exports, clock, project, proof } = world
  const export_id = id ?? random.pick(exports).id
  const row = await getExport(proof.db, project.id, export_id).catch(() => null)
  if (!row) return
  const actor = world.newActor('person', `p${++world.deeds}`)
  world.note(actor.name, `${name}: ${export_id}`)
  world.tally.add(`people: ${name}`)
  const services = servicesOf(world, actor)
  const request = { ip: '127.0.0.1' }
  const change: Change = { caller: null, request, now: clock.now(), services, db: services.db }
  const deeds = { world, random: random.fork(), services, change, at: { project, row } }
  DEEDS[name]!.deed(deeds).catch((error: unknown) => {
    const isRefused = [ApiError, RowGone, StoreBusy].some((kind) => error instanceof kind)
    if (!isRefused && !isMeant(error)) world.wrong(`${name} fell: ${describe(error)}`)
  })
}

/** A run that is done again afterwards writes other files. */
async function changeFileSize({ random, change, at }: Deeds): Promise<void> {
  if (at.row.destination_type !== 'File') return
  const max_file_size_mb = random.chance(50) ? 1 : null
  await changeExport(change, at, { destination: { config: { max_file_size_mb } } })
}

/** Anything within the last hour, on the grid or off it. */
function drawRange(random: Random, { now }: Change): Record<string, string> {
  const end_at = backFrom(now, random, 20)
  return random.chance(20) ? { end_at } : { start_at: backFrom(now, random, 60), end_at }
}

/** For endpoints alone; the schedule goes on where it stops. */
function drawStart(random: Random, { now }: Change): Record<string, string> {
  return { start_at: backFrom(now, random, 40) }
}

function backFrom(now: Date, random: Random, minutes: number): string {
  const at = now.getTime() - random.below(minutes) * MINUTE_MS
  return new Date(random.chance(50) ? at - (at % (5 * MINUTE_MS)) : at).toISOString()
}

async function cancelSomeRun(context: Deeds): Promise<void> {
  const run = await someRun(context, true)
  if (run) await context.services.db.transaction((tx) => cancelRun(tx, run, context.change.now))
}

async function retrySomeRun(context: Deeds, is_live: boolean): Promise<void> {
  const run = await someRun(context, is_live)
  if (!run) return
  await context.services.db.transaction(async (tx) => {
    await lockExport(tx, run.project_id, run.batch_export_id)
    await retryRun(tx, run, context.change.now)
  })
}

async function someRun({ world, random }: Deeds, is_live: boolean): Promise<RunRow | undefined> {
  const runs = await world.look<RunRow>(sql`
    SELECT ${RUN_COLUMNS} FROM batch_export_run
    WHERE project_id = ${world.project.id} AND (finished_at IS NULL) = ${is_live} ORDER BY id`)
  return runs.length > 0 ? random.pick(runs) : undefined
}

async function cancelSomeBackfill({ world, random, services, change }: Deeds): Promise<void> {
  const live = await world.look<BackfillRow>(sql`
    SELECT ${BACKFILL_COLUMNS} FROM batch_export_backfill
    WHERE project_id = ${world.project.id} AND finished_at IS NULL ORDER BY id`)
  if (live.length === 0) return
  const backfill = random.pick(live)
  await services.db.transaction((tx) => cancelBackfill(tx, backfill, change.now))
}

/** At any moment no part of it is less than nothing. */
async function lookAtAccount({ world, services, change, at }: Deeds): Promise<void> {
  const page = { limit: 100, offset: 0 }
  const { intervals, ...account } = await reconcile(services, at.row, page, change.now)
  const parts = [account, ...intervals].flatMap(({ received, exported, filtered_out, pending, skipped }) => {
    return [received, exported, filtered_out, pending, skipped]
  })
  if (parts.some((part) => part < 0)) world.wrong(`an account does not add up: ${JSON.stringify(account)}`)
}
