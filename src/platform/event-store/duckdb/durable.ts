// What is to be there still when the power fails.
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'

/** Made where it is missing. Its parent stands already. */
export function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  sync(dirname(path))
}

/** A file, or the names in a folder: a file that was made, renamed or removed is so for good. */
export function sync(path: string): void {
  const opened = openSync(path, 'r')
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}
