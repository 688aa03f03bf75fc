// The console as the build put it beside the program (scripts/console.js). All of it is read at the start: a build made
// while the server runs must not mix its files with ours.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPackedFile, type PackedFile } from '../../platform/http/packed-file.ts'

export type ConsoleFiles = {
  page: string
  assets: ReadonlyMap<string, PackedFile>
  /** Addresses of the files that a source is in: what it needs comes before it. */
  partsOf(source: string): readonly string[]
}

/** As the build lists it: by source, or by a name of its own for what several sources share. */
type Chunk = { file: string; imports?: readonly string[]; css?: readonly string[] }

// Beside the bundle; in a checkout that runs from its sources (tests), where test/harness/global-setup.ts puts it.
const FOLDERS = [
  join(import.meta.dirname, 'console'),
  join(import.meta.dirname, '../../../node_modules/.longshore-console'),
]
const PAGE = 'index.html'
const PARTS = 'parts.json'

let opened: ConsoleFiles | undefined

/** Read once in a process. */
export function openConsoleFiles(): ConsoleFiles {
  return (opened ??= readConsoleFiles())
}

function readConsoleFiles(): ConsoleFiles {
  const folder = FOLDERS.find((candidate) => existsSync(join(candidate, PAGE)))
  if (folder === undefined) throw new Error('the console was not built: run `npm run build`')
  const names = readdirSync(join(folder, 'assets')).filter((name) => !/\.(br|gz)$/.test(name))
  const chunks = JSON.parse(readFileSync(join(folder, PARTS), 'utf8')) as Record<string, Chunk>
  return {
    page: readFileSync(join(folder, PAGE), 'utf8'),
    partsOf: (source) => [...filesOf(source, chunks)].map((file) => `/${file}`),
    assets: new Map(names.map((name) => [name, readPackedFile(join(folder, 'assets', name))])),
  }
}

function filesOf(
  name: string,
  chunks: Readonly<Record<string, Chunk>>,
  found = new Set<string>(),
): Set<string> {
  const chunk = chunks[name]
  if (!chunk) throw new Error(`the console was built without ${name}`)
  if (found.has(chunk.file)) return found
  for (const needed of chunk.imports ?? []) filesOf(needed, chunks, found)
  for (const file of [...(chunk.css ?? []), chunk.file]) found.add(file)
  return found
}
