// Secrets in files of their own, readable for their owner alone: a random one made at the first use, or a text.
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname } from 'node:path'

/** `isNew` when this call made it. */
export function readSecretFile(file: string): { secret: string; isNew: boolean } {
  const isNew = !fs.existsSync(file) && make(file)
  fs.chmodSync(file, 0o600)
  return { secret: fs.readFileSync(file, 'utf8').trim(), isNew }
}

/** In place of what is there: whole or not at all. */
export function writeSecretFile(file: string, text: string): void {
  const draft = `${file}.${process.pid}`
  fs.rmSync(draft, { force: true })
  fs.writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true })
  giveToOwnerOf(dirname(file), draft)
  fs.renameSync(draft, file)
  syncFolder(dirname(file))
}

/** Written aside and linked into place, so that a process killed at any moment leaves a whole secret or none. */
function make(file: string): boolean {
  const folder = dirname(file)
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  const draft = `${file}.${process.pid}`
  fs.writeFileSync(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flush: true })
  try {
    giveToOwnerOf(folder, draft)
    fs.linkSync(draft, file)
    return true
  } catch (error) {
    // Another process starting at the same moment made it: that one counts.
    if (!fs.existsSync(file)) throw error
    return false
  } finally {
    fs.rmSync(draft)
    syncFolder(folder)
  }
}

/** Root may start on the folder of an ordinary user, who starts again without root. */
function giveToOwnerOf(folder: string, file: string): void {
  const { uid, gid } = fs.statSync(folder)
  if (process.getuid?.() === 0) fs.chownSync(file, uid, gid)
}

/** What is sealed under the secret is safe from a power cut once stored; so must the secret be. */
function syncFolder(folder: string): void {
  const handle = fs.openSync(folder, 'r')
  fs.fsyncSync(handle)
  fs.closeSync(handle)
}
