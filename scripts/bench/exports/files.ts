// Exports to a folder beside DuckDB's own COPY of the same rows.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { selectColumns } from './bare.ts'
import { compare, ROUNDS } from './compare.ts'
import { assertSame, linesContent, parquetContent, sha256Of } from './content.ts'
import type { Exported } from './measured-process.ts'
import { copy, exportTo } from './order.ts'
import type { SampleStore } from './sample-store.ts'

export async function benchParquet(store: SampleStore): Promise<boolean> {
  let isMet = true
  for (const compression of ['zstd', 'snappy']) {
    isMet =
      (await compareFiles(store, {
        name: `Parquet ${compression}`,
        config: { file_format: 'Parquet', compression },
        rounds: ROUNDS,
        goal: 0.9,
        cpu_goal: 1.2,
        select: selectColumns(store, 'TIMESTAMPTZ', 'VARCHAR'),
        options: `FORMAT parquet, COMPRESSION ${compression}`,
        contentOf: parquetContent,
      })) && isMet
  }
  return isMet
}

export function benchJsonLines(store: SampleStore): Promise<boolean> {
  return compareFiles(store, {
    name: 'JSONLines gzip',
    config: { file_format: 'JSONLines', compression: 'gzip' },
    rounds: 1,
    goal: 3,
    select: selectColumns(store, 'TIMESTAMP', 'JSON'),
    options: "FORMAT json, COMPRESSION gzip, TIMESTAMPFORMAT '%Y-%m-%dT%H:%M:%S.%fZ'",
    contentOf: linesContent,
  })
}

type FileCase = {
  name: string
  config: Record<string, unknown>
  rounds: number
  goal: number
  cpu_goal?: number
  select: string
  options: string
  contentOf(path: string): Promise<string>
}

function compareFiles(store: SampleStore, { config, select, options, ...rest }: FileCase): Promise<boolean> {
  const { name, rounds, goal, cpu_goal, contentOf } = rest
  const path = join(store.folder, 'bare-copy')
  let content: string
  return compare({
    name,
    events: store.events,
    rounds,
    goal,
    cpu_goal,
    async ours() {
      const exported = await exportTo(store, {
        type: 'File',
        config: { prefix: 'bench/{export_id}', ...config },
      })
      const file = await deliveredFile(store, exported)
      content = await contentOf(file)
      await rm(file)
      return exported
    },
    async bare() {
      const measured = await copy({ store, sql: `COPY (${select}) TO '${path}' (${options})` })
      assertSame(name, content, await contentOf(path))
      await rm(path)
      return measured
    },
  })
}

async function deliveredFile({ folder, project_id }: SampleStore, { files }: Exported): Promise<string> {
  const [file] = files
  if (!file || files.length > 1) throw new Error(`${files.length} files were delivered`)
  const path = join(folder, 'exports', String(project_id), file.name)
  assertSame(file.name, await sha256Of(path), file.sha256)
  return path
}
