// The console as the build put it beside the program (scripts/console.js). All of it is read at the start: a build made
// while the server runs must not mix its files with ours.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPackedFile, type PackedFile } from '../../platform/http/packed-file.ts'

export type ConsoleFiles = { page: string; assets: ReadonlyMap<string, PackedFile> }

// Beside the bundle; in a checkout that runs from its sources (tests), where test/harness/global-setup.ts puts it.
const FOLDERS = [
  join(import.meta.dirname, 'console'),
  join(import.meta.dirname, '../../../node_modules/.longshore-console'),
]
const PAGE = 'index.html'

let opened: ConsoleFiles | undefined

/** Read once in a process. */
export function openConsoleFiles(): ConsoleFiles {
  return (opened ??= readConsoleFiles())
}

function readConsoleFiles(): ConsoleFiles {
  const folder = FOLDERS.find((candidate) => existsSync(join(candidate, PAGE)))
  if (folder === undefined) throw new Error('the console was not built: run `npm run build`')
  const names = readdirSync(join(folder, 'assets')).filter((name) => !/\.(br|gz)$/.test(name))
  return {
    page: readFileSync(join(folder, PAGE), 'utf8'),
    assets: new Map(names.map((name) => [name, readPackedFile(join(folder, 'assets', name))])),
  }
}
