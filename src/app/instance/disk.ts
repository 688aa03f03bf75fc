// What the data folder takes up, by part, and how much room is left.
import { lstat, opendir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { keptFor } from '../../lib/kept-for.ts'

export type DiskFacts = {
  folder: string
  parts: { name: string; bytes: number }[]
  free_bytes: number
  total_bytes: number
  /** False: there are more files than are looked at, and the parts are larger than they say. */
  is_complete: boolean
}

/** Looking at each file takes about ten microseconds. */
const MAX_FILES = 100_000
const KEPT_MS = 30_000
const PARTS = ['events', 'postgres', 'exports', 'scratch']

export function diskReader(folder: string, now: () => Date): () => Promise<DiskFacts> {
  return keptFor(KEPT_MS, now, () => readDisk(folder))
}

export async function readDisk(folder: string, maxFiles = MAX_FILES): Promise<DiskFacts> {
  const left = { files: maxFiles }
  const parts = new Map<string, number>([...PARTS, 'other'].map((name) => [name, 0]))
  for await (const entry of await opendir(folder)) {
    const name = PARTS.includes(entry.name) ? entry.name : 'other'
    parts.set(name, parts.get(name)! + (await bytesOf(join(folder, entry.name), left)))
  }
  const { bavail, bsize, blocks } = await statfs(folder)
  return {
    folder,
    parts: [...parts].map(([name, bytes]) => ({ name, bytes })),
    free_bytes: bavail * bsize,
    total_bytes: blocks * bsize,
    is_complete: left.files > 0,
  }
}

/** What goes away while it is looked at counts as nothing. Links are not followed. */
async function bytesOf(path: string, left: { files: number }): Promise<number> {
  if (left.files <= 0) return 0
  left.files--
  const found = await lstat(path).catch(() => null)
  if (!found) return 0
  // Blocks of 512 bytes: what it takes up, not how long it says it is.
  const own = found.blocks * 512
  if (!found.isDirectory()) return own
  const entries = await opendir(path).catch(() => null)
  let sum = own
  if (entries) for await (const entry of entries) sum += await bytesOf(join(path, entry.name), left)
  return sum
}
