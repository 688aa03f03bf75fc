// The file that PostgreSQL writes its messages to. Called by postmaster.ts.

import { type FileHandle, open, rename, stat } from 'node:fs/promises'
import type { Owner } from './paths.ts'

const longest_bytes = 5 * 1024 * 1024

/** Opens it for appending; `from` is where the messages of this start begin. */
export async function openLogFile(
  path: string,
  owner: Owner | null,
): Promise<{ handle: FileHandle; from: number }> {
  const before = await stat(path).catch(() => null)
  // Whatever keeps it from being renamed shall not keep PostgreSQL from starting.
  if (before && before.size > longest_bytes) await rename(path, `${path}.1`).catch(() => undefined)
  const handle = await open(path, 'a', 0o600)
  if (owner) await handle.chown(owner.uid, owner.gid)
  return { handle, from: (await handle.stat()).size }
}

/** The last lines written since `from`. */
export async function lastLines(path: string, from: number): Promise<string> {
  const handle = await open(path, 'r')
  try {
    const { size } = await handle.stat()
    const start = Math.max(from, size - 8192)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(8192), 0, Math.max(size - start, 0), start)
    return buffer.toString('utf8', 0, bytesRead).trim().split('\n').slice(-12).join('\n')
  } finally {
    await handle.close()
  }
}
