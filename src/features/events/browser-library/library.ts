// The published browser library as the build put it beside the program (scripts/browser-library.js). All of it is read
// at the start, three megabytes: a build made while the server runs must not mix its files with ours.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPackedFile, type PackedFile } from '../../../platform/http/packed-file.ts'

export type Library = { version: string; files: ReadonlyMap<string, PackedFile> }

// Beside the bundle; in a checkout that runs from its sources (tests), where test/harness/global-setup.ts puts it.
const FOLDERS = [
  join(import.meta.dirname, 'browser-library'),
  join(import.meta.dirname, '../../../../node_modules/.longshore-browser-library'),
]
const CONTENTS = 'library.json'

let opened: Library | undefined

/** Read once in a process. */
export function openLibrary(): Library {
  return (opened ??= readLibrary())
}

function readLibrary(): Library {
  const folder = FOLDERS.find((candidate) => existsSync(join(candidate, CONTENTS)))
  if (folder === undefined) throw new Error('the browser library was not built: run `npm run build`')
  const { version, parts } = JSON.parse(readFileSync(join(folder, CONTENTS), 'utf8')) as {
    version: string
    parts: string[]
  }
  const files = parts.map((part) => [`${part}.js`, readPackedFile(join(folder, `${part}.js`))] as const)
  return { version, files: new Map(files) }
}
