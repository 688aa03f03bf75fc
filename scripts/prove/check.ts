// Everything that must hold when a simulation has come to rest.
import { sql } from '../../src/platform/db/sql.ts'
import { checkAccount } from './check-account.ts'
import { checkBackfills } from './check-backfills.ts'
import { checkDeliveries } from './check-deliveries.ts'
import { checkHealed } from './check-healed.ts'
import { checkLedger } from './check-ledger.ts'
import { checkSchedule } from './check-schedule.ts'
import { gatherFacts, ownedBy, runText, type Facts } from './facts.ts'
import type { World } from './world.ts'

/** Fifteen attempts, and a few whose worker died while it was giving up. */
const MAX_FAILURES = 18

export async function checkWorld(world: World): Promise<void> {
  const facts = await gatherFacts(world)
  checkRuns(facts)
  checkSchedule(facts)
  checkLedger(facts)
  checkBackfills(facts)
  checkHealed(facts)
  checkDeliveries(facts)
  await checkSlots(world)
  for (const row of facts.exports) if (row.deleted_at === null) await checkAccount(facts, row)
  count(facts)
}

/** Each has ended, nobody holds it, and its figures are those of the events it owns. */
function checkRuns(facts: Facts): void {
  const { world, runs } = facts
  for (const run of runs) {
    const wrong = (what: string) => world.wrong(`${runText(run)} ${what}`)
    if (run.finished_at === null) wrong('has not ended')
    if (run.lease_owner !== null) wrong('is still held')
    if (run.failures > MAX_FAILURES) wrong(`has failed ${run.failures} times`)
    if (run.status !== 'Completed') continue
    const owned = ownedBy(facts, run)
    if (owned === null) wrong('is completed and was never frozen')
    else if (run.records_completed !== owned.length || run.records_total_count !== owned.length) {
      wrong(`says ${run.records_completed} of ${run.records_total_count} rows, and owns ${owned.length}`)
    }
  }
}

async function checkSlots(world: World): Promise<void> {
  const slot = await world.proof.db.row<{ active: number }>(
    sql`SELECT active FROM batch_export_slot WHERE project_id = ${world.project.id}`,
  )
  if (slot && slot.active !== 0) world.wrong(`${slot.active} slots are taken at the end`)
}

function count({ world: { tally, store, places }, runs, backfills }: Facts): void {
  tally.add('runs', runs.length)
  for (const { status, attempt } of runs) {
    tally.add(`runs that ended ${status}`)
    tally.add('runs taken up again', Math.max(0, attempt - 1))
  }
  tally.add('backfills and retries', backfills.length)
  tally.add('events', store.events.length)
  tally.add(
    'rows delivered by completed runs',
    runs.reduce((sum, run) => sum + (run.records_completed ?? 0), 0),
  )
  tally.add('batches posted', places.batches.length)
}
