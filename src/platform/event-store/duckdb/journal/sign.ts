// What only this folder's records have. Where one is damaged the next is looked for among its bytes, and those are what
// clients sent: somebody who chooses the ids of events can spell a record that deletes the projects of others.
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sync } from '../durable.ts'

/** Undefined stands for records of older versions, which have no sign. */
export type Signs = ReadonlySet<string | undefined>

const NAME = 'sign'
const IS_SIGN = /^[0-9a-f]{32}$/

/** `is_new` tells that all records there are may be from before. */
export function readSign(folder: string): { sign: string; is_new: boolean } {
  const path = join(folder, NAME)
  const found = readIfThere(path)
  if (found !== null && IS_SIGN.test(found)) return { sign: found, is_new: false }
  const sign = randomBytes(16).toString('hex')
  writeFileSync(path, sign, { mode: 0o600, flush: true })
  sync(folder)
  return { sign, is_new: true }
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
