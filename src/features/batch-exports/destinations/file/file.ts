// Delivers files to a folder on this machine: written beside their place under a temporary name, and renamed at the end.
import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { copyFile, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { errorCode } from '../../../../lib/error-code.ts'
import type { Destination, Removed, RunFacts } from '../destination.ts'
import {
  deliverFiles,
  explainRemoval,
  fileEncoding,
  fileNames,
  type FilePlace,
  type StagedFile,
} from '../file-delivery.ts'
import { renderName } from '../prefix.ts'
import {
  attemptOf,
  findFile,
  flush,
  listBeside,
  listFolder,
  makeFolders,
  onDisk,
  temporaryName,
} from './folder.ts'
import type { FileConfig } from './kind.ts'

const READ_BYTES = 256 * 1024

/** Below those of the files, which count from 0. */
const MANIFEST_INDEX = -1

export const file: Destination<FileConfig> = {
  encoding: fileEncoding,
  fileNames,
  steps: [
    {
      name: 'Folder writable',
      description: 'Makes the export folder if need be, writes a small file into it and removes it.',
      run: ({ settings }) => onDisk(() => tryFolder(settings.export_folder)),
    },
  ],
  async open(context) {
    return deliverFiles(placeInFolder(context.settings.export_folder, context.run), context)
  },
  async inspect({ run, settings }) {
    const { export_folder } = settings
    return {
      files: {
        async read(name) {
          const path = await onDisk(() => findFile(export_folder, run.project_id, name))
          return path === null ? null : createReadStream(path, { highWaterMark: READ_BYTES })
        },
        async *list(folder) {
          yield* await onDisk(() => listFolder(export_folder, run.project_id, folder))
        },
      },
      close: async () => {},
    }
  },
  async *sweep({ config, runs, settings, signal }) {
    for (const run of runs) {
      signal.throwIfAborted()
      yield* removePartials(settings.export_folder, renderName(config.prefix, run), run)
    }
  },
}

function placeInFolder(root: string, run: RunFacts): FilePlace {
  return {
    stage: (name, { path, index }) =>
      onDisk(async () => {
        const place = await makeFolders(root, run.project_id, name)
        await removeEarlier(dirname(place), run)
        const temporary = temporaryName(place, run, index)
        await move(path, temporary)
        await flush(temporary)
        return stagedAs(temporary, place)
      }),
    stageText: (name, content) =>
      onDisk(async () => {
        const place = await makeFolders(root, run.project_id, name)
        await removeEarlier(dirname(place), run)
        const temporary = temporaryName(place, run, MANIFEST_INDEX)
        await writeFile(temporary, content, { flush: true })
        return stagedAs(temporary, place)
      }),
    remove: (name) =>
      onDisk(async () => {
        const place = await findFile(root, run.project_id, name)
        if (place === null) return
        await rm(place, { force: true })
        await flush(dirname(place))
      }).catch(explainRemoval(name, 'this server to remove files from its export folder')),
    close() {},
  }
}

function stagedAs(temporary: string, place: string): StagedFile {
  return {
    publish: () => onDisk(() => rename(temporary, place).then(() => flush(dirname(place)))),
    drop: () => rm(temporary, { force: true }),
  }
}

/** What an attempt left that was killed. One that lives on in spite of us finds its file gone, and fails. */
async function removeEarlier(folder: string, { id, attempt }: RunFacts): Promise<void> {
  if (attempt === 1) return
  for (const name of await readdir(folder)) {
    const made_by = attemptOf(name, id)
    if (made_by !== null && made_by < attempt) await rm(join(folder, name), { force: true })
  }
}

/** Their names hold the id of the run. */
async function* removePartials(root: string, name: string, run: RunFacts): AsyncGenerator<Removed> {
  const found = await onDisk(() => listBeside(root, run.project_id, name))
  const partials = found?.names.filter((each) => attemptOf(each, run.id) !== null) ?? []
  for (const partial of partials) {
    await onDisk(() => rm(join(found!.folder, partial), { force: true }))
    yield { kind: 'partial file', name: posix.join(posix.dirname(name), partial) }
  }
}

/** The rows are written elsewhere, maybe on another disk. */
async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error
    await copyFile(from, to)
  }
}

async function tryFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const trial = join(folder, `.${randomUUID()}.connection-test`)
  await writeFile(trial, '')
  await rm(trial)
}
