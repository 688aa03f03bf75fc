// The commands about exports, as the built program: the whole first minute, and that verification finds what is wrong.
import { appendFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDatabase } from '../../src/platform/db/database.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { buildProgram, connectionOf, type Program } from './program.ts'

const EVENTS = 12_000

let program: Program
let folder: string
beforeAll(async () => {
  program = await buildProgram()
  folder = program.newDataDir()
}, 60_000)
afterAll(() => program.remove())

const filesOf = async () =>
  (await readdir(join(folder, 'exports'), { recursive: true })).filter((name) =>
    name.endsWith('.parquet.zst'),
  )
const verify = (...args: string[]) => program.run(['verify', ...args], { DATA_DIR: folder })

it('demo stores, exports, verifies and says so', async () => {
  const args = ['demo', '--events', String(EVENTS), '--folder', folder]
  const { code, stdout, stderr } = await program.run(args, { PORT: '8123' })
  expect(stderr).not.toContain('longshore demo:')
  expect(code).toBe(0)
  expect(stdout).toContain('Every event is in the files exactly once.')
  expect(stdout).toContain('Open http://127.0.0.1:8123/project/')
  expect(stdout).toMatch(/stored +12,000 rows.*\n +exported +12,000 rows.*\n +verified +12,000 rows/)
  expect(await filesOf()).toHaveLength(7)
}, 120_000)

it('demo leaves a folder alone that it has not made', async () => {
  const { code, stderr } = await program.run(['demo', '--events', '10', '--folder', join(folder, 'exports')])
  expect([code, stderr]).toEqual([1, expect.stringContaining('name another with --folder')])
  expect(await filesOf()).toHaveLength(7)
}, 60_000)

it('export finds nothing to deliver where all was delivered, and the files stay the same', async () => {
  const id = await exportId()
  const before = await verify(id)
  expect([before.code, before.stdout]).toEqual([0, expect.stringMatching(/rows +12,000/)])
  const to = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000)
  const from = new Date(to.getTime() - 2 * 86_400_000)
  const args = ['export', id, '--from', from.toISOString(), '--to', to.toISOString()]
  const { code, stdout } = await program.run(args, { DATA_DIR: folder })
  expect([code, stdout]).toEqual([0, expect.stringMatching(/runs +0\ncompleted +0\nrows +0\n/)])
  expect(await filesOf()).toHaveLength(7)
  expect((await verify()).code).toBe(0)
}, 120_000)

it('export and verify beside a running server, which does the work', async () => {
  const server = program.serve({ DATA_DIR: folder })
  const url = await server.url
  const db = openDatabase({ ...connectionOf(folder), max: 1 })
  const { id } = await db.only<{ id: string }>(sql`SELECT id FROM batch_export`)
  const { api_token } = await db.only<{ api_token: string }>(sql`SELECT api_token FROM project`)
  await db.close()
  // Three events of a day that the export knows nothing of yet.
  const timestamp = '2024-05-01T12:00:00Z'
  const batch = ['a', 'b', 'c'].map((event) => ({ event, distinct_id: 'me', timestamp, properties: {} }))
  const send = (events: object[]) =>
    fetch(`${url}/batch/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: api_token, batch: events }),
    })
  expect((await send(batch)).status).toBe(200)
  const args = ['export', id, '--from', '2024-05-01T00:00:00Z', '--to', '2024-05-02T00:00:00Z']
  const exported = await program.run(args, { DATA_DIR: folder })
  expect([exported.code, exported.stdout]).toEqual([
    0,
    expect.stringMatching(/runs +1\ncompleted +1\nrows +3\n/),
  ])
  expect(await filesOf()).toHaveLength(8)
  const verified = await verify(id)
  expect([verified.code, verified.stdout]).toEqual([0, expect.stringMatching(/rows +12,003/)])
  // Asked again there is nothing left to deliver.
  const again = await program.run(args, { DATA_DIR: folder })
  expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/runs +0\n/)])
  const default_to = await program.run(['export', id, '--from', '2024-05-01T00:00:00Z'], { DATA_DIR: folder })
  expect([default_to.code, default_to.stdout]).toEqual([0, expect.stringMatching(/runs +0\n/)])
  // What only the server can tell is told by it at once, and not tried again.
  const ages_apart = ['0001-01-01T00:00:00Z', '2024-05-02T12:00:00Z'].map((timestamp) => ({
    event: 'd',
    distinct_id: 'me',
    timestamp,
    properties: {},
  }))
  expect((await send(ages_apart)).status).toBe(200)
  const asked_at = Date.now()
  const refused = await program.run(['export', id, '--to', '2024-05-03T00:00:00Z'], { DATA_DIR: folder })
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('The backfill would have')])
  expect(Date.now() - asked_at).toBeLessThan(30_000)
  expect(server.stderr()).not.toContain('will be tried again')
  server.kill('SIGTERM')
  expect(await server.ended).toMatchObject({ code: 0 })
}, 180_000)

it('verify finds a changed file and a missing one, also among many problems of another kind', async () => {
  const [first, second] = (await filesOf()).map((name) => join(folder, 'exports', name))
  await appendFile(first!, 'x')
  await rm(second!)
  for (let index = 0; index < 13; index++) {
    await writeFile(join(dirname(first!), `stray-${index}.parquet.zst`), 'x')
  }
  const { code, stdout, stderr } = await verify()
  expect(code).toBe(1)
  expect(stdout).toContain('is not there')
  expect(stdout).toMatch(/has (bytes|sha256)|cannot be read/)
  expect(stdout.match(/stray-\d+\.parquet/g)).toHaveLength(10)
  expect(stdout).toContain('stray_file · and 3 more of these')
  expect(stderr).toContain('15 problems were found')
}, 60_000)

it('bench measures each step, and leaves nothing behind', async () => {
  const disk = program.newDataDir()
  await mkdir(disk)
  const { code, stdout, stderr } = await program.run(['bench', '--events', '4000', '--folder', disk])
  expect(stderr).not.toContain('longshore bench:')
  expect(code).toBe(0)
  const lines = stdout.trim().split('\n')
  expect(lines).toEqual([
    expect.stringMatching(/^store +4,000 rows +\d+\.\d s +[\d,]+ rows\/s /),
    ...['store one', 'list', 'count'].map((what) =>
      expect.stringMatching(
        new RegExp(`^  ${what} +half within +\\d+\\.\\d ms, 99 of 100 within +\\d+\\.\\d ms `),
      ),
    ),
    expect.stringMatching(/^  export +4,200 rows .* Parquet zstd, 7 files, .* read back and compared$/),
    expect.stringMatching(/^  export +4,200 rows .* JSONLines gzip, 7 files, .* read back and compared$/),
  ])
  expect(await readdir(disk)).toEqual([])
}, 120_000)

it.each([
  [['export', 'nonsense'], 'the id of an export is a UUID'],
  [['export', '00000000-0000-7000-8000-000000000000'], 'there is no export'],
  [['verify', 'nonsense'], 'the id of an export is a UUID'],
  [['demo', '--events', '0'], '--events must be a number, 1 or more'],
  [['bench', '--events', 'x'], '--events must be a number, 1 or more'],
  [['bench', '--folder', '/nowhere'], 'nothing can be written to /nowhere (ENOENT)'],
])(
  '%s is refused in one line',
  async (args, expected) => {
    const { code, stderr } = await program.run(args, { DATA_DIR: folder })
    expect([code, stderr]).toEqual([1, expect.stringContaining(expected)])
  },
  60_000,
)

/** Read beside a server of our own, which the commands leave behind for nobody. */
async function exportId(): Promise<string> {
  const server = program.serve({ DATA_DIR: folder })
  await server.url
  const db = openDatabase({ ...connectionOf(folder), max: 1 })
  const { id } = await db.only<{ id: string }>(sql`SELECT id FROM batch_export`)
  await db.close()
  server.kill('SIGTERM')
  await server.ended
  return id
}
