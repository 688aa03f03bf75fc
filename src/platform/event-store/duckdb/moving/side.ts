// The embedded store as one side of a move. What waits in its journal is brought into files first, as a start would do.
import { readdirSync, rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { MoveSide } from '../../moving/side.ts'
import { lockFolder, openInstance } from '../database.ts'
import { makeFolder } from '../durable.ts'
import { Journal } from '../journal/journal.ts'
import { placed } from '../placed-rows.ts'
import {
  EMPTY_MANIFEST,
  filesOf,
  lastPosition,
  projectFolder,
  projectsFolder,
  type Manifest,
} from '../segments/manifest.ts'
import { ProjectFiles } from '../segments/project-files.ts'
import type { Gathered } from '../segments/sections.ts'
import { Views } from '../segments/views.ts'
import { upgradeFolder } from '../upgrade.ts'
import { copyOf, digestCopies, digestEvents, selectMoved, streamRows } from './rows.ts'

/** A batch a few times over. */
const MEMORY_MB = 256
const TIDY = { isTidy: true }
const NO_EVENTS = placed([])

/** Throws StoreTaken while a server is at work in it. */
export async function openDuckDbSide(folder: string): Promise<MoveSide> {
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 })
  makeFolder(folder)
  const lock = await lockFolder(join(folder, 'in-use.duckdb'))
  makeFolder(projectsFolder(folder))
  const spill = join(folder, 'spill')
  const instance = await openInstance({
    folders: [projectsFolder(folder)],
    spill,
    memory_mb: MEMORY_MB,
    // One keeps the order without holding rows back.
    threads: 1,
  })
  await upgradeFolder(folder, instance)
  const journal = Journal.open(folder)
  const files = await ProjectFiles.open(folder, instance)
  const connection = await instance.connect()
  const views = new Views(connection)

  /** Files that others stand in for now are read by nobody. */
  const replaced = async (project_id: number, change: () => Promise<Manifest> | Manifest) => {
    const before = filesOf(files.manifest(project_id))
    const manifest = await change()
    const kept = new Set(filesOf(manifest))
    for (const file of before.filter((name) => !kept.has(name)))
      rmSync(join(files.folderOf(project_id), file), { force: true })
    return manifest
  }
  const add = async (project_id: number, gathered: Omit<Gathered, 'upto'>) => {
    await replaced(project_id, () => files.add(project_id, () => ({ upto: null, ...gathered }), TIDY))
    const merge = async () => (await files.merge(project_id)) ?? files.manifest(project_id)
    for (let version = 0; version !== files.manifest(project_id).version;) {
      version = files.manifest(project_id).version
      await replaced(project_id, merge)
    }
  }
  const shown = async (project_id: number) => {
    await views.show(projectFolder(folder, project_id), project_id, files.manifest(project_id))
    return connection
  }
  const deleted = () => new Set(journal.deleted)
  const listed = () => readdirSync(projectsFolder(folder)).map(Number).filter(Number.isSafeInteger)

  for (const project_id of journal.waiting) {
    const waiting = journal.seal(project_id)
    journal.folded(project_id, await replaced(project_id, () => files.fold(project_id, waiting, TIDY)))
  }

  return {
    engine: 'duckdb',
    isEmpty: async () => listed().length === 0 && journal.copies_position === 0n && deleted().size === 0,
    state: async () => ({ deleted: journal.deleted, copies_position: journal.copies_position }),
    projects: async () => {
      const gone = deleted()
      return listed()
        .filter((id) => !gone.has(id))
        .sort((a, b) => a - b)
    },
    project: async (project_id) => {
      const manifest = files.manifest(project_id)
      return {
        last_position: lastPosition(manifest),
        arrived_at: journal.inserted_at,
        holes: manifest.holes ?? [],
      }
    },
    async *events(project_id, after) {
      const sql = `${selectMoved(project_id, 'events')} WHERE seq > ${Number(after)}`
      yield* streamRows(await shown(project_id), sql)
    },
    async *copies(project_id, kind) {
      yield* streamRows(await shown(project_id), selectMoved(project_id, kind))
    },
    digestEvents: async (project_id) => digestEvents(await shown(project_id), project_id),
    digestCopies: async (project_id, kind) => digestCopies(await shown(project_id), project_id, kind),
    // Nothing is written down before the first files are there.
    begin: async () => undefined,
    prepare: async () => undefined,
    lastMoved: async (project_id) => files.manifest(project_id).segments.at(-1)?.seq_to ?? 0,
    addEvents: (project_id, rows) => add(project_id, { events: placed(rows), copies: [] }),
    async removeCopies(project_id) {
      await replaced(project_id, () => files.keepMoved(project_id, { copies: EMPTY_MANIFEST.copies }))
    },
    addCopies: (project_id, kind, rows) =>
      add(project_id, { events: NO_EVENTS, copies: rows.map((row) => copyOf(kind, row)) }),
    async finishProject(project_id, { holes, arrived_at }) {
      if (holes.length > 0) files.keepMoved(project_id, { holes })
      journal.raiseTime(arrived_at)
    },
    async finish({ deleted: gone, copies_position }) {
      for (const project_id of gone) {
        journal.deleteProject(project_id)
        await files.remove(project_id)
      }
      journal.append([], journal.inserted_at, copies_position)
    },
    async close() {
      journal.close()
      await files.close()
      connection.closeSync()
      instance.closeSync()
      lock.closeSync()
      rmSync(spill, { recursive: true, force: true })
    },
  }
}
