// Who may store at which positions, in PostgreSQL: each batch is given a block of every project it writes for, and its events
// are there from the moment at which its blocks are taken away. Rows in ClickHouse count for nothing until then. What is
// left of a block without events becomes a hole.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Db } from '../../db/database.ts'
import { sql, type Statement } from '../../db/sql.ts'
import { StoreBusy, type Copied, type PositionRange } from '../event-store.ts'
import { assertNotMoved } from './in-use.ts'
import type { OwedCopies } from './owed-copies.ts'

/** A batch that is not stored by then is closed by whoever waits for it. */
export const LEASE_S = 30
const LOOK_EVERY_MS = 50

/** What a batch wants of a project. */
export type Wanted = { project_id: number; uuids: readonly string[] }

/** Positions after `after`; `arrived_at` is when the events arrive, in microseconds. */
export type Block = { project_id: number; after: number; arrived_at: bigint }

/** What can be read of a project: positions up to `end`, less what these batches and those in `closed_batches` left behind. */
export type Visible = { end: number; hidden: readonly string[] }

type OpenBlock = { batch: string; project_id: number; uuid_ends: string[] }

export class Positions {
  constructor(
    private readonly db: Database,
    private readonly owed: OwedCopies,
  ) {}

  /**
   * Blocks for a batch, none for projects that were deleted; and the batches that may hold the same events, to be waited for.
   * Projects in order of their ids: two batches never wait for each other.
   */
  async open(
    batch: string,
    wanted: readonly Wanted[],
    now: bigint,
  ): Promise<{ blocks: Block[]; suspects: string[] }> {
    const projects = wanted.toSorted((a, b) => a.project_id - b.project_id)
    return await this.db.transaction(async (tx) => {
      await assertNotMoved(tx)
      const blocks = await takeBlocks(tx, projects, now)
      const given = new Map(blocks.map((block) => [block.project_id, block]))
      const open = await listOpen(tx, [...given.keys()])
      await insertBlocks(
        tx,
        batch,
        projects.flatMap(({ project_id, uuids }) => {
          const block = given.get(project_id)
          return block ? [{ ...block, uuids }] : []
        }),
      )
      return { blocks, suspects: overlapping(open, projects) }
    })
  }

  /** Waits until each of the batches is stored or closed. */
  async settled(batches: readonly string[]): Promise<void> {
    if (batches.length > 0) await this.#untilNoneIsOpen(sql`batch = ANY(${batches}::uuid[])`)
  }

  /**
   * From now on the batch's events are there: `stored` of each project, from the first position of its block. Throws StoreBusy
   * when the batch was closed meanwhile: nothing is stored. `copied` says which copies came with it.
   */
  async commit(batch: string, stored: ReadonlyMap<number, number>, copied: Copied | null): Promise<void> {
    await this.db.transaction(async (tx) => {
      const blocks = await takeAway(tx, batch)
      if (blocks.length !== stored.size) throw new StoreBusy('the events took too long to be stored')
      const holes = blocks.map(({ after, ...block }) => ({
        ...block,
        after: after + stored.get(block.project_id)!,
      }))
      await insertHoles(tx, holes, null)
      if (copied) await this.owed.settle(tx, copied)
    })
  }

  /**
   * The batch is not stored, and never will be, whatever of it lies in ClickHouse or is still on its way there. Its writer alone
   * knows that no row was sent: then there is nothing to hide.
   */
  async close(batch: string, isSent = true): Promise<void> {
    await this.db.transaction(async (tx) => insertHoles(tx, await takeAway(tx, batch), isSent ? batch : null))
  }

  /**
   * `note` puts the batches that are hidden into ClickHouse's table of them. They come off the list here in the same transaction,
   * after that: whoever reads finds each in one of the two places at least. A batch of a move comes off its list by itself, so
   * none may be under way.
   */
  async handOver(project_id: number, note: (batches: readonly string[]) => Promise<void>): Promise<void> {
    await this.db.transaction(async (tx) => {
      await assertNotMoved(tx)
      const rows = await tx.rows<{ left_behind: string }>(sql`
        SELECT left_behind FROM event_hole WHERE project_id = ${project_id} AND left_behind IS NOT NULL
        FOR UPDATE SKIP LOCKED`)
      if (rows.length === 0) return
      const batches = rows.map(({ left_behind }) => left_behind)
      await note(batches)
      const noted = sql`project_id = ${project_id} AND left_behind = ANY(${batches}::uuid[])`
      await tx.run(sql`DELETE FROM event_hole WHERE ${noted} AND last_position = after_position`)
      await tx.run(sql`UPDATE event_hole SET left_behind = NULL WHERE ${noted}`)
    })
  }

  /** Null for a project that was deleted. */
  async visible(project_id: number): Promise<Visible | null> {
    for (;;) {
      const row = await this.db.row<{
        end: string
        is_deleted: boolean
        hidden: string[]
        late: string[]
      }>(sql`
        SELECT is_deleted,
          coalesce((SELECT min(after_position) FROM event_block WHERE project_id = head.project_id), last_position) AS end,
          ARRAY(SELECT left_behind FROM event_hole WHERE project_id = head.project_id AND left_behind IS NOT NULL) AS hidden,
          ARRAY(SELECT batch FROM event_block
            WHERE project_id = head.project_id AND leased_until < clock_timestamp()) AS late
        FROM event_head AS head WHERE project_id = ${project_id}`)
      if (!row) return { end: 0, hidden: [] }
      if (row.is_deleted) return null
      if (row.late.length === 0) return { end: Number(row.end), hidden: row.hidden }
      for (const batch of row.late) await this.close(batch)
    }
  }

  /** Where there are positions without events, in order. */
  async holes(project_id: number): Promise<PositionRange[]> {
    return await this.db.rows(sql`
      SELECT after_position::float8 AS "from", last_position::float8 AS "to" FROM event_hole
      WHERE project_id = ${project_id} AND last_position > after_position ORDER BY after_position`)
  }

  /** After this nothing can arrive before the time, and all that did is stored or closed. */
  async raiseTime(project_id: number, time: bigint): Promise<void> {
    await this.db.run(sql`
      INSERT INTO event_head AS head (project_id, last_position, arrived_at) VALUES (${project_id}, 0, ${time})
      ON CONFLICT (project_id) DO UPDATE SET arrived_at = greatest(head.arrived_at, EXCLUDED.arrived_at)
      WHERE head.arrived_at < EXCLUDED.arrived_at`)
    await this.#untilNoneIsOpen(sql`project_id = ${project_id} AND arrived_at < ${time}`)
  }

  /** Nothing is stored for the project any more, and nothing of what was under way comes later. */
  async deleteProject(project_id: number): Promise<void> {
    await this.db.run(sql`
      INSERT INTO event_head (project_id, last_position, arrived_at, is_deleted) VALUES (${project_id}, 0, 0, true)
      ON CONFLICT (project_id) DO UPDATE SET is_deleted = true`)
    await this.#untilNoneIsOpen(sql`project_id = ${project_id}`)
  }

  /** Waits for the blocks that meet the condition; those of a writer that is too slow are closed. */
  async #untilNoneIsOpen(condition: Statement): Promise<void> {
    for (;;) {
      const open = await this.db.rows<{ batch: string; is_late: boolean }>(sql`
        SELECT DISTINCT batch, leased_until < clock_timestamp() AS is_late FROM event_block WHERE ${condition}`)
      if (open.length === 0) return
      for (const { batch } of open.filter(({ is_late }) => is_late)) await this.close(batch)
      await sleep(LOOK_EVERY_MS)
    }
  }
}

/** Whoever holds the row of a project knows all blocks that were given before. */
async function takeBlocks(tx: Db, wanted: readonly Wanted[], now: bigint): Promise<Block[]> {
  const rows = await tx.rows<{ project_id: number; after: string; arrived_at: string }>(sql`
    WITH wanted AS (
      SELECT * FROM unnest(${wanted.map(({ project_id }) => project_id)}::int[],
        ${wanted.map(({ uuids }) => uuids.length)}::int[]) AS given (project_id, count)),
    head AS (
      INSERT INTO event_head AS head (project_id, last_position, arrived_at)
      SELECT project_id, count, ${now} FROM wanted ORDER BY project_id
      ON CONFLICT (project_id) DO UPDATE SET last_position = head.last_position + EXCLUDED.last_position,
        arrived_at = greatest(head.arrived_at, EXCLUDED.arrived_at)
      WHERE NOT head.is_deleted
      RETURNING project_id, last_position, arrived_at)
    SELECT project_id, last_position - count AS after, arrived_at FROM head JOIN wanted USING (project_id)`)
  return rows.map(({ project_id, after, arrived_at }) => ({
    project_id,
    after: Number(after),
    arrived_at: BigInt(arrived_at),
  }))
}

function listOpen(tx: Db, projects: readonly number[]): Promise<OpenBlock[]> {
  return tx.rows(sql`
    SELECT batch, project_id, uuid_ends FROM event_block WHERE project_id = ANY(${projects})`)
}

async function insertBlocks(
  tx: Db,
  batch: string,
  blocks: readonly (Block & { uuids: readonly string[] })[],
): Promise<void> {
  const rows = blocks.map(({ project_id, after, arrived_at, uuids }) => ({
    project_id,
    after_position: after,
    last_position: after + uuids.length,
    arrived_at: String(arrived_at),
    uuid_ends: uuids.map((uuid) => String(endOf(uuid))),
  }))
  await tx.run(sql`
    INSERT INTO event_block (batch, project_id, after_position, last_position, arrived_at, uuid_ends, leased_until)
    SELECT ${batch}::uuid, project_id, after_position, last_position, arrived_at, uuid_ends,
      clock_timestamp() + make_interval(secs => ${LEASE_S})
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS given (project_id int, after_position bigint,
      last_position bigint, arrived_at bigint, uuid_ends bigint[])`)
}

type TakenBlock = { project_id: number; after: number; last: number }

/** In order: whoever stores a batch and whoever closes it never hold half of it each. */
async function takeAway(tx: Db, batch: string): Promise<TakenBlock[]> {
  await tx.run(sql`SELECT 1 FROM event_block WHERE batch = ${batch}::uuid ORDER BY project_id FOR UPDATE`)
  return await tx.rows(sql`
    DELETE FROM event_block WHERE batch = ${batch}::uuid
    RETURNING project_id, after_position::float8 AS after, last_position::float8 AS last`)
}

/** A block that has no positions, because there were copies only, leaves none. */
async function insertHoles(tx: Db, blocks: readonly TakenBlock[], left_behind: string | null): Promise<void> {
  const holes = blocks.filter(({ after, last }) => after < last)
  if (holes.length === 0) return
  await tx.run(sql`
    INSERT INTO event_hole (project_id, after_position, last_position, left_behind)
    SELECT project_id, after_position, last_position, ${left_behind}::uuid
    FROM unnest(${holes.map(({ project_id }) => project_id)}::int[], ${holes.map(({ after }) => after)}::bigint[],
      ${holes.map(({ last }) => last)}::bigint[]) AS given (project_id, after_position, last_position)`)
}

/** Batches under way that share a uuid with what is wanted, or seem to: the end of a uuid is random. */
function overlapping(open: readonly OpenBlock[], wanted: readonly Wanted[]): string[] {
  const ends = new Map(
    wanted.map(({ project_id, uuids }) => [project_id, new Set(uuids.map((uuid) => String(endOf(uuid))))]),
  )
  const same = open.filter(({ project_id, uuid_ends }) =>
    uuid_ends.some((end) => ends.get(project_id)?.has(end)),
  )
  return [...new Set(same.map(({ batch }) => batch))]
}

function endOf(uuid: string): bigint {
  return BigInt.asIntN(64, BigInt(`0x${uuid.slice(19).replace('-', '')}`))
}
