// The calls of the event store, each carried out by whom it belongs to.
import { rm } from 'node:fs/promises'
import {
  LookFirst,
  ProjectGone,
  type EventStore,
  type LookedUp,
  type ProjectWrite,
  type StoreQuery,
  type Written,
} from '../event-store.ts'
import { Breather } from '../../../lib/breather.ts'
import { propertiesOf } from '../export-rows.ts'
import type { Caller } from './calls.ts'
import { PropertyColumns, type ColumnOptions } from './columns/property-columns.ts'
import { askForCutTexts } from './cut-texts.ts'
import { lastRowsSql } from './export-sql.ts'
import { encodeWrite, type EncodedWrite } from './journal/section.ts'
import type { EngineCalls } from './messages.ts'
import type { QueryProcesses } from './queries/query-processes.ts'
import { writeRows } from './rows-sql.ts'
import { SharedLookUps } from './shared-look-ups.ts'
import { UpToDate, type StoreThreads } from './up-to-date.ts'

export type StoreParts = StoreThreads & {
  queries: QueryProcesses
  columns: Pick<ColumnOptions, 'process' | 'now' | 'pause_ms'>
  onClosed(): void
}

const micros = (time: Date) => BigInt(time.getTime()) * 1000n

export function storeOf(
  parts: StoreParts,
  found: { waiting: readonly number[]; deleted: readonly number[] },
): EventStore {
  const { engine, journal, queries } = parts
  const projects = new UpToDate(parts, found.waiting)
  const look_ups = new SharedLookUps(parts, projects)
  const columns = new PropertyColumns({
    ...parts.columns,
    folder: parts.folder,
    projects,
    isQuiet: () => queries.isQuiet,
  })
  const deleted = new Set(found.deleted)
  const inTurn = turns()

  const writeAtOnce = async (
    writes: readonly ProjectWrite[],
    now: bigint,
    copies_position: bigint | null,
  ): Promise<Written[]> => {
    const appended = await journal.call('append', await encodeWrites(writes), now, copies_position)
    if ('suspects' in appended) {
      const events = new Map(writes.map((each) => [each.project_id, each.events]))
      throw new LookFirst(
        appended.suspects.flatMap(({ project_id, places }) =>
          places.map((place) => events.get(project_id)![place]!),
        ),
      )
    }
    const { written, due, isFull } = appended
    for (const { project_id, stored } of written) {
      projects.wasWritten(project_id)
      columns.wrote(stored)
    }
    const folds = due.map((project_id) => projects.foldSoon(project_id))
    if (isFull) await Promise.all(folds)
    return written
  }

  /** Others write while files are looked into. */
  const write = async (
    writes: readonly ProjectWrite[],
    now: bigint,
    copies_position: bigint | null,
  ): Promise<Written[]> => {
    const looked_up: LookedUp[] = []
    const withoutStored = async (each: ProjectWrite, suspects: ReadonlySet<unknown>) => {
      if (!each.events.some((event) => suspects.has(event))) return each
      const found = await look_ups.lookUp(each.project_id, each.events)
      looked_up.push(found)
      return { ...each, events: found.events }
    }
    try {
      for (let left = writes; ;) {
        try {
          return await inTurn(() => writeAtOnce(left, now, copies_position))
        } catch (error) {
          if (!(error instanceof LookFirst)) throw error
          const suspects = new Set(error.events)
          left = await Promise.all(left.map((each) => withoutStored(each, suspects)))
        }
      }
    } finally {
      for (const { end } of looked_up) end()
    }
  }

  const query = (asked: StoreQuery, signal?: AbortSignal) => {
    columns.count(asked.project_id, asked.properties ?? [])
    return projects.read(asked.project_id, 'any', (manifest) => queries.query(asked, manifest, signal))
  }

  /** Never gives what a deleted project had. */
  const forExport = async <Result>(
    project_id: number,
    work: (engine: Caller<EngineCalls>) => Promise<Result>,
  ): Promise<Result> => {
    const assertKept = () => {
      if (deleted.has(project_id)) throw new ProjectGone('the project was deleted')
    }
    const result = await projects
      .read(project_id, 'tidy', () => work(engine))
      .catch((error: unknown) => {
        assertKept()
        throw error
      })
    assertKept()
    return result
  }

  let closed: Promise<void> | undefined
  const end = async () => {
    projects.close()
    await inTurn(() => Promise.resolve())
    await columns.close()
    await queries.close()
    await journal.close()
    await engine.close()
    parts.onClosed()
  }

  return {
    engine: 'duckdb',
    is_shared: false,
    write(writes, now, copied, at_once = false) {
      const until = copied?.until ?? null
      return at_once
        ? inTurn(() => writeAtOnce(writes, micros(now), until))
        : write(writes, micros(now), until)
    },
    lookUp: (project_id, events) => look_ups.lookUp(project_id, events),
    async caughtUp(project_id) {
      await projects.foldSoon(project_id)
    },
    // There is one writer, and how far it has come is stored with the copies.
    oweCopies: async () => undefined,
    missingCopies: async () => ({ after: await journal.call('copiesPosition'), last: null, owed: [] }),
    giveUpCopies: async () => undefined,
    query,
    async positionAt(project_id, time) {
      const last = await inTurn(() => journal.call('raiseTime', micros(time), project_id))
      const first = await projects.read(project_id, 'any', ({ segments }) =>
        segments.length === 0 ? null : engine.call('firstFrom', project_id, micros(time)),
      )
      return first === null ? last : first - 1
    },
    lastPosition: (project_id) => journal.call('lastPosition', project_id),
    // Positions are given when events are committed: only those that came from another store have some.
    holes: (project_id) => projects.read(project_id, 'any', async ({ holes = [] }) => [...holes]),
    // Where there is nothing, the files may be about to be removed: the engine is not asked for these.
    arrivalsOf: (project_id, positions) =>
      projects.read(project_id, 'any', ({ segments }) =>
        segments.length === 0 ? positions.map(() => null) : engine.call('arrivalsOf', project_id, positions),
      ),
    measureAreas: (events, areas, signal) =>
      forExport(events.project_id, (by) => by.callUntil(signal, 'measureAreas', events, areas)),
    countBlocks(rows, block_size, signal) {
      // What each run begins with: its other statements count no further reads.
      columns.count(rows.project_id, propertiesOf(rows))
      return forExport(rows.project_id, (by) => by.callUntil(signal, 'countBlocks', rows, block_size))
    },
    cutRows: (rows, range, max_rows, signal) =>
      forExport(rows.project_id, (by) => by.callUntil(signal, 'cutRows', rows, range, max_rows)),
    cutForParquet: (rows, block, signal) =>
      forExport(rows.project_id, (by) => by.callUntil(signal, 'cutForParquet', rows, block)),
    exportRows: (rows, range, format, signal) =>
      forExport(rows.project_id, async (by) => {
        const file = await by.callUntil(signal, 'exportRows', rows, range, format)
        // It was written before the thread learned that nobody wants it.
        if (signal.aborted || deleted.has(rows.project_id)) await rm(file.path, { force: true })
        signal.throwIfAborted()
        return file
      }),
    async lastRows(rows, count) {
      const { project_id } = rows
      const properties = propertiesOf(rows)
      const statement = lastRowsSql(writeRows(rows), count)
      const asked = { ...statement, project_id, properties, timezone: 'UTC', max_rows: count }
      return (await query(asked)).rows.map(([line]) => String(line))
    },
    async findCutTexts(rows) {
      const question = askForCutTexts(rows)
      if (question === null) return { rows: 0, first: null, columns: [] }
      const { sql, parameters, read } = question
      const answer = await query({
        project_id: rows.project_id,
        sql,
        parameters,
        properties: propertiesOf(rows),
        timezone: 'UTC',
        max_rows: 1,
      })
      return read(answer.rows[0]!)
    },
    async ping() {
      await journal.call('copiesPosition')
    },
    async deleteProject(project_id) {
      deleted.add(project_id)
      await inTurn(() => journal.call('deleteProject', project_id))
      await columns.forget(project_id)
      await projects.remove(project_id)
    },
    close: () => (closed ??= end()),
  }
}

/** One after another. */
function turns(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = last.then(work)
    last = result.catch(() => undefined)
    return result
  }
}

async function encodeWrites(writes: readonly ProjectWrite[]): Promise<EncodedWrite[]> {
  const breather = new Breather()
  const encoded: EncodedWrite[] = []
  for (const write of writes) {
    if (breather.isDue) await breather.take()
    encoded.push(encodeWrite(write))
  }
  return encoded
}
