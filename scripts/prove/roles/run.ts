// Rounds of chaos among processes of all roles: in each one process is killed or stands still for longer than its leases,
// and now and then a store goes away. Between them everything may settle and is looked at. What happens comes from the seed.
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../../../src/platform/db/sql.ts'
import type { Program } from '../../../test/end-to-end/program.ts'
import { Random } from '../../crash/random.ts'
import { expectWholeTable } from '../crash/table.ts'
import { expectWholePlace } from '../crash/whole-place.ts'
import { listGaps } from '../crash/runs.ts'
import { listHolders } from './lease-watch.ts'
import type { Member } from './member.ts'
import { Stage } from './stage.ts'

export type RolesRound = {
  round: number
  deeds: string[]
  events: number
  is_settled: boolean
  faults: string[]
}

export type RolesProof = {
  events: number
  runs: number
  attempts: number
  /** Names of the workers that have held a run. */
  holders: string[]
  /** How often what can be seen was compared with what was seen before. */
  looks: number
  /** Given to the app more than once. */
  repeated: number
  faults: string[]
}

export type RolesOptions = {
  program: Program
  rounds: number
  seed: number
  onRound?(round: RolesRound): void
}

/** Longer than any lease. */
const STILL_MS = 40_000
const LONGEST_GAP_MS = 10_000
const SHORTEST_GAP_MS = 3_000
const LONGEST_AWAY_MS = 12_000
/** In percent. */
const PAUSED = 40
const WITHOUT_CLICKHOUSE = 12
const POSTGRES_KILLED = 8
const SETTLED = 10

export async function runRoles({ program, rounds, seed, onRound }: RolesOptions): Promise<RolesProof> {
  const random = new Random(seed)
  const plan = random.fork()
  const stage = await Stage.open(program, random)
  const faults: string[] = []
  try {
    stage.letEventsIn()
    const harms = new Harms(stage, plan)
    for (let round = 1; round <= rounds; round++) {
      const deeds = await harms.play()
      await stage.askForRuns()
      const is_settled = round === rounds || plan.chance(SETTLED)
      if (is_settled) {
        await harms.heal()
        await stage.settle()
        stage.letEventsIn()
      }
      const found = stage.takeFaults()
      faults.push(...found)
      onRound?.({ round, deeds, events: stage.ledger.sent, is_settled, faults: found })
    }
    return await closeProof(program, stage, faults)
  } finally {
    await stage.close()
  }
}

class Harms {
  readonly #stage: Stage
  readonly #plan: Random
  /** What is being mended. */
  #mending: Promise<unknown>[] = []

  constructor(stage: Stage, plan: Random) {
    this.#stage = stage
    this.#plan = plan
  }

  /** What was done. */
  async play(): Promise<string[]> {
    const plan = this.#plan
    const deeds: string[] = []
    const whole = this.#stage.members.filter(({ isWhole }) => isWhole)
    if (whole.length > 0) {
      const victim = plan.pick(whole)
      deeds.push(plan.chance(PAUSED) ? this.#pause(victim) : await this.#kill(victim))
    }
    if (plan.chance(WITHOUT_CLICKHOUSE)) deeds.push(this.#shutClickHouse())
    if (plan.chance(POSTGRES_KILLED)) {
      await this.#stage.stores.killPostgres()
      deeds.push('PostgreSQL killed')
    }
    await sleep(SHORTEST_GAP_MS + plan.below(LONGEST_GAP_MS - SHORTEST_GAP_MS))
    return deeds
  }

  /** Until everything is there again. */
  async heal(): Promise<void> {
    await Promise.all(this.#mending.splice(0))
  }

  #pause(victim: Member): string {
    victim.pause()
    this.#mending.push(sleep(STILL_MS).then(() => victim.goOn()))
    return `${victim.name} stands still`
  }

  async #kill(victim: Member): Promise<string> {
    await victim.kill()
    const away_ms = this.#plan.below(LONGEST_AWAY_MS)
    this.#mending.push(sleep(away_ms).then(() => victim.start()))
    return `${victim.name} killed`
  }

  #shutClickHouse(): string {
    const { stores } = this.#stage
    const away_ms = this.#plan.below(LONGEST_AWAY_MS)
    stores.shutClickHouse()
    this.#mending.push(sleep(away_ms).then(() => stores.openClickHouse()))
    return `no ClickHouse for ${away_ms} ms`
  }
}

/** After the last look: the places as strangers find them, and what the product's own verification says of them. */
async function closeProof(program: Program, stage: Stage, found: readonly string[]): Promise<RolesProof> {
  const faults = [...found]
  const fault = (text: string) => void faults.push(text)
  const { ledger, places, stores } = stage
  await stage.settle()
  const events = ledger.sent
  const rows = await expectWholeTable(places.warehouse.admin, ledger, fault)
  if (rows !== events) fault(`Postgres: at the end ${rows} of ${events} events are there`)
  for (const made of stage.exports) {
    if (made.kind === 'folder' || made.kind === 'bucket')
      await expectWholePlace(places, made, ledger, events, fault)
  }
  for (const id of await listGaps(stores.db)) fault(`run ${id} does not begin where the one before ended`)
  const { code, stdout, stderr } = await program.run(['verify'], stage.env)
  if (code !== 0) fault(`longshore verify: ${stdout}${stderr}`)
  const figures = await stores.db.only<{ runs: number; attempts: number }>(
    sql`SELECT count(*)::int AS runs, sum(attempt)::int AS attempts FROM batch_export_run`,
  )
  return {
    events,
    ...figures,
    holders: await listHolders(stores.db),
    looks: stage.seen.looks,
    repeated: stage.receiver.repeated(),
    faults: [...faults, ...stage.takeFaults()],
  }
}
