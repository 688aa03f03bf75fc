// What a project has in files, on a connection of its own, while no store has the folder open: for those who check or
// measure from outside. Whoever wrote last has asked the store for the project, so that nothing waits in its journal.
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api'
import { join } from 'node:path'
import { projectFolder, readManifest } from '../../src/platform/event-store/duckdb/segments/manifest.ts'
import { Views } from '../../src/platform/event-store/duckdb/segments/views.ts'

export async function onProjectFiles<Result>(
  data_dir: string,
  project_id: number,
  options: Record<string, string>,
  work: (connection: DuckDBConnection) => Promise<Result>,
): Promise<Result> {
  const folder = join(data_dir, 'events')
  const instance = await DuckDBInstance.create(':memory:', options)
  const connection = await instance.connect()
  try {
    await connection.run("SET GLOBAL TimeZone = 'UTC'")
    await new Views(connection).show(
      projectFolder(folder, project_id),
      project_id,
      readManifest(folder, project_id),
    )
    return await work(connection)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}
