// The one DuckDB instance of a folder, with its settings locked. Runs in the store's thread.
import { DuckDBInstance } from '@duckdb/node-api'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { StoreTaken } from '../event-store.ts'

export type DatabaseOptions = {
  /** Holds the file and, beside it, spilled and staged data. */
  folder: string
  memory_mb: number
  threads: number
}

const SPILL_PER_MEMORY = 4

/** The only folder that statements may write to. */
export function stagingFolder(folder: string): string {
  return join(folder, 'staging')
}

export async function openInstance({ folder, memory_mb, threads }: DatabaseOptions): Promise<DuckDBInstance> {
  const spill = join(folder, 'spill')
  const staging = stagingFolder(folder)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const instance = await openFile(join(folder, 'events.duckdb'), {
    memory_limit: `${memory_mb}MB`,
    threads: String(threads),
    // All of them are the engine's own: see rowsByEngine.
    external_threads: '0',
    temp_directory: spill,
    // What one query may spill at most; by default it could fill the disk.
    max_temp_directory_size: `${SPILL_PER_MEMORY * memory_mb}MB`,
    checkpoint_threshold: '256MB',
    // What is freed goes back to the system soon. By default some hundred MB stay, more the longer an export takes. With
    // 128 MB and less it goes back with every page of the file (262 kB) that makes room for another: a quarter more work
    // for lines, and 90 MB less at the peak. With 1 GB it takes 16 MB.
    allocator_flush_threshold: '8MB',
    allocator_bulk_deallocation_flush_threshold: `${Math.floor(memory_mb ** 2 / 64)}KB`,
    // Of the files it makes: without it they keep to a form of 2024, which knows no zstd and is six times as large.
    storage_compatibility_version: 'v1.5.0',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  // Left over from a process that was killed: now that the file is ours, nobody else can be at work here.
  for (const leftover of [spill, staging]) await rm(leftover, { recursive: true, force: true })
  await mkdir(staging, { mode: 0o700 })
  const connection = await instance.connect()
  await connection.run("SET GLOBAL TimeZone = 'UTC'")
  // Finds the rows of a page first and reads their properties after: by default only for pages of up to 50.
  await connection.run('SET GLOBAL late_materialization_max_rows = 5000')
  await connection.run(`SET allowed_directories = [${quoted(staging)}]`)
  await connection.run('SET enable_external_access = false')
  await connection.run('SET lock_configuration = true')
  connection.closeSync()
  return instance
}

async function openFile(path: string, options: Record<string, string>): Promise<DuckDBInstance> {
  try {
    return await DuckDBInstance.create(path, options)
  } catch (error) {
    if (!/lock on file/.test(String(error))) throw error
    throw new StoreTaken(
      'the event store is in use by another process: one server at a time may hold a data folder',
    )
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
