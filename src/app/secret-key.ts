// The key that seals stored secrets: the given one, or one made at the first start and kept beside the data.
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'

export function readSecretKey(config: Config): string {
  if (config.SECRET_KEY !== null) return config.SECRET_KEY
  const file = join(config.DATA_DIR, 'secret.key')
  if (!fs.existsSync(file)) makeKeyFile(config.DATA_DIR, file)
  fs.chmodSync(file, 0o600)
  const key = fs.readFileSync(file, 'utf8').trim()
  // A short one would seal everything under a key that anybody can guess.
  if (key.length < 32) throw new Error(`${file} is damaged: put it back from a backup, or set SECRET_KEY`)
  return key
}

/** Written aside and linked into place, so that a process killed at any moment leaves a whole key or none. */
function makeKeyFile(folder: string, file: string): void {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  const draft = `${file}.${process.pid}`
  fs.writeFileSync(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flush: true })
  try {
    fs.linkSync(draft, file)
  } catch (error) {
    // Another process starting at the same moment made it: that one counts.
    if (!fs.existsSync(file)) throw error
  } finally {
    fs.rmSync(draft)
  }
  syncFolder(folder)
}

/** What is sealed under the key is safe from a power cut once stored; so must the key be. */
function syncFolder(folder: string): void {
  const handle = fs.openSync(folder, 'r')
  fs.fsyncSync(handle)
  fs.closeSync(handle)
}
