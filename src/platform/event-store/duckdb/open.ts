// The embedded event store as the rest of the program sees it. Events become durable in the journal, on a thread of its
// own; the engine's thread brings them into files, before anybody reads them at the latest; questions are answered by
// processes, from the files.
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { startThread } from '../../threads.ts'
import type { EventStore } from '../event-store.ts'
import { Caller } from './calls.ts'
import type { Damage } from './journal/files.ts'
import type { JournalCalls, JournalOptions } from './journal/messages.ts'
import type { EngineCalls, EngineOptions } from './messages.ts'
import { threadPort } from './ports.ts'
import { QueryProcess } from './queries/query-process.ts'
import { QueryProcesses } from './queries/query-processes.ts'
import { projectFolder } from './segments/manifest.ts'
import { storeOf } from './store.ts'

/** What whoever opened the store may want to hear of it. */
export type StoreEvents = {
  /** A thread fell: nothing can be stored or asked any more. */
  onLost?(error: Error): void
  /** Something of the journal could not be read; it was set aside. */
  onDamage?(damage: Damage): void
}

export type DuckDbOptions = StoreEvents & {
  folder: string
  /** For exports, and as much again for questions. */
  memory_mb: number
  query_timeout_ms: number
  /** A process for questions is started at once, and not when the first comes. */
  isWarm?: boolean
  now?: () => Date
  /** How long after a question columns are looked after at the earliest. */
  column_pause_ms?: number
}

// A lock keeps other processes out, but not a second store in this one.
const openFolders = new Set<string>()

export async function openDuckDb(options: DuckDbOptions): Promise<EventStore> {
  const folder = resolve(options.folder)
  if (openFolders.has(folder)) throw new Error('the event store is open in this process already')
  openFolders.add(folder)
  try {
    return await openStore({ ...options, folder }, () => openFolders.delete(folder))
  } catch (error) {
    openFolders.delete(folder)
    throw error
  }
}

async function openStore(options: DuckDbOptions, onClosed: () => void): Promise<EventStore> {
  const { folder, memory_mb, query_timeout_ms, onLost, onDamage } = options
  const threads = availableParallelism()
  const engine = await startEngine({ folder, memory_mb })
  const journal = await startJournal(folder)
  engine.onLost = journal.onLost = onLost
  const { damages, ...recovered } = await journal.call('recovered')
  for (const damage of damages) onDamage?.(damage)
  const processes = Math.max(2, threads)
  const query_mb = Math.max(MIN_QUERY_MB, Math.floor(memory_mb / processes))
  const queries = new QueryProcesses(
    {
      folder,
      spill: join(folder, 'spill', 'queries'),
      memory_mb: query_mb,
      threads: Math.max(1, Math.min(threads, Math.floor(query_mb / THREAD_MB))),
      timeout_ms: query_timeout_ms,
      priority: 5,
    },
    processes,
  )
  const columns = {
    process: new QueryProcess({
      folder,
      spill: join(folder, 'spill', 'columns'),
      memory_mb: COLUMNS_MB,
      threads: 1,
      timeout_ms: COLUMNS_TIMEOUT_MS,
      priority: 19,
    }),
    now: options.now ?? (() => new Date()),
    pause_ms: options.column_pause_ms ?? COLUMNS_PAUSE_MS,
  }
  if (options.isWarm) queries.warmUp()
  // A process that was killed may have left what was to go.
  for (const id of recovered.deleted) {
    if (existsSync(projectFolder(folder, id))) await engine.call('removeProject', id)
  }
  return storeOf({ folder, engine, journal, queries, columns, onClosed }, recovered)
}

const MIN_QUERY_MB = 96
/** A thread of the engine has a row group in hand, packed and unpacked. */
const THREAD_MB = 96

/** A row group, a few times over, as for folding. */
const COLUMNS_MB = 160
/** A file of four million events takes minutes where others take the processors. */
const COLUMNS_TIMEOUT_MS = 3_600_000
const COLUMNS_PAUSE_MS = 5_000

async function startEngine(options: EngineOptions): Promise<Caller<EngineCalls>> {
  const engine = new Caller<EngineCalls>(threadPort(startThread('event-store', options)))
  await engine.ready
  return engine
}

async function startJournal(folder: string): Promise<Caller<JournalCalls>> {
  const journal = new Caller<JournalCalls>(
    threadPort(startThread('journal', { folder } satisfies JournalOptions)),
  )
  await journal.ready
  return journal
}
