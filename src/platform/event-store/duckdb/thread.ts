// The store's own thread: the only place that opens the file. Nothing it does holds the main thread up.
import { parentPort, workerData } from 'node:worker_threads'
import { StoreGone, type StoreAnswer } from '../event-store.ts'
import { askForCutTexts } from './cut-texts.ts'
import { openInstance, stagingFolder } from './database.ts'
import { Exporter } from './exporter.ts'
import {
  describeFault,
  type Abort,
  type Answer,
  type Call,
  type Calls,
  type Part,
  type ThreadOptions,
} from './messages.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

const ROWS_PER_PART = 500

const port = parentPort!
const send = (answer: Answer) => port.postMessage(answer)

type Handlers = { probe(signal: AbortSignal): Promise<void> } & {
  [Name in keyof Calls]: (
    ...args: [...Parameters<Calls[Name]>, AbortSignal]
  ) => Promise<ReturnType<Calls[Name]>>
}

/** Calls that are being answered, by number. */
const underway = new Map<number, AbortController>()

async function open(options: ThreadOptions): Promise<Handlers> {
  const instance = await openInstance(options)
  const writer = await Writer.open(instance)
  const reader = await Reader.open(instance, options.readers, options.query_timeout_ms)
  const exporter = await Exporter.open(instance, {
    staging: stagingFolder(options.folder),
    isDeleted: (project_id) => writer.isDeleted(project_id),
  })
  const rests = new Map<number, StoreAnswer['rows']>()
  let rest_id = 0

  const nextPart = (rows: StoreAnswer['rows']): Part => {
    if (rows.length <= ROWS_PER_PART) return { rows, rest: null }
    rests.set(++rest_id, rows.slice(ROWS_PER_PART))
    return { rows: rows.slice(0, ROWS_PER_PART), rest: rest_id }
  }

  return {
    write: (writes, now, copies_position) => writer.write(writes, now, copies_position),
    async query(query, signal) {
      await writer.makeTables(query.project_id)
      const { columns, rows } = await reader.query(query, signal)
      return { columns, ...nextPart(rows) }
    },
    more(id) {
      const rows = rests.get(id) ?? []
      rests.delete(id)
      return Promise.resolve(nextPart(rows))
    },
    async probe(signal) {
      const query = { project_id: 0, sql: 'SELECT 1', parameters: [], timezone: 'UTC', max_rows: 1 }
      await reader.query(query, signal)
    },
    positionAt: (project_id, time) => writer.positionAt(project_id, time),
    lastPosition: (project_id) => writer.lastPosition(project_id),
    arrivalsOf: (project_id, positions) => writer.arrivalsOf(project_id, positions),
    async measureAreas(events, areas, signal) {
      if (!writer.isDeleted(events.project_id)) await writer.makeTables(events.project_id)
      return exporter.measureAreas(events, areas, signal)
    },
    async countBlocks(rows, block_size, signal) {
      if (!writer.isDeleted(rows.project_id)) await writer.makeTables(rows.project_id)
      return exporter.countBlocks(rows, block_size, signal)
    },
    async cutRows(rows, range, limit, signal) {
      if (!writer.isDeleted(rows.project_id)) await writer.makeTables(rows.project_id)
      return exporter.cutRows(rows, range, limit, signal)
    },
    async exportRows(rows, range, format, signal) {
      if (!writer.isDeleted(rows.project_id)) await writer.makeTables(rows.project_id)
      return exporter.exportRows(rows, range, format, signal)
    },
    async findCutTexts(rows, signal) {
      const question = askForCutTexts(rows)
      if (question === null) return { rows: 0, first: null, columns: [] }
      const { sql, parameters, read } = question
      await writer.makeTables(rows.project_id)
      const query = { project_id: rows.project_id, sql, parameters, timezone: 'UTC', max_rows: 1 }
      return read((await reader.query(query, signal)).rows[0]!)
    },
    copiesPosition: () => Promise.resolve(writer.copies_position),
    deleteProject: (project_id) => writer.deleteProject(project_id),
    async close() {
      for (const controller of underway.values()) {
        controller.abort(new StoreGone('the event store is closed'))
      }
      await exporter.close()
      await reader.close()
      await writer.close()
      instance.closeSync()
    },
  }
}

try {
  const handlers = await open(workerData as ThreadOptions)
  port.on('message', (message: Call | Abort) => {
    if ('abort' in message) {
      underway.get(message.abort)?.abort()
      return
    }
    const { id, name, args } = message
    const controller = new AbortController()
    underway.set(id, controller)
    const work = (handlers[name] as (...args: unknown[]) => Promise<unknown>)(...args, controller.signal)
    work
      .finally(() => underway.delete(id))
      .then(
        (result) => {
          send({ id, result })
          if (name === 'close') port.close()
        },
        async (error: unknown) => {
          send({ id, fault: describeFault(error) })
          // After some faults of its own DuckDB takes no more statements: then only a new process helps.
          if (/INTERNAL Error|FATAL Error|invalidated/.test(String(error))) {
            await handlers.probe(controller.signal).catch(() => process.exit(1))
          }
        },
      )
  })
  send({ ready: true })
} catch (error) {
  send({ ready: true, failure: describeFault(error) })
  port.close()
}
