// Until this version events were tables in a DuckDB file. They become files of their projects; the file goes when all of
// them are there. A process that is killed meanwhile begins again.
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Copies } from '../event-store.ts'
import { HOT_PROPERTIES, hotColumn } from '../layout.ts'
import { makeFolder } from './durable.ts'
import { JournalFiles } from './journal/files.ts'
import { ROW_GROUP, type PlacedEvents } from './segments/events.ts'
import { fold } from './segments/fold.ts'
import {
  changeSegments,
  EMPTY_MANIFEST,
  projectFolder,
  projectsFolder,
  writeManifest,
  type Manifest,
} from './segments/manifest.ts'
import { NewFiles } from './segments/new-files.ts'
import { placed } from './placed-rows.ts'
import { rows } from './statements.ts'

/** The last form that such a file had. */
const VERSION = 4

/** Before anybody else opens the folder's journal. `target` writes the new files. */
export async function upgradeFolder(folder: string, target: DuckDBInstance): Promise<void> {
  const path = join(folder, 'events.duckdb')
  if (!existsSync(path)) return
  for (const begun of [projectsFolder(folder), join(folder, 'journal')])
    rmSync(begun, { recursive: true, force: true })
  const instance = await DuckDBInstance.create(path, { threads: '2', memory_limit: '512MB' })
  const old = await instance.connect()
  await assertVersion(old)
  const connection = await target.connect()
  const projects = await rows(
    old,
    "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'er\\_%' ESCAPE '\\'",
  )
  for (const [name] of projects) await upgradeProject(old, connection, folder, Number(String(name).slice(3)))
  await keepState(old, folder)
  connection.closeSync()
  old.closeSync()
  instance.closeSync()
  for (const each of [path, `${path}.wal`]) rmSync(each, { force: true })
}

async function assertVersion(old: DuckDBConnection): Promise<void> {
  const [row] = await rows(old, 'SELECT max(version) FROM store_version').catch(() => [[null]])
  if (Number(row![0]) !== VERSION) {
    throw new Error(
      'the event store was written by a version that this one cannot read: start the version before this one once',
    )
  }
}

async function upgradeProject(
  old: DuckDBConnection,
  connection: DuckDBConnection,
  folder: string,
  project_id: number,
): Promise<void> {
  const files = new NewFiles(projectFolder(folder, project_id))
  makeFolder(files.folder)
  let manifest: Manifest = EMPTY_MANIFEST
  const add = async (events: PlacedEvents, copies: { copies: Copies; changed_at: bigint }[]) => {
    const gathered = { upto: null, events, copies }
    const { gone, made, ...rest } = await fold(connection, files, manifest, gathered, TIDY)
    manifest = { ...rest, version: 1, segments: changeSegments(manifest.segments, { gone, made }) }
  }
  const [row] = await rows(old, `SELECT coalesce(max(seq), 0) FROM er_${project_id}`)
  for (let from = 0; from < Number(row![0]); from += AT_ONCE) {
    await add(await readEvents(old, project_id, from, from + AT_ONCE), [])
  }
  await add(placed([]), await readCopies(old, project_id))
  writeManifest(folder, project_id, manifest)
}

const TIDY = { isTidy: true }
const AT_ONCE = 2 * ROW_GROUP

async function readEvents(
  old: DuckDBConnection,
  project_id: number,
  from: number,
  to: number,
): Promise<PlacedEvents> {
  const hot = HOT_PROPERTIES.map(hotColumn).join(', ')
  return placed(
    await rows(
      old,
      `SELECT seq, epoch_us(inserted_at), uuid::VARCHAR, event, distinct_id, epoch_us(timestamp), epoch_us(created_at),
         elements_chain, person_mode, person_id::VARCHAR, person_properties, properties, ${hot}
       FROM ev_${project_id} WHERE seq > ${from} AND seq <= ${to} ORDER BY seq`,
    ),
  )
}

const NONE: Copies = { persons: [], deleted_persons: [], distinct_ids: [], groups: [] }

/** Each with the time of its change, which exports of persons go by. */
async function readCopies(
  old: DuckDBConnection,
  project_id: number,
): Promise<{ copies: Copies; changed_at: bigint }[]> {
  const persons = await rows(
    old,
    `SELECT epoch_us(changed_at), id::VARCHAR, epoch_us(created_at), is_identified, properties, version FROM pe_${project_id}`,
  )
  const distinct_ids = await rows(
    old,
    `SELECT epoch_us(changed_at), distinct_id, person_id::VARCHAR, version FROM di_${project_id}`,
  )
  const groups = await rows(old, `SELECT index, key, epoch_us(created_at), properties FROM gr_${project_id}`)
  return [
    ...persons.map(([changed_at, id, created_at, is_identified, properties, version]) => ({
      changed_at: changed_at as bigint,
      copies: {
        ...NONE,
        persons: [{ id, created_at, is_identified, properties, version }] as Copies['persons'],
      },
    })),
    ...distinct_ids.map(([changed_at, distinct_id, person_id, version]) => ({
      changed_at: changed_at as bigint,
      copies: { ...NONE, distinct_ids: [{ distinct_id, person_id, version }] as Copies['distinct_ids'] },
    })),
    {
      changed_at: 0n,
      copies: {
        ...NONE,
        groups: groups.map(([index, key, created_at, properties]) => ({
          index,
          key,
          created_at,
          properties,
        })) as Copies['groups'],
      },
    },
  ]
}

async function keepState(old: DuckDBConnection, folder: string): Promise<void> {
  const [state] = await rows(old, 'SELECT copies_position, epoch_us(inserted_at) FROM store_state')
  const deleted = (await rows(old, 'SELECT id FROM deleted_project')).map(([id]) => Number(id))
  const { files } = JournalFiles.open(join(folder, 'journal'), () => undefined)
  files.begin()
  const [copies_position, inserted_at] = state as [bigint, bigint]
  files.append({ number: 1, inserted_at, copies_position, deleted, sections: [] }, [])
  files.close()
}
