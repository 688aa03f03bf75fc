// Files in a folder of this machine: the promises of every destination, and that no name leads out of a project's own
// folder.
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openOutbound } from '../../../../platform/outbound/outbound.ts'
import { Passing, Refused, type DestinationKind, type Removed, type RunFacts } from '../destination.ts'
import {
  allOf,
  contextOf,
  deliverTo,
  makeTemporaryFolder,
  readRows,
  RUN,
  RUN_NAME,
  runStep,
  writeFiles,
} from '../fixture/file-runs.ts'
import { describeDestination } from '../fixture/suite.ts'
import type { World } from '../fixture/world.ts'
import { fileKind } from './kind.ts'
import { IS_LONG } from '../../../../../test/harness/long.ts'
import { stillOurs } from '../fixture/still-ours.ts'

/** The suite's. */
const PROJECT_ID = 1

async function openWorld(more: object = {}): Promise<World & { root: string }> {
  const root = await mkdtemp(join(tmpdir(), 'longshore-exports-'))
  const outbound = openOutbound({ allow: [] })
  return {
    root,
    kind: fileKind as unknown as DestinationKind,
    config: { prefix: 'pre/{table}', ...more },
    wrong_credentials: null,
    outbound,
    settings: { export_folder: root, allow_plaintext: true },
    async rows() {
      const visible = (await listFiles(root)).filter((name) => !isTemporary(name))
      return readRows(
        await Promise.all(visible.map(async (name) => [name, await readFile(join(root, name))] as const)),
      )
    },
    makeTableWithout: null,
    leftovers: async () => (await listFiles(root)).filter(isTemporary),
    cuts: null,
    // Rights would not keep root out, a link does.
    async refuseRemoval(name) {
      const folder = join(root, String(PROJECT_ID), name.split('/')[0]!)
      await rename(folder, `${folder} moved`)
      await symlink(`${folder} moved`, folder)
    },
    async close() {
      await outbound.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}

const isTemporary = (name: string) => name.split('/').at(-1)!.startsWith('.')

async function listFiles(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1)).toSorted()
}

describeDestination('File', openWorld)
if (IS_LONG) describeDestination('File, CSV', () => openWorld({ file_format: 'CSV' }))

describe('File alone', () => {
  let folder: Awaited<ReturnType<typeof makeTemporaryFolder>>
  let world: Awaited<ReturnType<typeof openWorld>>
  beforeEach(async () => {
    folder = await makeTemporaryFolder()
    world = await openWorld()
  })
  afterEach(async () => {
    await world.close()
    await folder.remove()
  })

  const NAME = `pre/events/${RUN_NAME}.jsonl`

  test('numbered files and a manifest, each project in its own folder', async () => {
    const config = { max_file_size_mb: 1 }
    const files = await writeFiles(folder.path, 'one', 'second')
    const delivered = await deliverTo(world, files, { config })
    await deliverTo(world, await writeFiles(folder.path, 'other'), { config, run: { project_id: 8 } })
    const expected = [`${RUN_NAME}-0.jsonl`, `${RUN_NAME}-1.jsonl`, `${RUN_NAME}_manifest.json`]
    expect(await listFiles(join(world.root, '7/pre/events'))).toEqual(expected)
    expect(await readFile(join(world.root, '7/pre/events', expected[0]!), 'utf8')).toBe('one')
    expect(await readFile(join(world.root, '8/pre/events', expected[0]!), 'utf8')).toBe('other')
    const manifest = JSON.parse(await readFile(join(world.root, '7/pre/events', expected[2]!), 'utf8'))
    expect(manifest).toMatchObject({ files: delivered.files.map(({ name }) => name), rows: 2, bytes: 9 })
  })

  test('a repeated run replaces its file; what an attempt that died left is removed', async () => {
    const { open } = await world.kind.load()
    await (await open(contextOf(world))).write((await writeFiles(folder.path, 'dead'))[0]!)
    await deliverTo(world, await writeFiles(folder.path, 'first'), { run: { id: 'another' } })
    expect(await world.leftovers()).toEqual([`7/pre/events/.${RUN.id}.1.0.partial`])
    await deliverTo(world, await writeFiles(folder.path, 'second'), { run: { attempt: 2 } })
    expect(await listFiles(world.root)).toEqual([`7/${NAME}`])
    expect(await readFile(join(world.root, '7', NAME), 'utf8')).toBe('second')
  })

  describe('a sweep', () => {
    const sweep = async (...runs: Partial<RunFacts>[]) => {
      const { sweep: remove } = await world.kind.load()
      const swept = runs.map((run) => ({ ...RUN, ...run, uploads: [] }))
      const removed: Removed[] = []
      for await (const each of remove!({ ...contextOf(world), runs: swept })) removed.push(each)
      return removed
    }
    const die = async (run: Partial<RunFacts> = {}) => {
      const { open } = await world.kind.load()
      const delivery = await open(contextOf(world, { run }))
      for (const file of await writeFiles(folder.path, 'one', 'two')) await delivery.write(file)
    }
    const partial = (id: string, index: number) => `.${id}.1.${index}.partial`

    test('removes the partial files of the run, and nothing that only looks like them', async () => {
      await die()
      const other = RUN.id.replace(/.$/, '9')
      await die({ id: other })
      const foreign = [`.${RUN.id}`, `.${RUN.id}.1.0.partial.mine`, `.${RUN.id}.notes`, '.1.0.partial']
      const beside = join(world.root, '7/pre/events')
      for (const name of foreign) await writeFile(join(beside, name), 'mine')
      const removed = [0, 1].map((index) => `pre/events/${partial(RUN.id, index)}`)
      expect((await sweep({})).map(({ name }) => name).toSorted()).toEqual(removed)
      expect(await listFiles(beside)).toEqual([...foreign, partial(other, 0), partial(other, 1)].toSorted())
      expect(await sweep({})).toEqual([])
    })

    test('looks where the run wrote, in the folder of its own project, and nowhere else', async () => {
      await die({ project_id: 8 })
      expect(await sweep({}, { interval: { start: null, end: new Date('2020-01-01T00:00:00Z') } })).toEqual(
        [],
      )
      expect(await world.leftovers()).toHaveLength(2)
    })

    test('follows no symbolic link', async () => {
      const target = join(folder.path, 'elsewhere')
      await mkdir(target)
      await writeFile(join(target, partial(RUN.id, 0)), 'not ours')
      await mkdir(join(world.root, '7/pre'), { recursive: true })
      await symlink(target, join(world.root, '7/pre/events'))
      await expect(sweep({})).rejects.toThrow('symbolic link')
      expect(await readdir(target)).toEqual([partial(RUN.id, 0)])
    })
  })

  test('an attempt whose file was taken away fails in passing', async () => {
    const { open } = await world.kind.load()
    const delivery = await open(contextOf(world))
    await delivery.write((await writeFiles(folder.path, 'late'))[0]!)
    await deliverTo(world, await writeFiles(folder.path, 'new'), { run: { attempt: 2 } })
    await expect(delivery.finish(stillOurs)).rejects.toThrow(Passing)
    expect(await readFile(join(world.root, '7', NAME), 'utf8')).toBe('new')
  })

  describe('no name leads elsewhere', () => {
    const outside = async () => await listFiles(folder.path)

    test.each(['../8', 'a/../../8', '..', './..', '/../x'])('prefix %j', async (prefix) => {
      const files = await writeFiles(folder.path, 'x')
      await expect(deliverTo(world, files, { config: { prefix } })).rejects.toThrow(Refused)
      expect(await listFiles(world.root)).toEqual([])
    })

    test.each([
      ['the folder of the project', '7'],
      ['a folder below', '7/pre'],
    ])('through a symbolic link in place of %s', async (_what, link) => {
      const target = join(folder.path, 'elsewhere')
      await mkdir(target)
      if (link.includes('/')) await mkdir(join(world.root, '7'))
      await symlink(target, join(world.root, link))
      const files = await writeFiles(folder.path, 'x')
      await expect(deliverTo(world, files)).rejects.toThrow('symbolic link')
      expect(await outside()).toEqual(['0.out'])
      expect(await readdir(target)).toEqual([])
    })

    test('a symbolic link in place of the file is replaced, its target untouched', async () => {
      const target = join(folder.path, 'secret')
      await writeFile(target, 'secret')
      await mkdir(join(world.root, '7/pre/events'), { recursive: true })
      await symlink(target, join(world.root, '7', NAME))
      expect(await readBack(NAME)).toBeNull()
      await deliverTo(world, await writeFiles(folder.path, 'x'))
      expect(await readFile(target, 'utf8')).toBe('secret')
      expect(await readFile(join(world.root, '7', NAME), 'utf8')).toBe('x')
    })

    test('nor does reading back', async () => {
      await deliverTo(world, await writeFiles(folder.path, 'x'), { run: { project_id: 8 } })
      await writeFile(join(world.root, 'passwd'), 'secret')
      await expect(readBack(`../8/${NAME}`)).rejects.toThrow(Refused)
      await expect(readBack('../passwd')).rejects.toThrow(Refused)
      expect(await readBack(NAME)).toBeNull()
      expect(await readBack('pre')).toBeNull()
      await expect(list('../8/pre')).rejects.toThrow(Refused)
      await expect(list('..')).rejects.toThrow(Refused)
      expect(await list('')).toEqual([])
    })

    test('lists no folder behind a link, and a link by its own name', async () => {
      await deliverTo(world, await writeFiles(folder.path, 'x'), { run: { project_id: 8 } })
      await mkdir(join(world.root, '7'))
      await symlink(join(world.root, '8'), join(world.root, '7', 'there'))
      await symlink(join(world.root, '8', NAME), join(world.root, '7', 'link.jsonl'))
      await expect(list('there/pre')).rejects.toThrow(Refused)
      expect((await list('')).toSorted()).toEqual(['link.jsonl', 'there'])
    })

    const inspectFiles = async () => {
      const { inspect } = await world.kind.load()
      return (await inspect!(contextOf(world))).files!
    }
    const readBack = async (name: string) => await (await inspectFiles()).read(name)
    const list = async (of: string) => await allOf((await inspectFiles()).list(of))
  })

  test('a file in the way, and names too long, are refused without the path', async () => {
    await writeFile(join(world.root, '7'), '')
    const error = await deliverTo(world, await writeFiles(folder.path, 'x')).catch(
      (caught: unknown) => caught,
    )
    expect(error).toBeInstanceOf(Refused)
    expect(String(error)).not.toContain(world.root)
    const files = await writeFiles(folder.path, 'x')
    const long = { config: { prefix: 'p'.repeat(300) }, run: { project_id: 9 } }
    await expect(deliverTo(world, files, long)).rejects.toThrow('too long')
  })

  test('the step makes the folder and leaves nothing; it fails where there can be none', async () => {
    const settings = { ...world.settings, export_folder: join(world.root, 'new/folder') }
    await runStep({ ...world, settings }, 0)
    expect(await readdir(settings.export_folder)).toEqual([])
    await writeFile(join(world.root, 'taken'), '')
    const taken = { ...world.settings, export_folder: join(world.root, 'taken') }
    await expect(runStep({ ...world, settings: taken }, 0)).rejects.toThrow(Refused)
  })
})
