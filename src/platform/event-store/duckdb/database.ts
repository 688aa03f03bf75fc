// DuckDB without a file of its own: it reads the files of projects, and keeps nothing that must last. Settings are locked.
import { DuckDBInstance } from '@duckdb/node-api'
import { mkdir } from 'node:fs/promises'
import { StoreTaken } from '../event-store.ts'

export type DatabaseOptions = {
  /** What statements may read and write. */
  folders: readonly string[]
  /** For what does not fit into memory. */
  spill: string
  memory_mb: number
  threads: number
  /**
   * Row groups of files can be ended by their bytes. The engine then promises no order of rows that are not sorted: one
   * thread reads them as they lie in their files.
   */
  is_streaming?: boolean
}

const SPILL_PER_MEMORY = 4
// Below this, freed memory goes back to the system often: with 128 MB whenever one page of a file (262 kB) makes room for
// another. That is 90 MB less at the peak, for a third more CPU.
const SCARCE_MB = 256

export async function openInstance(options: DatabaseOptions): Promise<DuckDBInstance> {
  const instance = await openUnlocked(options)
  await lockSettings(instance)
  return instance
}

/** For those who have settings of their own for each connection: they lock it after that. */
export async function openUnlocked({
  folders,
  spill,
  memory_mb,
  threads,
  is_streaming = false,
}: DatabaseOptions): Promise<DuckDBInstance> {
  await mkdir(spill, { recursive: true, mode: 0o700 })
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: `${memory_mb}MB`,
    threads: String(threads),
    temp_directory: spill,
    preserve_insertion_order: String(!is_streaming),
    // What one query may spill at most; by default it could fill the disk.
    max_temp_directory_size: `${SPILL_PER_MEMORY * memory_mb}MB`,
    // What is freed goes back to the system soon. By default some hundred MB stay, more the longer an export takes.
    allocator_flush_threshold: '8MB',
    allocator_bulk_deallocation_flush_threshold:
      memory_mb < SCARCE_MB ? `${Math.floor(memory_mb ** 2 / 64)}KB` : '512MB',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  await connection.run("SET GLOBAL TimeZone = 'UTC'")
  // Finds the rows of a page first and reads their properties after: by default only for pages of up to 50.
  await connection.run('SET GLOBAL late_materialization_max_rows = 5000')
  // Files never change under their name: what they say of themselves is read once.
  await connection.run('SET GLOBAL parquet_metadata_cache = true')
  await connection.run(`SET allowed_directories = [${folders.map(quoted).join(', ')}]`)
  await connection.run('SET enable_external_access = false')
  connection.closeSync()
  return instance
}

export async function lockSettings(instance: DuckDBInstance): Promise<void> {
  const connection = await instance.connect()
  await connection.run('SET lock_configuration = true')
  connection.closeSync()
}

/** Held as long as it is open: DuckDB keeps other processes out of a file that it may write to, and Node cannot. */
export async function lockFolder(path: string): Promise<DuckDBInstance> {
  try {
    return await DuckDBInstance.create(path, { threads: '1', memory_limit: '16MB', external_threads: '1' })
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
