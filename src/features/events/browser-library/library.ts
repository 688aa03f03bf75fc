// The published browser library as the build put it beside the program (scripts/browser-library.js). All of it is read
// at the start, three megabytes: a build made while the server runs must not mix its files with ours.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Encoding = 'br' | 'gzip' | 'identity'
export type LibraryFile = { etag: string; bytes: Readonly<Record<Encoding, Buffer>> }
export type Library = { version: string; files: ReadonlyMap<string, LibraryFile> }

// Beside the bundle; in a checkout that runs from its sources (tests), where test/harness/global-setup.ts puts it.
const FOLDERS = [
  join(import.meta.dirname, 'browser-library'),
  join(import.meta.dirname, '../../../../node_modules/.longshore-browser-library'),
]
const CONTENTS = 'library.json'

export function openLibrary(): Library {
  const folder = FOLDERS.find((candidate) => existsSync(join(candidate, CONTENTS)))
  if (folder === undefined) throw new Error('the browser library was not built: run `npm run build`')
  const { version, parts } = JSON.parse(readFileSync(join(folder, CONTENTS), 'utf8')) as {
    version: string
    parts: string[]
  }
  const files = parts.map((part) => [`${part}.js`, readLibraryFile(join(folder, `${part}.js`))] as const)
  return { version, files: new Map(files) }
}

function readLibraryFile(path: string): LibraryFile {
  const identity = readFileSync(path)
  // Weak, because it stands for the same script in each encoding.
  const etag = `W/"${createHash('sha256').update(identity).digest('base64url').slice(0, 22)}"`
  return { etag, bytes: { identity, br: readFileSync(`${path}.br`), gzip: readFileSync(`${path}.gz`) } }
}
