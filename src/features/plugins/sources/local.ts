// Apps in a folder on the server, for their authors: read anew at each load, and only inside the folder that the
// settings name, wherever links lead.
import { readFile, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Settings } from '../../../platform/services.ts'
import { MAX_UNPACKED_BYTES, tooLarge, toText, type Files } from './archive.ts'
import { badSource } from './faults.ts'
import type { FetchedSource } from './fetch-source.ts'
import { pickFiles } from './pick-files.ts'

/** Throws 400, also for what lies outside: whether it exists is nobody's business. */
export async function readLocalSource(
  settings: Pick<Settings, 'plugins_folder'>,
  url: string,
): Promise<FetchedSource> {
  const root = settings.plugins_folder === null ? null : await resolved(settings.plugins_folder)
  if (root === null) throw badSource('This server takes no apps from its own disk.')
  const folder = await resolvedUrl(url)
  if (folder === null || !isInside(root, folder)) throw badSource('There is no such folder for apps.')
  return { url, tag: null, ...(await pickFiles(filesIn(root, folder), null)) }
}

function filesIn(root: string, folder: string): Files {
  let left = MAX_UNPACKED_BYTES
  return {
    async read(path) {
      const file = await resolved(join(folder, path))
      if (file === null || !isInside(root, file)) return null
      const { size, isFile } = await describe(file)
      if (!isFile) return null
      if (size > left) throw tooLarge()
      left -= size
      return toText(path, await readFile(file))
    },
  }
}

async function describe(file: string): Promise<{ size: number; isFile: boolean }> {
  const found = await stat(file).catch(() => null)
  return { size: found?.size ?? 0, isFile: found?.isFile() ?? false }
}

async function resolvedUrl(url: string): Promise<string | null> {
  if (!/^file:/i.test(url) || !URL.canParse(url)) return null
  try {
    return await resolved(fileURLToPath(new URL(url)))
  } catch {
    // Another host, or an encoded slash.
    return null
  }
}

/** The path without links; null if there is nothing. */
async function resolved(path: string): Promise<string | null> {
  return await realpath(path).catch(() => null)
}

function isInside(root: string, path: string): boolean {
  return path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)
}
