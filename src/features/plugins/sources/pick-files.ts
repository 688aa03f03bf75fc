// Which of an app's files are kept: its manifest, one file of code, and what runs in browsers.
import { parseJsonText } from '../../../platform/http/body.ts'
import { ManifestFault, parseManifest, readManifest, type Manifest } from '../manifest.ts'
import type { Files } from './archive.ts'
import { badSource } from './faults.ts'

export type PickedFiles = { manifest: Manifest; files: Map<string, string> }

/** By the names under which they are stored. In a folder of a repository only what lies directly in it counts. */
export async function pickFiles(source: Files, folder: string | null): Promise<PickedFiles> {
  const read = (name: string) => {
    if (folder === null) return source.read(name)
    return name.includes('/') ? null : source.read(`${folder}/${name}`)
  }
  const text = await read('plugin.json')
  if (text === null) throw badSource('There is no plugin.json.')
  const manifest = readable(text)
  const code = await readCode(manifest.main, read)
  const files = new Map([['plugin.json', JSON.stringify(parseManifest(text))]])
  if (code !== null) files.set('index.ts', code)
  for (const name of ['frontend.tsx', 'site.ts']) {
    const content = await read(name)
    if (content !== null) files.set(name, content)
  }
  if (files.size === 1) {
    const missing = `There is no code: ${manifest.main || 'index.js or index.ts'} is missing.`
    throw badSource(`${missing}${offerPackage(await read('package.json'))}`)
  }
  return { manifest, files }
}

/** Code that its author builds is often in the package on npm only. It is not fetched from there unasked: whose name that is
 * on npm, nobody here knows. */
function offerPackage(text: string | null): string {
  try {
    const { name, private: isPrivate } = parseJsonText(text ?? '') as { name?: unknown; private?: unknown }
    if (typeof name !== 'string' || isPrivate === true || !PACKAGE_NAME.test(name)) return ''
    return ` It may be in the package that its author publishes: https://www.npmjs.com/package/${name}`
  } catch {
    return ''
  }
}

const PACKAGE_NAME = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]{0,100}$/

type Read = (name: string) => Promise<string | null> | null

async function readCode(main: string | null, read: Read): Promise<string | null> {
  if (main) return await read(main.replace(/^(\.\/)+/, ''))
  return (await read('index.js')) ?? (await read('index.ts'))
}

function readable(text: string): Manifest {
  try {
    return readManifest(text)
  } catch (error) {
    throw error instanceof ManifestFault ? badSource(error.message) : error
  }
}
