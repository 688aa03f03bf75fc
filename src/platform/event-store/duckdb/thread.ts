// The store's own thread: the only place that opens the file. Nothing it does holds the main thread up.
import { parentPort, workerData } from 'node:worker_threads'
import type { StoreAnswer } from '../event-store.ts'
import { openInstance } from './database.ts'
import {
  describeFault,
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

type Handlers = { probe(): Promise<void> } & {
  [Name in keyof Calls]: (...args: Parameters<Calls[Name]>) => Promise<ReturnType<Calls[Name]>>
}

async function open(options: ThreadOptions): Promise<Handlers> {
  const instance = await openInstance(options)
  const writer = await Writer.open(instance)
  const reader = await Reader.open(instance, options.readers, options.query_timeout_ms)
  const rests = new Map<number, StoreAnswer['rows']>()
  let rest_id = 0

  const nextPart = (rows: StoreAnswer['rows']): Part => {
    if (rows.length <= ROWS_PER_PART) return { rows, rest: null }
    rests.set(++rest_id, rows.slice(ROWS_PER_PART))
    return { rows: rows.slice(0, ROWS_PER_PART), rest: rest_id }
  }

  return {
    write: (writes, now, copies_position) => writer.write(writes, now, copies_position),
    async query(query) {
      await writer.makeTables(query.project_id)
      const { columns, rows } = await reader.query(query)
      return { columns, ...nextPart(rows) }
    },
    more(id) {
      const rows = rests.get(id) ?? []
      rests.delete(id)
      return Promise.resolve(nextPart(rows))
    },
    async probe() {
      await reader.query({ project_id: 0, sql: 'SELECT 1', parameters: [], timezone: 'UTC', max_rows: 1 })
    },
    copiesPosition: () => Promise.resolve(writer.copies_position),
    deleteProject: (project_id) => writer.deleteProject(project_id),
    async close() {
      reader.close()
      await writer.close()
      instance.closeSync()
    },
  }
}

try {
  const handlers = await open(workerData as ThreadOptions)
  port.on('message', ({ id, name, args }: Call) => {
    const work = (handlers[name] as (...args: unknown[]) => Promise<unknown>)(...args)
    work.then(
      (result) => {
        send({ id, result })
        if (name === 'close') port.close()
      },
      async (error: unknown) => {
        send({ id, fault: describeFault(error) })
        // After some faults of its own DuckDB takes no more statements: then only a new process helps.
        if (/INTERNAL Error|FATAL Error|invalidated/.test(String(error))) {
          await handlers.probe().catch(() => process.exit(1))
        }
      },
    )
  })
  send({ ready: true })
} catch (error) {
  send({ ready: true, failure: describeFault(error) })
  port.close()
}
