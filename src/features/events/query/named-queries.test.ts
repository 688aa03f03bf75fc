// Every way to use a query of a WITH more than once. Each answers as the same query does with its parts written out.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { TEST_ENGINE } from '../../../../test/harness/clickhouse.ts'
import { IS_LONG } from '../../../../test/harness/long.ts'

let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  const { project } = workspace
  const batch = ['visit', 'visit', 'buy'].map((event, n) => ({
    event,
    distinct_id: n === 1 ? 'bob' : 'ann',
    timestamp: `2024-06-0${n + 1}T10:00:00Z`,
    properties: { n },
  }))
  const reply = await app.post('/batch/', { api_key: project.api_token, batch })
  expect(reply.status).toBe(200)
})
afterAll(() => app.close())

async function ask(query: string): Promise<{ status: number; body: { results?: unknown; code?: string } }> {
  const url = `/api/projects/${workspace.project.id}/query/`
  return app.post(url, { query: { kind: 'HogQLQuery', query } }, { key: workspace.owner.key })
}

async function rowsOf(query: string): Promise<unknown> {
  const { status, body } = await ask(query)
  expect({ status, body }, query).toMatchObject({ status: 200 })
  return body.results
}

/** What stands for `$c` in the queries below: values that are bound, and rows of the project. */
const BODIES = {
  constants: `select 1 as x, 'k' as name`,
  events: `select toInt(properties.n) as x, event as name from events where event != 'nothing'`,
  groups: `select count() as x, event as name from events where timestamp > '2024-01-01' group by event`,
  sets: `select 1 as x, 'k' as name union all select 2, 'l'`,
}

const USES = [
  'select a.x, b.name from $c a, $c b order by a.x, b.name',
  'select a.x, b.x from $c a cross join $c b order by 1, 2',
  'select a.x, b.name from $c a join $c b on a.x = b.x order by a.x, b.name',
  'select a.x, b.x from $c a left join $c b on a.x + 1 = b.x order by a.x, b.x',
  'select x, count() from $c a join $c b using x group by x order by x',
  'select a.x, b.x, d.x from $c a, $c b, $c d order by 1, 2, 3',
  'select x from $c where x in (select x from $c) order by x',
  'select x from $c where x = (select max(x) from $c) order by x',
  'select x, (select count() from $c) as all_of_them from $c order by x',
  'select x from (select x from $c union all select x + 10 from $c) order by x',
  'select sum(x) from (select x from $c union all select x from $c)',
  'select y from (select a.x + b.x as y from $c a, $c b) order by y',
  `select a.x from $c a join (select x from $c where name != 'l') b on a.x = b.x order by a.x`,
]

describe.each(Object.entries(BODIES))('a query of %s', (_name, body) => {
  it.each(USES)('%s', async (use) => {
    const written_out = await rowsOf(use.replaceAll('$c', `(${body})`))
    expect(written_out).not.toEqual([])
    expect(await rowsOf(`with c as (${body}) ${use.replaceAll('$c', 'c')}`)).toEqual(written_out)
    // Through another one, which is used once or twice.
    expect(await rowsOf(`with b as (${body}), c as (select * from b) ${use.replaceAll('$c', 'c')}`)).toEqual(
      written_out,
    )
  })
})

it('is found in its table of the same name, in IN, and beside one that is used once', async () => {
  expect(await rowsOf(`with c as (select 'buy' as e) select count() from events where event in c`)).toEqual([
    [1],
  ])
  expect(
    await rowsOf(
      `with c as (select 'buy' as e) select event from events where event in c or event in c order by event`,
    ),
  ).toEqual([['buy']])
  expect(
    await rowsOf('with c as (select 1 as x), d as (select 2 as x) select a.x, b.x, d.x from c a, c b, d'),
  ).toEqual([[1, 1, 2]])
})

describe('a chain, each used twice by the next', () => {
  const chainOf = (length: number) => {
    const chain = Array.from(
      { length },
      (_, index) => `c${index + 1} as (select a.x from c${index} a, c${index} b)`,
    )
    return `with c0 as (select 1 as x), ${chain.join(', ')} select count() from c${length}`
  }

  // ClickHouse puts each wherever it is used: thirty are a billion.
  it.each(TEST_ENGINE === 'clickhouse' ? [6] : [6, 30])('of %i is answered', async (length) => {
    expect(await rowsOf(chainOf(length))).toEqual([[1]])
  })

  // It takes chdb 20 seconds, in which nobody else has an answer.
  it.runIf(TEST_ENGINE === 'clickhouse' && IS_LONG)('of thirty is refused by ClickHouse', async () => {
    const { status, body } = await ask(chainOf(30))
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { code: 'hogql_query_error', detail: expect.stringContaining('grows too large') },
    })
  })
})
