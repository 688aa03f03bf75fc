// The engine's own thread: the only place that writes files of projects. It folds, merges and exports; questions of users
// are answered in processes of their own (queries/).
import { mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { workerData } from 'node:worker_threads'
import { Turns } from '../../../lib/turns.ts'
import { serveCalls, type Handlers } from './calls.ts'
import { lockFolder, lockSettings, openInstance, openUnlocked } from './database.ts'
import { makeFolder, sync } from './durable.ts'
import { Exporter } from './exporter.ts'
import { arrivalsOf, firstFrom } from './small-questions.ts'
import type { EngineCalls, EngineOptions } from './messages.ts'
import { ownThreadPort } from './ports.ts'
import { findStored } from './segments/find-stored.ts'
import { projectsFolder } from './segments/manifest.ts'
import { ProjectFiles } from './segments/project-files.ts'
import { Views } from './segments/views.ts'
import { upgradeFolder } from './upgrade.ts'

async function open({ folder, memory_mb }: EngineOptions): Promise<Handlers<EngineCalls>> {
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 })
  makeFolder(folder)
  const lock = await lockFolder(join(folder, 'in-use.duckdb'))
  const [staging, spill] = [join(folder, 'staging'), join(folder, 'spill')]
  // Left over from a process that was killed: now that the folder is ours, nobody else can be at work here.
  for (const leftover of [spill, staging]) rmSync(leftover, { recursive: true, force: true })
  const folders = [staging, projectsFolder(folder)]
  for (const needed of folders) makeFolder(needed)
  // A process that was killed may have made folders of projects and not come further.
  sync(projectsFolder(folder))
  // Exports that take all of their memory do not keep events from being seen.
  const folding = await openInstance({
    folders,
    spill: join(spill, 'folding'),
    memory_mb: FOLDING_MB,
    threads: 1,
  })
  await upgradeFolder(folder, folding)
  const files = await ProjectFiles.open(folder, folding)
  const asking = await folding.connect()
  const views = new Views(asking)
  const show = (shown: Views, project_id: number) =>
    shown.show(files.folderOf(project_id), project_id, files.manifest(project_id))
  const turns = new Turns<number, typeof asking>([asking])
  /** Projects take turns: nobody's views make room for those of others before they are read. */
  const inTurn = async <Found>(
    project_id: number,
    work: (connection: typeof asking) => Promise<Found>,
    signal?: AbortSignal,
  ): Promise<Found> => {
    const connection = await turns.take(project_id, signal)
    try {
      return await work(connection)
    } finally {
      turns.giveBack(connection)
    }
  }
  const askViews = <Found>(project_id: number, work: () => Promise<Found>): Promise<Found> =>
    inTurn(project_id, async () => {
      await show(views, project_id)
      return work()
    })
  // A server without exports does without.
  const exports = openOnce(async () => {
    // Whoever waits for a statement does it, and there are several at once. Threads of the engine that share one wait for
    // each other without a pause: a fifth more CPU.
    const instance = await openUnlocked({
      folders,
      spill: join(spill, 'exports'),
      memory_mb,
      threads: 1,
      is_streaming: true,
    })
    const showing = await instance.connect()
    const shown = new Views(showing)
    const see = async (project_id: number) => {
      await show(shown, project_id)
      return { folder: files.folderOf(project_id), manifest: shown.manifest(project_id) }
    }
    const exporter = await Exporter.open(instance, { staging, memory_mb, see })
    await lockSettings(instance)
    return { instance, showing, views: shown, exporter }
  })
  return {
    manifest: (project_id) => files.manifest(project_id),
    fold: (project_id, waiting, options) => files.fold(project_id, waiting, options),
    merge: (project_id) => files.merge(project_id),
    keepColumns: (project_id, columns) => files.keepColumns(project_id, columns),
    replaceSegment: (project_id, file, made) => files.replaceSegment(project_id, file, made),
    async removeProject(project_id) {
      await views.drop(project_id)
      await (await exports.ifOpen())?.views.drop(project_id)
      await files.remove(project_id)
    },
    findStored: (project_id, ids, signal) =>
      findStored({ folder: files.folderOf(project_id), manifest: files.manifest(project_id) }, ids, (work) =>
        inTurn(project_id, work, signal),
      ),
    firstFrom: (project_id, time) => askViews(project_id, () => firstFrom(asking, project_id, time)),
    arrivalsOf: (project_id, positions) =>
      askViews(project_id, () => arrivalsOf(asking, project_id, positions)),
    async measureAreas(events, areas, signal) {
      return (await exports.get()).exporter.measureAreas(events, areas, signal)
    },
    async countBlocks(rows, block_size, signal) {
      return (await exports.get()).exporter.countBlocks(rows, block_size, signal)
    },
    async cutRows(rows, range, max_rows, signal) {
      return (await exports.get()).exporter.cutRows(rows, range, max_rows, signal)
    },
    async cutForParquet(rows, block, signal) {
      return (await exports.get()).exporter.cutForParquet(rows, block, signal)
    },
    async exportRows(rows, range, format, signal) {
      return (await exports.get()).exporter.exportRows(rows, range, format, signal)
    },
    async close() {
      const opened = await exports.ifOpen()
      await opened?.exporter.close()
      opened?.showing.closeSync()
      opened?.instance.closeSync()
      await files.close()
      const last = await turns.take(0)
      last.closeSync()
      folding.closeSync()
      lock.closeSync()
    },
  }
}

/** When somebody asks for it first. */
function openOnce<Thing>(open: () => Promise<Thing>) {
  let opened: Promise<Thing> | undefined
  return { get: () => (opened ??= open()), ifOpen: async () => opened }
}

/** A row group, a few times over. */
const FOLDING_MB = 160

// After some faults of its own DuckDB takes no more statements: then only a new process helps.
const isBroken = (error: unknown) => /FATAL Error|invalidated/.test(String(error))

await serveCalls<EngineCalls>(
  ownThreadPort(),
  () => open(workerData as EngineOptions),
  (error) => {
    if (isBroken(error)) process.exit(1)
  },
)
