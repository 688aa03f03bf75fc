// What a run of tests has built before its first test, and keeps for the next run: made anew only when a file that it is made
// from has changed since.
import { readdirSync, statSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
/** What builds it counts too. Tests go into nothing that is built. */
const SOURCES = ['src', 'types', 'web', 'scripts', 'docs/openapi.json', 'package-lock.json']

/** The state of all sources, as one text: how many there are, and when the last one was changed. */
export function sourcesState(): string {
  const times = SOURCES.flatMap(filesOf).map((path) => statSync(path).mtimeMs)
  return `${times.length} files, ${Math.max(...times)}`
}

function filesOf(source: string): string[] {
  const path = join(ROOT, source)
  if (statSync(path).isFile()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
}

export async function makeUnlessFresh(
  folder: string,
  state: string,
  make: (folder: string) => Promise<unknown>,
): Promise<void> {
  const note = `${folder}.made-from`
  if ((await readFile(note, 'utf8').catch(() => '')) === state) return
  // Whoever is stopped meanwhile leaves no folder that passes for whole.
  await rm(note, { force: true })
  await make(folder)
  await writeFile(note, state)
}
