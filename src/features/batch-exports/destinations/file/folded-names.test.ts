// Exports to folders from before doubled slashes were one: what is stored of them is known by its one name afterwards.
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOrganization } from '../../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../../test/harness/app.ts'
import { sql } from '../../../../platform/db/sql.ts'
import type { Definition } from '../../definition.ts'
import { addExport, addRun } from '../../runs/fixture/rows.ts'

const MIGRATION = new URL('../../../../platform/db/migrations/0035_folded_file_names.sql', import.meta.url)

let app: TestApp
beforeAll(async () => void (app = await startTestApp()))
afterAll(() => app.close())

type Stored = { prefix: string; published: string[] | null; files: object[] | null }

it.each<[what: string, type: string, before: Stored, after: Stored]>([
  [
    'names are folded, what else is known of a file stays',
    'File',
    {
      prefix: '//out///events//',
      published: ['out///events/a.jsonl', 'out///events/a_manifest.json'],
      files: [{ name: 'out///events/a.jsonl', rows: 3 }],
    },
    {
      prefix: 'out/events/',
      published: ['out/events/a.jsonl', 'out/events/a_manifest.json'],
      files: [{ name: 'out/events/a.jsonl', rows: 3 }],
    },
  ],
  [
    'of a run that has no files yet nothing is made up',
    'File',
    { prefix: 'out//events', published: [], files: null },
    { prefix: 'out/events', published: [], files: null },
  ],
  [
    'in a bucket they are part of a name',
    'S3',
    { prefix: 'out//events', published: ['out//events/a.jsonl'], files: [] },
    { prefix: 'out//events', published: ['out//events/a.jsonl'], files: [] },
  ],
])('%s', async (_what, type, before, after) => {
  const { project } = await createOrganization(app)
  const now = app.services.now()
  const owner = await addExport(app.db, project.id, now)
  const config = { prefix: before.prefix, file_format: 'JSONLines' }
  const definition = { model: 'events', destination_type: type, config } as unknown as Definition
  const run = await addRun(app.db, owner, now, { definition })
  await app.db.run(sql`
    UPDATE batch_export SET destination_type = ${type}, config = ${JSON.stringify(config)}::jsonb WHERE id = ${owner.id}`)
  const json = (value: unknown) => (value === null ? null : JSON.stringify(value))
  await app.db.run(sql`
    UPDATE batch_export_run SET published = ${json(before.published)}::jsonb, files = ${json(before.files)}::jsonb
    WHERE id = ${run.id}`)
  // Done twice it changes nothing more.
  for (let time = 0; time < 2; time++) {
    await app.db.pool.query(await readFile(MIGRATION, 'utf8'))
    const stored = await app.db.only<{ own: string; prefix: string } & Stored>(sql`
      SELECT batch_export.config ->> 'prefix' AS own, definition #>> '{config,prefix}' AS prefix, published, files
      FROM batch_export_run AS run JOIN batch_export ON batch_export.id = batch_export_id WHERE run.id = ${run.id}`)
    expect(stored).toEqual({ own: after.prefix, ...after })
  }
})
