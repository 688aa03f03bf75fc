// The published browser library as the build put it beside the program (scripts/browser-library.js). A file is read when
// it is first asked for, and kept: all of them together take four megabytes.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

export type Encoding = 'br' | 'gzip' | 'identity'
export type LibraryFile = { etag: string; bytes: Readonly<Record<Encoding, Buffer>> }

export type Library = {
  version: string
  /** Undefined for a name that is not among the library's files. */
  find(name: string): Promise<LibraryFile> | undefined
}

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
  const names = new Set(parts.map((part) => `${part}.js`))
  const files = new Map<string, Promise<LibraryFile>>()
  return {
    version,
    find(name) {
      if (!names.has(name)) return undefined
      const known = files.get(name)
      if (known) return known
      const file = readLibraryFile(join(folder, name))
      files.set(name, file)
      file.catch(() => files.delete(name))
      return file
    },
  }
}

async function readLibraryFile(path: string): Promise<LibraryFile> {
  const [identity, br, gzip] = await Promise.all(['', '.br', '.gz'].map((ending) => readFile(path + ending)))
  // Weak, because it stands for the same script in each encoding.
  const etag = `W/"${createHash('sha256').update(identity!).digest('base64url').slice(0, 22)}"`
  return { etag, bytes: { identity: identity!, br: br!, gzip: gzip! } }
}
