// One scene: projects whose destinations fail under their backfills, and one that is well. The well one has runs of its
// schedule, and asks for a small backfill every two seconds.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../../src/platform/db/database.ts'
import { countCompleted, loadOf, startsOf, type Load, type Starts } from './measure.ts'
import type { Sink } from './sinks.ts'
import type { MadeExport, Tenants } from './tenants.ts'

export type Scene = {
  title: string
  sinks: readonly Sink[]
  /** How many there are over all of them; each is of a day. */
  backfills: number
  seconds: number
}

export type Outcome = Starts & { most: Load; waits: string[] }

export type Cast = { dead: readonly MadeExport[]; well: readonly MadeExport[] }

export type Stage = { db: Database; tenants: Tenants; now: () => Date }

/** Asked for at first, while all destinations work: later nobody takes a dead one for a typing error. */
const FIRST_HOURS = 2
const AT_A_TIME = 5
const BACKFILL_EVERY_MS = 2_000
const EXPORTS_OF_WELL = 3
const LOOK_EVERY_MS = 500
const MAX_LOOKS = 60

/** While all is well: makes the projects, and lets each export get through once. */
export async function prepare({ db, tenants }: Stage, scene: Scene): Promise<Cast> {
  const { sinks, backfills } = scene
  const hours = 24 * (Math.ceil(backfills / sinks.length) + 1)
  const dead: MadeExport[] = []
  const waiting = sinks.values()
  const makeNext = async () => {
    for (const { what, destination } of waiting) {
      const tenant = await tenants.make(what, hours)
      const made = await tenants.export(tenant, destination, { interval: 'hour', paused: true })
      await tenants.backfill(made, FIRST_HOURS, FIRST_HOURS)
      dead.push(made)
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, makeNext))
  const ids = dead.map(({ tenant }) => tenant.id)
  while ((await countCompleted(db, ids)) < dead.length) await sleep(200)
  return { dead, well: await makeWell(tenants) }
}

/** Once the dead ones are dead. */
export async function play(stage: Stage, scene: Scene, { dead, well }: Cast): Promise<Outcome> {
  const from = stage.now()
  for (let index = 0; index < scene.backfills; index++) {
    const day = Math.floor(index / dead.length)
    await stage.tenants.backfill(dead[index % dead.length]!, 24 * (1 + day) + FIRST_HOURS, 24)
  }
  const { tenant } = well[0]!
  const seen = await watch(stage, scene, dead, well)
  return { ...(await lastStarts(stage, tenant.id, from)), ...seen }
}

async function makeWell(tenants: Tenants): Promise<MadeExport[]> {
  const tenant = await tenants.make('well', 1)
  const made: MadeExport[] = []
  for (let index = 0; index < EXPORTS_OF_WELL; index++) {
    const destination = { type: 'File', config: { prefix: `well-${index}` } }
    made.push(await tenants.export(tenant, destination, { interval: 'every 5 minutes', paused: false }))
  }
  return made
}

/** While the well one asks for a backfill after the other. */
async function watch(
  { db, tenants, now }: Stage,
  { seconds }: Scene,
  dead: readonly MadeExport[],
  well: readonly MadeExport[],
): Promise<Pick<Outcome, 'most' | 'waits'>> {
  const ids = dead.map(({ tenant }) => tenant.id)
  const most: Load = { at_work: 0, unfinished: 0, breakers: 0 }
  const waits = new Set<string>()
  const end_ms = now().getTime() + seconds * 1000
  for (let asked = 0; now().getTime() < end_ms; asked++) {
    // One that happened in that hour and arrives now: nobody else has delivered it.
    await tenants.capture(well[0]!.tenant, [asked + FIRST_HOURS])
    await tenants.backfill(well[0]!, asked + FIRST_HOURS, 1)
    const load = await loadOf(db, ids)
    for (const key of ['at_work', 'unfinished', 'breakers'] as const)
      most[key] = Math.max(most[key], load[key])
    for (const said of await tenants.waits(dead[asked % dead.length]!))
      if (said !== null) waits.add(kindOf(said))
    await sleep(BACKFILL_EVERY_MS)
  }
  return { most, waits: [...waits].toSorted() }
}

/** Once all have ended that have begun, or should have long ago. */
async function lastStarts({ db, now }: Stage, project_id: number, from: Date): Promise<Starts> {
  const until = now()
  for (let tries = 0; ; tries++) {
    const starts = await startsOf(db, project_id, from, until, now())
    if (starts.completed === starts.runs || tries === MAX_LOOKS) return starts
    await sleep(LOOK_EVERY_MS)
  }
}

/** Without times and numbers of processes. */
function kindOf(said: string): string {
  return said.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…').replaceAll(/process \d+/g, 'process …')
}
