// Properties in columns of their own: whatever is asked, the answer is the same before a column appears, while only some
// files have it, when all have it, after a restart, and when it is gone again.
// @module-tag slow
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IS_LONG } from '../../test/harness/long.ts'
import { openDuckDb } from '../platform/event-store/duckdb/open.ts'
import { ROW_GROUP } from '../platform/event-store/duckdb/segments/events.ts'
import {
  filesOf,
  MANIFEST_NAME,
  projectFolder,
  readManifest,
  segmentFiles,
  writeManifest,
} from '../platform/event-store/duckdb/segments/manifest.ts'
import type { EventStore, ExportFormat } from '../platform/event-store/event-store.ts'
import type { ExportRows } from '../platform/event-store/export-rows.ts'
import { eventsOf, storedEvent } from '../platform/event-store/fixture/suite.ts'
import type { Query } from './ast.ts'
import { compileQuery } from './compile.ts'
import { parseExpression, parseSelect } from './parser.ts'

const [PROJECT, OTHER] = [1, 2]
const NOW = new Date('2026-03-01T12:00:00Z')
const DAY_MS = 86_400_000

let now = NOW
let folder: string
type Folders = [string, string, string]
/** What the project had before there were columns, and once all files had them. */
let bare: string
let columned: string
let store: EventStore

/** Nothing appears unless it is to. */
const open = async (column_pause_ms: number) =>
  void (store = await openDuckDb({
    folder,
    memory_mb: 256,
    query_timeout_ms: 60_000,
    now: () => now,
    column_pause_ms,
  }))
const reopen = async (column_pause_ms: number) => {
  await store.close()
  await open(column_pause_ms)
}
const NEVER = 1_000_000_000
const never = new AbortController().signal
const copyTo = async (copy: string) => {
  await store.close()
  await cp(projectFolder(folder, PROJECT), projectFolder(copy, PROJECT), { recursive: true })
  await open(NEVER)
}

beforeAll(async () => {
  const place = await mkdtemp(join(tmpdir(), 'longshore-columns-'))
  ;[folder, bare, columned] = ['store', 'bare', 'columned'].map((name) => join(place, name)) as Folders
  await open(NEVER)
})
afterAll(async () => {
  await store.close()
  await rm(dirname(folder), { recursive: true, force: true })
})

const LONG_NAME = 'n'.repeat(5_000)
/** Each has a value somewhere, and a twin that differs by case or by what stands behind a quote. */
const NAMES = [
  'plan',
  'Plan',
  'PLAN',
  `it's "quoted"`,
  `x', '$.plan') --`,
  '__proto__',
  'constructor',
  '',
  '*',
  'a.b',
  'a/b~c',
  'a\\b',
  'ünï💥',
  'new\nline',
  'nul\0byte',
  'nul',
  LONG_NAME,
  `${LONG_NAME}!`,
  'seq',
  'asked1',
  'extracted',
]
/** JSON as clients may write it: the store keeps it as it is. */
const VALUES = [
  '"enterprise"',
  String.raw`"\u0065nterprise"`,
  '"Enterprise"',
  '"the enterprise"',
  '"free"',
  String.raw`"o\"brien\\"`,
  String.raw`"Quiz\/page"`,
  '"Quiz/page"',
  '"ünï💥"',
  String.raw`"\u00fcn\u00ef\ud83d\udca5"`,
  '""',
  '" 5 "',
  '"5"',
  '5',
  '5.0',
  '5e0',
  '1e2',
  '"100.0"',
  '-0.0',
  '0.1',
  '12345678901234567890',
  '1.5e300',
  'true',
  'false',
  '"true"',
  'null',
  '"null"',
  '[]',
  '[1, "enterprise"]',
  '"[1,\\"enterprise\\"]"',
  '{}',
  '{ "b": "enterprise", "c": [ 1 ] }',
  String.raw`"{\"b\":\"enterprise\"}"`,
  '"2026-02-01T10:00:00Z"',
  '"1769940000"',
]
const named = (name: string, value: string) => `{"other":"enterprise",${JSON.stringify(name)}:${value}}`
const TEXTS = [
  ...VALUES.map((value) => named('plan', value)),
  ...NAMES.map((name) => named(name, JSON.stringify(`value of ${name.slice(0, 20)} ${name.length}`))),
  '{}',
  '{"many0":"x","many15":"y","many16":"z","many39":"x"}',
  '{"plan":"first","plan":"second"}',
  '{"nested":{"plan":"enterprise"}}',
]

let number = 0
const event = (properties: string) => {
  const id = String(++number).padStart(12, '0')
  return storedEvent({ uuid: `018f0000-0000-7000-8000-${id}`, event: `e${number}`, properties })
}
const write = async (texts: readonly string[]) => {
  const events = texts.map(event)
  await store.write([eventsOf(PROJECT, ...events), eventsOf(OTHER, ...events)], NOW)
}

/** HogQL has no NUL, but filters have; `parsed` puts it in. */
const STANDS_FOR_NUL = '␀'
const text = (value: string) =>
  `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll('\0', STANDS_FOR_NUL)}'`
const CONSTANTS = [
  "'enterprise'",
  "'Enterprise'",
  "'free'",
  "'Quiz/page'",
  "'ünï💥'",
  "'5'",
  '5',
  '100',
  "'100.0'",
  "'true'",
  'true',
  "''",
  "'null'",
  '\'[1,"enterprise"]\'',
  "toDateTime('2026-02-01 10:00:00')",
]
const OPERATORS = ['=', '!=', '<', '<=', '>', '>=', 'like', 'not like', 'ilike', 'not ilike', '=~', '!~']
const isText = (constant: string) => constant.startsWith("'")

/** In the list of what is selected NULL counts as such, and in WHERE other rules hold. */
const QUESTIONS = [
  ...CONSTANTS.map((constant) => {
    const tests = OPERATORS.filter((operator) => isText(constant) || !/[a-z~]/.test(operator))
    const list = tests.map((operator) => `properties.plan ${operator} ${constant}`)
    return `select event, properties.plan, ${list.join(', ')} from events order by uuid limit 1000`
  }),
  ...CONSTANTS.flatMap((constant) => [
    `select event from events where properties.plan = ${constant} order by uuid`,
    `select event from events where not (properties.plan = ${constant}) order by uuid limit 300`,
    `select event from events where properties.plan in (${constant}, 'nothing') or event = 'e1' order by uuid`,
    `select event from events where properties.plan not in (${constant}, 'nothing') order by uuid limit 300`,
  ]),
  `select event from events where properties.plan in ('enterprise', 'free', 'a', 'b', 'c', 'd') order by uuid`,
  `select event from events where 'enterprise' = properties.plan and properties.other = 'enterprise' order by uuid`,
  'select event from events where properties.plan is null order by uuid limit 300',
  'select event from events where properties.plan is not null order by uuid',
  'select event, properties.plan.b, properties.plan.1, properties.nested.plan from events order by uuid limit 300',
  `select event from events where properties.nested.plan = 'enterprise'`,
  `select event from events where properties.plan.b = 'enterprise'`,
  'select properties.plan, count() from events group by properties.plan order by count() desc, properties.plan',
  `select countIf(properties.plan = 'enterprise'), countIf(properties.plan != 'enterprise'), uniq(properties.plan) from events`,
  `select sum(toFloat(properties.plan)), max(properties.plan), toInt(properties['plan']) as n from events group by n order by n`,
  `select p from (select properties.plan as p, event from events) where p = 'enterprise' order by event`,
  `select a.event from events a join events b on a.properties.plan = b.properties.Plan order by a.uuid`,
  `select a.event from events a left join events b on b.properties.plan = 'free' and a.event = b.event order by a.uuid limit 300`,
  `select properties from events where properties.plan = 'enterprise' order by uuid`,
  // More than are read in one pass.
  `select event from events where ${Array.from({ length: 40 }, (_, index) => `properties.many${index} = 'x' or`).join(' ')} properties.plan > 'enter' order by uuid limit 300`,
  `select ${Array.from({ length: 40 }, (_, index) => `properties.many${index}`).join(', ')}, properties.plan, properties.other from events order by uuid limit 300`,
  `select event, person.properties.plan from events where properties.plan = 'free' order by uuid limit 100`,
  ...NAMES.map(
    (name) =>
      `select event, properties[${text(name)}] from events where properties[${text(name)}] is not null order by uuid`,
  ),
  ...NAMES.map(
    (name) =>
      `select event from events where properties[${text(name)}] = ${text(`value of ${name.slice(0, 20)} ${name.length}`)} order by uuid`,
  ),
  `select ${NAMES.map((name) => `properties[${text(name)}]`).join(', ')} from events order by uuid limit 300`,
]

/** All of them in the long run, else every third. */
const ASKED = QUESTIONS.filter((_, index) => IS_LONG || index % 3 === 0)

const parsed = (hogql: string) =>
  JSON.parse(JSON.stringify(parseSelect(hogql)).replaceAll(STANDS_FOR_NUL, '\\u0000')) as Query
const compiled = (hogql: string, project_id: number) =>
  compileQuery(parsed(hogql), { project_id, timezone: 'UTC', now: NOW, placeholders: new Map() }, 'duckdb')

async function answer(hogql: string, project_id = PROJECT) {
  const { sql, parameters, properties } = compiled(hogql, project_id)
  return store.query({ project_id, sql, parameters, properties, timezone: 'UTC', max_rows: 1000 })
}

async function answers(project_id = PROJECT) {
  const all = new Map<string, string>()
  for (const hogql of ASKED) all.set(hogql, JSON.stringify(await answer(hogql, project_id)))
  return all
}

/** Exports read rows in the portions in which they lie. */
const EXPORTS: readonly (readonly [select: string, where: string])[] = [
  ['event, properties', 'seq % 3 = 0'],
  ['event, properties.plan, properties.Plan, toFloat(properties.plan)', 'true'],
  ['event', `properties.plan = 'enterprise'`],
  ['event, properties', `properties.plan in ('p1', 'p2', 'free') or properties.Plan = 'p3'`],
  ['event', 'properties.plan = properties.other'],
  ['event, properties.plan', 'properties.plan is not null and properties.Plan is null'],
  ['event', `properties.plan like 'p%' or event = 'e3'`],
  ['event, properties.plan.b', `toFloat(properties.plan) > 4 or properties.other != 'x'`],
  [NAMES.map((name, index) => `properties[${text(name)}] as c${index}`).join(', '), 'true'],
]
const FORMATS: readonly ExportFormat[] = [
  { kind: 'parquet', compression: 'zstd' },
  { kind: 'json-lines' },
  { kind: 'csv' },
  { kind: 'copy-text' },
]

/** As exports have them (features/batch-exports/source). */
function exportRows([select, where]: (typeof EXPORTS)[number]): ExportRows {
  const compiled = compileQuery(
    parsed(`select seq, uuid, timestamp, ${select} from events`),
    {
      project_id: PROJECT,
      timezone: 'UTC',
      now: NOW,
      placeholders: new Map(),
      exported: { where: parseExpression(where) },
    },
    'duckdb',
  )
  const { sql, parameters, properties, outputs } = compiled
  const [position, uuid, time, ...others] = outputs
  const own = { position: position!.column, uuid: uuid!.column, time: time!.column }
  const query = { sql, parameters, properties, ...own }
  const area = { seq_from: 0, seq_to: Number.MAX_SAFE_INTEGER, time_from: null, time_to: null }
  const columns = others.map(({ column: of, type }): ExportRows['columns'][number] => {
    const form = { type, is_json: false, max: null }
    return { name: of, kind: 'text', value: { of, form } }
  })
  return { project_id: PROJECT, source: { model: 'events', query, areas: [area] }, columns }
}

async function digestOf(rows: ExportRows, format: ExportFormat): Promise<string> {
  const range = { from: 10, to: ROW_GROUP + 100 }
  const { path } = await store.exportRows(rows, range, format, never)
  const digest = createHash('sha256').update(await readFile(path))
  await rm(path)
  return digest.digest('hex')
}

/** What exports give of the events that were there first. */
async function exported() {
  const all = new Map<string, unknown>()
  for (const each of EXPORTS) {
    const rows = exportRows(each)
    const digests = []
    for (const format of FORMATS) digests.push(await digestOf(rows, format))
    const [block] = await store.countBlocks(rows, ROW_GROUP, never)
    all.set(each.join(' where '), { digests, block })
  }
  return all
}

const manifest = (project_id = PROJECT) => readManifest(folder, project_id)
const columnsOfFiles = () => manifest().segments.map(({ columns = [] }) => columns)
/** Each is asked for often enough to get a column. */
async function askOften(...properties: string[]) {
  for (let times = 0; times < 5; times++) {
    await answer(
      `select ${properties.map((name) => `properties[${text(name)}]`).join(', ')} from events limit 1`,
    )
  }
}
const appeared = async (...properties: string[]) =>
  await expect
    .poll(() => columnsOfFiles().every((columns) => properties.every((name) => columns.includes(name))))
    .toBe(true)

describe('columns of properties', () => {
  let before: Map<string, string>
  let files: Awaited<ReturnType<typeof exported>>

  it('are not there at first', async () => {
    await write([...TEXTS, ...Array.from({ length: ROW_GROUP }, (_, index) => `{"plan":"p${index % 7}"}`)])
    await answer('select count() from events')
    // Some are in a file that stays loose, some come later still.
    await write(TEXTS)
    before = await answers()
    expect(before.get(QUESTIONS[0]!)).toContain('enterprise')
    expect(manifest().segments.length).toBeGreaterThan(1)
    expect(manifest().columns ?? []).toEqual([])
    files = await exported()
    expect(new Set([...files.values()].map((each) => JSON.stringify(each))).size).toBe(EXPORTS.length)
    await copyTo(bare)
  }, 600_000)

  it('change no answer, and no byte of an export, once they have appeared', async () => {
    await reopen(10)
    await askOften('plan', 'Plan', `it's "quoted"`, '__proto__', '', '*', 'ünï💥', 'asked1')
    await askOften('nul\0byte', LONG_NAME)
    await appeared('plan', 'Plan', `it's "quoted"`, '__proto__', '', '*', 'ünï💥', 'asked1')
    expect(manifest().columns!.map(({ property }) => property)).not.toContain(LONG_NAME)
    await reopen(NEVER)
    expect(await answers()).toEqual(before)
    expect(await exported()).toEqual(files)
    // Nobody has asked about the other project so far.
    expect(manifest(OTHER).segments.flatMap(({ columns = [] }) => columns)).toEqual([])
    expect(await answers(OTHER)).toEqual(before)
    const { sources } = await store.query({
      ...compiled(`select properties.plan, properties.other from events`, PROJECT),
      project_id: PROJECT,
      timezone: 'UTC',
      max_rows: 1,
      isExplained: true,
    })
    const total = 2 * TEXTS.length + ROW_GROUP
    expect(sources).toEqual([
      { property: 'plan', from_column: total, from_json: 0, json_bytes: 0 },
      { property: 'other', from_column: 0, from_json: total, json_bytes: expect.any(Number) },
    ])
    expect(sources![1]!.json_bytes).toBeGreaterThan(total)
    await copyTo(columned)
  }, 600_000)

  it.each([0, 1])(
    'are read where they are while file %i has none',
    async (index) => {
      const project = projectFolder(folder, PROJECT)
      await store.close()
      await rm(project, { recursive: true })
      await cp(projectFolder(columned, PROJECT), project, { recursive: true })
      const whole = manifest()
      const former = readManifest(bare, PROJECT).segments[index]!
      expect(whole.segments[index]).toMatchObject({ first_row: former.first_row, rows: former.rows })
      for (const file of segmentFiles(former)) {
        await cp(join(projectFolder(bare, PROJECT), file), join(project, file))
      }
      writeManifest(folder, PROJECT, { ...whole, segments: whole.segments.with(index, former) })
      await open(NEVER)
      expect(await answers()).toEqual(before)
      expect(await exported()).toEqual(files)
      expect(columnsOfFiles().map((columns) => columns.includes('plan'))).toEqual(
        whole.segments.map((_, at) => at !== index),
      )
    },
    600_000,
  )

  it('are in files of new events at once, and are kept when files are put together', async () => {
    await write(TEXTS)
    const enterprise = `select count() from events where properties.plan = 'enterprise'`
    const counted = (await answer(enterprise)).rows
    expect(columnsOfFiles().at(-1)).toContain('plan')
    for (let times = 0; times < 8; times++) {
      await write(Array.from({ length: ROW_GROUP }, () => '{"plan":"many"}'))
      expect((await answer(enterprise)).rows).toEqual(counted)
    }
    const merged = () => manifest().segments.find(({ rows }) => rows >= 8 * ROW_GROUP)
    await expect.poll(merged).toBeTruthy()
    expect(merged()!.columns).toContain('plan')
    const many = await answer(`select count() from events where properties.plan = 'many'`)
    expect(many.rows).toEqual([[8 * ROW_GROUP]])
    expect(await exported()).toEqual(files)
  }, 600_000)

  it('appear for what exports read', async () => {
    await reopen(10)
    for (let times = 0; times < 5; times++) {
      await store.countBlocks(
        exportRows(['properties.exported', `properties.filtered = 'x'`]),
        ROW_GROUP,
        never,
      )
    }
    await appeared('exported', 'filtered')
  }, 600_000)

  it('that nobody reads any more go', async () => {
    now = new Date(NOW.getTime() + 31 * DAY_MS)
    await reopen(10)
    await answer('select properties.Plan from events limit 1')
    await expect
      .poll(() =>
        columnsOfFiles()
          .flat()
          .every((name) => name === 'Plan'),
      )
      .toBe(true)
    expect(manifest().columns).toMatchObject([{ property: 'Plan' }])
    expect((await answer(QUESTIONS[0]!)).rows.slice(0, 20)).toEqual(
      (JSON.parse(before.get(QUESTIONS[0]!)!) as { rows: unknown[] }).rows.slice(0, 20),
    )
    // Files that others stand in for are removed.
    await expect
      .poll(async () => (await readdir(projectFolder(folder, PROJECT))).toSorted())
      .toEqual([...filesOf(manifest()), MANIFEST_NAME].toSorted())
  }, 600_000)

  it('go with their project', async () => {
    await askOften('plan')
    await store.deleteProject(PROJECT)
    expect(existsSync(projectFolder(folder, PROJECT))).toBe(false)
    expect((await answer('select properties.plan from events')).rows).toEqual([])
    expect(existsSync(projectFolder(folder, PROJECT))).toBe(false)
  }, 600_000)
})
