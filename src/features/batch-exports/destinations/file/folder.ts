// One project's own folder below the configured root. Nothing here follows a symbolic link below that root, so no name
// leads out of the folder, nor into another project's.
import { constants } from 'node:fs'
import { lstat, mkdir, open, readdir, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorCode } from '../../../../lib/error-code.ts'
import { Passing, Refused } from '../destination.ts'

/** Where a file of this name stands, its folders made. The root may itself be a link: it is the operator's. */
export async function makeFolders(root: string, project_id: number, name: string): Promise<string> {
  await mkdir(root, { recursive: true })
  let folder = await realpath(root)
  const segments = segmentsOf(project_id, name)
  const file = segments.pop()!
  for (const segment of segments) {
    const parent = folder
    folder = join(parent, segment)
    if (await makeFolder(folder)) await flush(parent)
    await assertFolder(folder)
  }
  return join(folder, file)
}

/** The same for reading: null when it is not there. */
export function findFile(root: string, project_id: number, name: string): Promise<string | null> {
  return unlessMissing(null, async () => {
    const segments = segmentsOf(project_id, name)
    const file = segments.pop()!
    const place = join(await findFolder(root, segments), file)
    return (await lstat(place)).isFile() ? place : null
  })
}

/** What lies beside a file of this name, with the path of the folder; null when there is no such folder. */
export function listBeside(
  root: string,
  project_id: number,
  name: string,
): Promise<{ folder: string; names: string[] } | null> {
  return unlessMissing(null, async () => {
    const folder = await findFolder(root, segmentsOf(project_id, name).slice(0, -1))
    return { folder, names: await readdir(folder) }
  })
}

/** Names of the files right in a folder, as runs name them: below the project's own. A link is a file to whoever reads it. */
export function listFolder(root: string, project_id: number, folder: string): Promise<string[]> {
  return unlessMissing([], async () => {
    const segments = folder === '' ? [String(project_id)] : segmentsOf(project_id, folder)
    const entries = await readdir(await findFolder(root, segments), { withFileTypes: true })
    const files = entries.filter((entry) => !entry.isDirectory())
    return files.map(({ name }) => (folder === '' ? name : `${folder}/${name}`))
  })
}

async function findFolder(root: string, segments: readonly string[]): Promise<string> {
  let folder = await realpath(root)
  for (const segment of segments) {
    folder = join(folder, segment)
    await assertFolder(folder)
  }
  return folder
}

async function unlessMissing<T>(otherwise: T, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return otherwise
    throw error
  }
}

/** What was written or renamed in it outlasts a power cut only then. */
export async function flush(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** What an error of the file system means for a run. Paths of this machine are nobody else's matter. */
export async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const code = errorCode(error)
    if (code === '') throw error
    if (code === 'ENAMETOOLONG') throw new Refused('The file names are too long. Use a shorter prefix.')
    if (['ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'EEXIST'].includes(code)) {
      throw new Refused(
        `There is a file where a folder is needed, or the reverse (${code}). Remove it, or use another prefix.`,
      )
    }
    if (['EACCES', 'EPERM', 'EROFS', 'ELOOP'].includes(code)) {
      throw new Refused(
        `The export folder cannot be written (${code}). Ask the operator of this server to allow writing there.`,
      )
    }
    if (code === 'ENOSPC') throw new Passing('The disk of the export folder is full. Free some room there.')
    throw new Passing(`The export folder could not be written (${code}). Check the disk of this server.`)
  }
}

function segmentsOf(project_id: number, name: string): string[] {
  const segments = name.split('/').filter((segment) => segment !== '')
  if (segments.length === 0 || segments.some((segment) => segment === '.' || segment === '..')) {
    throw new Refused('The prefix leads out of the export folder. Use one without `.` and `..`.')
  }
  return [String(project_id), ...segments]
}

/** Whether it had to be made. */
async function makeFolder(folder: string): Promise<boolean> {
  try {
    await mkdir(folder)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
}

async function assertFolder(folder: string): Promise<void> {
  const found = await lstat(folder)
  if (found.isSymbolicLink()) {
    throw new Refused('A symbolic link stands for a folder of the prefix. Replace it, or use another prefix.')
  }
  if (!found.isDirectory()) {
    throw new Refused('There is a file where a folder is needed. Remove it, or use another prefix.')
  }
}

/** Beside the file, so that renaming it is one step. The number tells attempts at a run apart. */
export function temporaryName(path: string, { id, attempt }: { id: string; attempt: number }, index: number) {
  return join(dirname(path), `.${id}.${attempt}.${index}.partial`)
}

/** Which attempt at the run made a file of this name; null for every other file. */
export function attemptOf(name: string, run_id: string): number | null {
  const [, id, attempt] = /^\.([0-9a-f-]{36})\.(\d+)\.-?\d+\.partial$/.exec(name) ?? []
  return id === run_id ? Number(attempt) : null
}
