// `npm run apps`: eighty published apps, unchanged, and the table of docs/apps.md. Without a cache of their repositories
// (`APPS_CACHE`) there is nothing to try; they are cloned into it when they are not there.
import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startPostgresServer, type PostgresStandIn } from '../stand-ins/postgres.ts'
import { APPS } from './eighty/list.ts'
import { filesOf, packageOf } from './eighty/source.ts'
import { tryApp, type Database, type Verdict } from './eighty/trial.ts'
import { GEOIP_DATABASE, openWorld, type World } from './eighty/world.ts'
import { Workbench } from './workbench.ts'

const { APPS_CACHE: cache, APPS_ONLY: only, APPS_WRITE: write } = process.env
const PAGE = 'docs/apps.md'
const GOAL = 78

describe.skipIf(!cache)('published apps', () => {
  let world: World
  let bench: Workbench
  let server: PostgresStandIn
  let database: Database
  const verdicts: Verdict[] = []
  beforeAll(async () => {
    world = await openWorld()
    bench = await Workbench.open({ ALLOW_PLAINTEXT: 'on', GEOIP_DATABASE })
    bench.app.services.outbound = world.outbound
    server = await startPostgresServer()
    const { port } = await server.openProxy()
    const rowsIn = async (table: string) =>
      (await server.admin.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`)).rows[0]!
        .count
    database = { login: { ...server.login, host: '127.0.0.1', port }, rowsIn }
    await server.admin
      .query(`CREATE TABLE to_import (n int, event text, distinct_id text, properties text, timestamp timestamptz);
      INSERT INTO to_import VALUES (1, 'imported', 'ann', '{}', now()); GRANT ALL ON to_import TO PUBLIC; GRANT ALL ON SCHEMA public TO PUBLIC`)
  })
  afterAll(async () => {
    await bench.close()
    await world.close()
    await server.close()
  })

  it.each(APPS.filter(({ repo }) => !only || only.split(',').some((part) => repo.includes(part))))(
    '$repo',
    { timeout: 300_000 },
    async (app) => {
      world.host.github.set(app.repo, {
        commits: [{ sha: 'a'.repeat(40), branch: 'main', files: await filesOf(cache!, app.repo) }],
      })
      if (app.built_with) {
        const { name, version, files } = await packageOf(cache!, app)
        world.host.npm.set(name, { versions: { [version]: files } })
      }
      const verdict = await tryApp(await bench.another(), world, app, database)
      verdicts.push(verdict)
      console.log(`${verdict.works ? 'works' : 'FAILS'}  ${verdict.repo}: ${verdict.what}`)
    },
  )

  it('most of them work, and the table says what each does', async () => {
    const works = verdicts.filter((verdict) => verdict.works).length
    console.log(`${works} of ${verdicts.length} work`)
    if (write) await writeFile(PAGE, withTable(await readFile(PAGE, 'utf8'), verdicts))
    expect(only ? GOAL : works).toBeGreaterThanOrEqual(GOAL)
  })
})

/** The words above the table are written by hand. */
function withTable(page: string, verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(
    ({ repo, kind, works, what }) =>
      `| [${repo}](https://github.com/${repo}) | ${kind} | ${works ? 'works' : 'no'} | ${what.replaceAll('|', '\\|')} |`,
  )
  const head = ['| App | Kind | Verdict | What it does here |', '| --- | --- | --- | --- |']
  const works = verdicts.filter((verdict) => verdict.works).length
  return `${page.split('\n<!-- table -->', 1)[0]}\n<!-- table -->\n\n${works} of ${verdicts.length} work.\n\n${[...head, ...rows].join('\n')}\n`
}
