// What all archives have in common: files by their path below the one top folder, read within a limit.
import { isStorableText } from '../../../platform/http/body.ts'
import { badSource } from './faults.ts'

export const MAX_UNPACKED_BYTES = 5 * 1024 * 1024
export const MAX_ENTRIES = 5000

/** Where an app's files are read from. */
export type Files = {
  /** The text of the file at this path, or null if there is none. */
  read(path: string): Promise<string | null>
}

/** The files by their path below the top folder. What does not belong below any folder is left out. */
export function belowTopFolder<Entry>(
  entries: Iterable<readonly [path: string, entry: Entry]>,
): Map<string, Entry> {
  const tops = new Set<string>()
  const files = new Map<string, Entry>()
  for (const [path, entry] of entries) {
    if (!isInside(path)) continue
    const slash = path.indexOf('/')
    tops.add(slash === -1 ? '' : path.slice(0, slash))
    const rest = path.slice(slash + 1)
    if (rest !== '' && !rest.endsWith('/') && !files.has(rest)) files.set(rest, entry)
  }
  if (tops.size > 1 || tops.has('')) throw badSource('The archive has not everything in one top folder.')
  return files
}

function isInside(path: string): boolean {
  return (
    path !== '' &&
    !path.includes('\0') &&
    !path.includes('\\') &&
    !path.split('/').includes('..') &&
    !/^(\/|[a-z]:)/i.test(path)
  )
}

export function toText(path: string, bytes: Uint8Array): string {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw badSource(`${path} is not UTF-8 text.`)
  }
  if (!isStorableText(text)) throw badSource(`${path} is not text.`)
  return text
}

export const unreadable = () => badSource('The archive cannot be read: it is damaged or of another kind.')
export const tooLarge = () => badSource('The app unpacks to more than 5 MB.')
export const tooMany = () => badSource(`The archive has more than ${MAX_ENTRIES} entries.`)
