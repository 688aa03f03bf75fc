// One simulated installation: a project with exports and events on the real database, its workers, its clock, and an
// account of what happened.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunFacts } from '../../src/features/batch-exports/destinations/destination.ts'
import { MOST_RUNS_PER_PROJECT, RUNS_OF_BACKFILLS } from '../../src/features/batch-exports/runs/claimable.ts'
import type { ProjectInReach } from '../../src/platform/http/access.ts'
import { sql, type Statement } from '../../src/platform/db/sql.ts'
import { Random } from '../crash/random.ts'
import { Clock } from './clock.ts'
import { MemoryStore } from './event-store.ts'
import { Faults } from './faults.ts'
import { Places } from './places.ts'
import type { Proof } from './proof.ts'
import { Tally } from './tally.ts'
import { Turnstile, type Actor } from './turnstile.ts'
import type { Worker } from './worker.ts'

/** Ways to break what must hold; the proof is worth something if it notices each. */
export type Mutation = {
  rewrite?(statement: Statement): Statement
  has_ledger?: boolean
  holds_arrivals?: boolean
  /** Files of backfills are named like those of the schedule. */
  has_shared_names?: boolean
  /** Files that are no longer written stay. */
  keeps_leftovers?: boolean
  /** Exports to files have one folder and the same names. */
  has_shared_folder?: boolean
}

export type SimulatedExport = { id: string; type: 'File' | 'Postgres' | 'HTTP' }

const START = new Date('2026-03-01T10:02:00Z')

export class World {
  readonly random: Random
  readonly clock = new Clock(START)
  readonly turnstile = new Turnstile()
  readonly store: MemoryStore
  readonly places: Places
  readonly faults: Faults
  readonly tally = new Tally()
  readonly trace: string[] = []
  /** What must not be. */
  readonly wrongs: string[] = []
  readonly exports: SimulatedExport[] = []
  /** When an export was last told to deliver all that it lacks, with nothing in its way. */
  readonly healed = new Map<string, Date>()
  workers: Worker[] = []
  /** Everybody who was ever there. */
  readonly #actors: Actor[] = []
  /** How many things people have done. */
  deeds = 0
  readonly #folder = mkdtempSync(join(tmpdir(), 'longshore-prove-'))

  private constructor(
    readonly proof: Proof,
    readonly project: ProjectInReach,
    readonly mutation: Mutation,
    seed: number,
  ) {
    this.random = new Random(seed)
    this.store = new MemoryStore(this.#folder, { holds_arrivals: mutation.holds_arrivals ?? true })
    this.places = new Places({
      has_ledger: mutation.has_ledger ?? true,
      has_shared_names: mutation.has_shared_names ?? false,
      keeps_leftovers: mutation.keeps_leftovers ?? false,
    })
    this.faults = new Faults(this.random.fork())
  }

  static async make(proof: Proof, seed: number, mutation: Mutation): Promise<World> {
    const { organization_id } = proof
    const uuid = crypto.randomUUID()
    const { id } = await proof.db.only<{ id: number }>(sql`
      INSERT INTO project (uuid, organization_id, name, api_token, created_at, updated_at)
      VALUES (${uuid}, ${organization_id}, 'Proof', ${uuid}, ${START}, ${START}) RETURNING id`)
    return new World(proof, { id, organization_id, name: 'Proof', timezone: 'UTC' }, mutation, seed)
  }

  newActor(kind: Actor['kind'], name: string): Actor {
    const actor: Actor = { kind, name, is_alive: true, is_frozen: false }
    this.#actors.push(actor)
    return actor
  }

  note(who: string, what: string): void {
    this.trace.push(`${this.clock.now().toISOString().slice(11, 23)}  ${who.padEnd(4)}  ${what}`)
  }

  wrong(what: string): void {
    this.note('!!!!', what)
    this.wrongs.push(what)
  }

  /** From outside, while nobody is let through. */
  look<Row>(statement: Statement): Promise<Row[]> {
    return this.turnstile.move(() => this.proof.db.rows<Row>(statement))
  }

  /**
   * A run becomes visible only once it is marked, and no longer can be cancelled. Who has lost the lease may come too late
   * to know: others have taken the run over, or it was cancelled after the lease had run out.
   */
  async assertCommitting({ id, attempt }: RunFacts): Promise<void> {
    // Attempts are counted through over all runs of a delivery, one of which is at work.
    const run = await this.proof.db.row<{ is_theirs: boolean; is_marked: boolean; is_over: boolean }>(sql`
      WITH own AS (
        SELECT * FROM batch_export_run WHERE project_id = ${this.project.id} AND (id = ${id} OR repeats = ${id}))
      SELECT (SELECT sum(attempt) FROM own) = ${attempt} AND lease_until >= coalesce(finished_at, lease_until)
          AS is_theirs, is_committing AS is_marked, finished_at IS NOT NULL AS is_over
      FROM own WHERE lease_owner IS NOT NULL`)
    if (!run?.is_theirs) this.tally.add('zombies at the destination')
    else if (run.is_over) this.wrong(`run ${id} was cancelled and becomes visible`)
    else if (!run.is_marked) this.wrong(`run ${id} becomes visible while it could be cancelled`)
  }

  /** Whenever a run was claimed: the slots taken are the runs that are held, six at most, three of backfills. */
  async assertSlots(): Promise<void> {
    const { active, held, backfills } = await this.proof.db.only<
      Record<'active' | 'held' | 'backfills', number>
    >(sql`
      SELECT coalesce((SELECT active FROM batch_export_slot WHERE project_id = ${this.project.id}), 0) AS active,
        count(*)::int AS held, count(backfill_id)::int AS backfills
      FROM batch_export_run WHERE project_id = ${this.project.id} AND lease_owner IS NOT NULL`)
    if (active === held && held <= MOST_RUNS_PER_PROJECT && backfills <= RUNS_OF_BACKFILLS) return
    this.wrong(`${active} slots are taken, ${held} runs are held, ${backfills} of them of backfills`)
  }

  async remove(): Promise<void> {
    const { db } = this.proof
    for (const actor of this.#actors) this.turnstile.crash(actor)
    await this.turnstile.quiet()
    await db.run(sql`DELETE FROM project WHERE id = ${this.project.id}`)
    // Empty files: where rows lie, and so the order in which a statement meets them, follows from the seed again.
    await db.run(sql`
      TRUNCATE batch_export, batch_export_bound, batch_export_slot, activity_log, prove_history CASCADE`)
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
