// How far an import has got, kept beside the file, so that a run that was cut short is continued by the next one.
import { readFile, rename, writeFile } from 'node:fs/promises'
import { z } from 'zod'

const Progress = z.object({
  /** Identifies the file. */
  identity: z.string(),
  /** Token of the project. */
  target: z.string(),
  started_at: z.coerce.date(),
  /** Rows that are stored or kept aside. */
  rows: z.int().min(0),
  rejected: z.int().min(0),
  /** Whatever follows this many bytes was written by a run that was killed. Null before the first run. */
  rejects: z.object({ path: z.string(), bytes: z.int().min(0).nullable() }),
  is_done: z.boolean(),
})

export type Progress = z.output<typeof Progress>

/** Null when there is none. */
export async function readProgress(path: string): Promise<Progress | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  const read = Progress.safeParse(parsed(text))
  if (!read.success)
    throw new Error(`${path} does not hold the progress of an import: --restart starts from the beginning`)
  return read.data
}

/** Writes all of it or nothing, even if the process is killed. */
export async function writeProgress(path: string, progress: Progress): Promise<void> {
  const draft = `${path}.tmp`
  await writeFile(draft, `${JSON.stringify(progress, null, 2)}\n`)
  await rename(draft, path)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
