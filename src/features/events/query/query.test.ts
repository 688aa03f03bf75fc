// The query endpoint through HTTP, on the real stores: answers, placeholders, filters, limits, errors and fences.
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { TEST_ENGINE } from '../../../../test/harness/clickhouse.ts'
import { makeEvent, type GivenEvent } from '../listing/fixture/events.ts'

const NO_COPIES = { persons: [], deleted_persons: [], distinct_ids: [], groups: [] }

let app: TestApp
let home: Workspace
let other: Workspace
beforeAll(async () => {
  app = await startTestApp()
  home = await createOrganization(app)
  other = await createOrganization(app)
  await store(home, [
    {
      event: 'visit',
      distinct_id: 'ann',
      timestamp: '2024-06-01T10:00:00Z',
      properties: { n: 1, browser: 'Chrome' },
    },
    {
      event: 'visit',
      distinct_id: 'bob',
      timestamp: '2024-06-02T10:00:00.123456Z',
      properties: { n: 2, browser: 'Safari' },
    },
    {
      event: 'buy',
      distinct_id: 'ann',
      timestamp: '2024-06-03T10:00:00Z',
      properties: { n: 3, price: 9.5, list: [1, 'a'] },
    },
  ])
  await store(other, [
    { event: 'secret', distinct_id: 'eve', timestamp: '2024-06-01T10:00:00Z', properties: { n: 99 } },
  ])
})
afterAll(() => app.close())

async function store({ project }: Workspace, events: readonly GivenEvent[]): Promise<void> {
  const now = app.services.now()
  const stored = events.map((event) => makeEvent(event, now))
  await app.services.eventStore.write([{ project_id: project.id, events: stored, ...NO_COPIES }], now)
}

const pathOf = ({ project }: Workspace) => `/api/projects/${project.id}/query/`
const post = (body: unknown, on: Workspace = home) => app.post(pathOf(on), body, { key: on.owner.key })
const ask = (query: string, rest: object = {}) => post({ query: { kind: 'HogQLQuery', query, ...rest } })
const rowsOf = async (query: string, rest: object = {}) => {
  const { status, body } = await ask(query, rest)
  expect({ status, body }).toMatchObject({ status: 200 })
  return body.results as unknown[][]
}

describe('200', () => {
  it('a whole answer', async () => {
    const query = {
      kind: 'HogQLQuery',
      query: 'select event, timestamp, properties.n as n, count() over () c from events order by timestamp',
      unknown_field: { kept: true },
    }
    const sent = { query, refresh: 'blocking', client_query_id: 'x', name: 'test' }
    const { status, body } = await post(sent)
    expect(status).toBe(200)
    expect(body).toEqual({
      results: [
        ['visit', '2024-06-01T10:00:00Z', '1', 3],
        ['visit', '2024-06-02T10:00:00.123456Z', '2', 3],
        ['buy', '2024-06-03T10:00:00Z', '3', 3],
      ],
      columns: ['event', 'timestamp', 'n', 'c'],
      types: [
        ['event', 'String'],
        ['timestamp', "DateTime64(6, 'UTC')"],
        ['n', expect.stringContaining('String')],
        ['c', expect.stringContaining('Int64')],
      ],
      hasMore: false,
      limit: 100,
      offset: 0,
      hogql: expect.stringMatching(/^SELECT .* FROM events ORDER BY timestamp( ASC)? LIMIT 100$/i),
      query,
      clickhouse: null,
      error: null,
      explain: null,
      metadata: null,
      modifiers: {},
      timings: [],
      is_cached: false,
      cache_key: null,
      last_refresh: expect.any(String),
      next_allowed_client_refresh: expect.any(String),
      timezone: 'UTC',
    })
  })

  // ClickHouse does not tell how much JSON it has read.
  const IN_JSON =
    TEST_ENGINE === 'clickhouse'
      ? [
          "properties.it's: from the JSON of every event that is read.",
          'properties.n: from the JSON of every event that is read.',
        ]
      : [
          expect.stringMatching(/^properties\.it's: from the JSON of 3 events\./),
          expect.stringMatching(
            /^properties\.n: from the JSON of 3 events\. A column would save reading \d+ bytes of JSON\.$/,
          ),
        ]

  it('tells where properties were read, when asked to', async () => {
    const query = `select properties.n, properties.$os from events where properties."it's" = 'here' or person.properties.n = 1`
    const { status, body } = await ask(query, { explain: true })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        results: [],
        explain: ['properties.$os: from a column that every project has.', ...IN_JSON],
      },
    })
    expect((await ask('select count() from events', { explain: true })).body.explain).toEqual([])
    expect((await ask(query, { explain: false })).body.explain).toBeNull()
    expect(await ask(query, { explain: 'yes' })).toMatchObject({
      status: 400,
      body: { attr: 'query__explain' },
    })
  })

  it.each<[string, unknown]>([
    [`toDate('2024-06-01')`, '2024-06-01'],
    [`toUUID('0190163d-8694-739b-aea5-966c26f8ad91')`, '0190163d-8694-739b-aea5-966c26f8ad91'],
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740993', '9007199254740993'],
    ["tuple(1, 'a')", [1, 'a']],
    ['[1, 2]', [1, 2]],
    ['null', null],
    ['1 / 0', null],
    ['true', true],
    [`'é "quoted"'`, 'é "quoted"'],
  ])('%s is written as %j', async (expression, expected) => {
    expect(await rowsOf(`select ${expression}`)).toEqual([[expected]])
  })

  it('column names are aliases, else the expression', async () => {
    const { body } = await ask('select count(), count(distinct event) as kinds from events')
    expect(body.columns).toEqual(['count()', 'kinds'])
    expect(body.types.map(([name]: string[]) => name)).toEqual(['count()', 'kinds'])
  })

  it('the same below /api/environments/', async () => {
    const body = { query: { kind: 'HogQLQuery', query: 'select count() from events' } }
    const reply = await app.post(`/api/environments/${home.project.id}/query/`, body, { key: home.owner.key })
    expect([reply.status, reply.body.results]).toEqual([200, [[3]]])
  })

  it.each([
    [
      { kind: 'DataVisualizationNode', source: { kind: 'HogQLQuery', query: 'select count() from events' } },
      [[3]],
    ],
    [
      {
        kind: 'DataTableNode',
        full: true,
        source: { kind: 'HogQLQuery', query: 'select {variables.n}', variables: { n: 5 } },
      },
      [[5]],
    ],
    [
      {
        kind: 'DataTableNode',
        source: { kind: 'EventsQuery', select: ['event'], event: 'buy', after: '2024-01-01' },
      },
      [['buy']],
    ],
  ])('%j answers as its source does', async (query, results) => {
    const { status, body } = await post({ query })
    expect({ status, body }).toMatchObject({ status: 200, body: { results, query } })
  })

  it('a project without events', async () => {
    const fresh = await createOrganization(app)
    const reply = await post({ query: { kind: 'HogQLQuery', query: 'select event from events' } }, fresh)
    expect([reply.status, reply.body.results, reply.body.hasMore]).toEqual([200, [], false])
  })
})

describe('limit and offset', () => {
  const NUMBERS = 'select number from (select arrayJoin(range(1, 151)) as number) order by number'

  it.each<[string, number, number, number, boolean]>([
    ['', 100, 0, 100, true],
    ['limit 150', 150, 0, 150, false],
    ['limit 149', 149, 0, 149, true],
    ['limit 20 offset 140', 20, 140, 10, false],
    ['limit 0', 0, 0, 0, true],
    ['limit 50001', 50_000, 0, 150, false],
    ['limit {most} offset {first}', 10, 5, 10, true],
  ])('%j', async (clause, limit, offset, count, hasMore) => {
    const { body } = await ask(`${NUMBERS} ${clause}`, { values: { most: 10, first: 5 } })
    expect(body).toMatchObject({ limit, offset, hasMore })
    expect(body.results).toHaveLength(count)
    if (count > 0) expect(body.results[0]).toEqual([offset + 1])
  })

  it('holds for a union as a whole', async () => {
    const { body } = await ask('select arrayJoin(range(80)) as n union all select arrayJoin(range(80)) as n')
    expect([body.results.length, body.limit, body.hasMore]).toEqual([100, 100, true])
  })

  it('WITH TIES the last row brings its equals', async () => {
    const { body } = await ask('select number % 3 as n from numbers(90) order by n limit 1 with ties')
    expect([body.results.length, body.limit, body.hasMore]).toEqual([30, 1, false])
    expect(body.hogql).toContain('LIMIT 1 WITH TIES')
    const many = await ask('select 1 as n from numbers(50001) order by n + number * 0 limit 1 with ties')
    expect([many.body.results.length, many.body.hasMore]).toEqual([50_000, true])
  })

  it('LIMIT BY counts apart from LIMIT', async () => {
    const { body } = await ask('select number % 200 as n from numbers(400) order by n limit 1 by n')
    expect([body.results.length, body.limit, body.hasMore]).toEqual([100, 100, true])
    expect(body.hogql).toContain('LIMIT 1 BY n LIMIT 100')
  })

  it('400: more rows would be made than may be', async () => {
    const { status, body } = await ask('select count() from numbers(2000 * 1000)')
    expect([status, body.code]).toEqual([400, 'hogql_query_error'])
    expect(body.detail).toContain('More than 1000000 rows would be made')
  })

  it('50,000 rows are the most, and come whole', async () => {
    const { body } = await ask(`select a * 200 + b as n from (select arrayJoin(range(300)) as a) x
      cross join (select arrayJoin(range(200)) as b) y order by n limit 60000`)
    expect([body.results.length, body.limit, body.hasMore]).toEqual([50_000, 50_000, true])
    expect(body.results.at(-1)).toEqual([49_999])
  })

  it.each(['limit event', `limit '5'`, 'limit -1', 'limit 1.5', 'limit 5 offset event', 'limit {text}'])(
    '400: %s',
    async (clause) => {
      const { status, body } = await ask(`select event from events ${clause}`, { values: { text: 'x' } })
      expect([status, body.code]).toEqual([400, expect.stringMatching(/^hogql_(syntax|query)_error$/)])
    },
  )
})

describe('placeholders', () => {
  it.each<[string, object, unknown[][]]>([
    ['select count() from events where event = {name}', { values: { name: 'visit' } }, [[2]]],
    ['select count() from events where event in {names}', { values: { names: ['visit', 'buy'] } }, [[3]]],
    ['select count() from events where event in {names}', { values: { names: [] } }, [[0]]],
    ['select count() from events where properties.n > {n}', { values: { n: 1.5 } }, [[2]]],
    [
      'select {yes}, {nothing}, {text}',
      { values: { yes: true, nothing: null, text: `'); drop` } },
      [[true, null, `'); drop`]],
    ],
    ["select has({names}, 'a')", { values: { names: ['a'] } }, [[TEST_ENGINE === 'duckdb' ? true : 1]]],
    ['select {variables.v}', { variables: { v: 5 } }, [[5]]],
    [
      'select {variables.v}',
      { variables: { 'an-id': { code_name: 'v', variableId: 'an-id', value: 'x' } } },
      [['x']],
    ],
    ['select {variables.v}', { variables: { 'an-id': { code_name: 'v' } } }, [[null]]],
    ['select {constructor}', { values: { constructor: 1 } }, [[1]]],
  ])('%s %j', async (query, rest, expected) => {
    expect(await rowsOf(query, rest)).toEqual(expected)
  })

  it.each<[string, object, string, string | null]>([
    ['select {missing}', {}, 'hogql_query_error', 'query__query'],
    [
      'select {missing}',
      { values: null, variables: null, filters: null },
      'hogql_query_error',
      'query__query',
    ],
    ['select {toString}', { values: {} }, 'hogql_query_error', 'query__query'],
    ['select {variables.v}', { values: { v: 1 } }, 'hogql_query_error', 'query__query'],
    ['select {1 + 1}', {}, 'hogql_query_error', 'query__query'],
    ['select {o}', { values: { o: { a: 1 } } }, 'invalid_input', 'query__values__o'],
    ['select {o}', { values: { o: [[1]] } }, 'invalid_input', 'query__values__o'],
    ['select {variables.o}', { variables: { o: { a: 1 } } }, 'invalid_input', 'query__variables__o'],
    ['select 1', { values: { a: Array(10_001).fill(1) } }, 'max_length', 'query__values'],
    ['select 1', { variables: { a: Array(10_001).fill(1) } }, 'max_length', 'query__variables'],
    ['select 1', { values: ['a'] }, 'invalid_input', 'query__values'],
  ])('400: %s, %#', async (query, rest, code, attr) => {
    const { status, body } = await ask(query, rest)
    expect([status, body.code, body.attr]).toEqual([400, code, attr])
  })
})

describe('{filters}', () => {
  const count = async (filters: unknown) => {
    const [[found]] = (await rowsOf('select count() from events where {filters}', { filters })) as [[number]]
    return found
  }

  it.each<[unknown, number]>([
    [undefined, 3],
    [null, 3],
    [{}, 3],
    [{ filterTestAccounts: true }, 3],
    [{ properties: [] }, 3],
    [{ properties: [{ key: 'browser', value: 'Chrome' }] }, 1],
    [{ properties: [{ key: 'browser', value: 'Chrome', operator: 'is_not' }] }, 2],
    [
      {
        properties: {
          type: 'OR',
          values: [
            { key: 'n', value: 1 },
            { key: 'n', value: 3 },
          ],
        },
      },
      2,
    ],
    [{ dateRange: { date_from: '2024-06-02' } }, 2],
    [{ dateRange: { date_to: '2024-06-02' } }, 1],
    [{ dateRange: { date_from: '2024-06-01T10:00:00Z', date_to: '2024-06-03T10:00:00Z' } }, 2],
    [{ dateRange: { date_from: 'all', date_to: null } }, 3],
    [{ dateRange: { date_from: '-7d' } }, 0],
    [{ dateRange: { date_to: '-1dStart' } }, 3],
    [{ dateRange: { date_from: '2024-06-02' }, properties: [{ key: 'n', value: 2, operator: 'lte' }] }, 1],
  ])('%j finds %i', async (filters, expected) => {
    expect(await count(filters)).toBe(expected)
  })

  it('also where the events have another name', async () => {
    const filters = {
      properties: [{ key: 'n', value: 1, operator: 'gt' }],
      dateRange: { date_from: '2024-06-03' },
    }
    expect(await rowsOf('select e.event from events as e where {filters}', { filters })).toEqual([['buy']])
  })

  it.each<[object, string]>([
    [{ dateRange: { date_from: 'soon' } }, 'query__filters__dateRange__date_from'],
    [{ dateRange: { date_to: 5 } }, 'query__filters__dateRange__date_to'],
    [{ properties: [{ key: 'a' }] }, 'query__filters__properties'],
    [{ properties: 'x' }, 'query__filters__properties'],
  ])('400: %j', async (filters, attr) => {
    const { status, body } = await ask('select count() from events where {filters}', { filters })
    expect([status, body.code, body.attr]).toEqual([400, 'invalid_input', attr])
  })
})

describe('EventsQuery', () => {
  const events = (rest: object) => post({ query: { kind: 'EventsQuery', ...rest } })

  it('values of the listing', async () => {
    const { status, body } = await events({
      select: ['event', 'properties.n -- N'],
      orderBy: ['timestamp'],
      limit: 2,
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      results: [
        ['visit', '1'],
        ['visit', '2'],
      ],
      columns: ['event', 'properties.n -- N'],
      types: [expect.any(String), expect.any(String)],
      hasMore: true,
      limit: 2,
      offset: 0,
      hogql: expect.stringMatching(/^SELECT event, properties.n FROM events WHERE .* LIMIT 2$/),
      timezone: 'UTC',
    })
  })

  it.each<[object, unknown[]]>([
    [{ event: 'buy', after: 'all' }, [['buy']]],
    [{ where: ['properties.n < 3', `event = 'visit'`], orderBy: ['timestamp desc'] }, [['visit'], ['visit']]],
    [{ properties: [{ key: 'browser', value: 'Safari' }] }, [['visit']]],
    [{ after: '2024-06-02', before: '2024-06-03' }, [['visit']]],
    [{ personId: '0190163d-8694-739b-aea5-966c26f8ad91' }, []],
    [{ personId: 123_456 }, []],
    [{ orderBy: ['timestamp'], offset: 2, where: null, event: null }, [['buy']]],
  ])('%j', async (rest, expected) => {
    const { status, body } = await events({ select: ['event'], ...rest })
    expect([status, body.results]).toEqual([200, expected])
    // The statement it answers with asks the same.
    expect((await ask(body.hogql)).body.results).toEqual(expected)
  })

  it('whole events without select', async () => {
    const { body } = await events({ event: 'buy' })
    expect(body.columns).toEqual(['*'])
    expect(body.results[0][0]).toMatchObject({
      event: 'buy',
      distinct_id: 'ann',
      properties: { list: [1, 'a'] },
    })
  })

  it.each<[object, string]>([
    [{ select: 'event' }, 'query__select'],
    [{ select: [5] }, 'query__select__0'],
    [{ limit: 0 }, 'query__limit'],
    [{ limit: 'many' }, 'query__limit'],
    [{ offset: -1 }, 'query__offset'],
    [{ offset: 100_001 }, 'query__offset'],
    [{ select: ['nothing_there'] }, 'query__select'],
    [{ select: ['event'], where: ['nothing_there = 1'] }, 'query__where'],
    [{ select: ['event'], orderBy: ['nothing_there'] }, 'query__orderBy'],
    [{ where: ['event ='] }, 'hogql_syntax_error'],
    [{ select: ['event,'] }, 'query__select'],
    [{ where: ['event ='] }, 'query__where'],
    [{ orderBy: ['-event,'] }, 'query__orderBy'],
    [{ after: 'soon' }, 'query__after'],
    [{ before: 'soon' }, 'query__before'],
    [{ properties: [{ value: 1 }] }, 'query__properties'],
  ])('400: %j', async (rest, expected) => {
    const { status, body } = await events(rest)
    expect(status).toBe(400)
    expect([body.code, body.attr]).toContain(expected)
  })
})

describe('mcp_tools/execute_sql/', () => {
  const execute = (args: unknown) =>
    app.post(`/api/environments/${home.project.id}/mcp_tools/execute_sql/`, { args }, { key: home.owner.key })

  it.each([
    [
      { query: 'select event, properties.price p from events order by timestamp' },
      true,
      'event|p\nvisit|(null)\nvisit|(null)\nbuy|9.5',
    ],
    [
      { query: 'select event from events order by event limit 1' },
      true,
      'event\nbuy\n\nThere are more rows: use LIMIT and OFFSET.',
    ],
    [{ query: 'select [1, 2] as a' }, true, 'a\n[1,2]'],
    [{ query: "select repeat('x', 600) as x" }, true, `x\n${'x'.repeat(500)}...truncated`],
    [{ query: "select repeat('x', 600) as x", truncate: false }, true, `x\n${'x'.repeat(600)}`],
    [{ query: 'selec 1' }, false, expect.stringMatching(/^Tool failed: .*character 1/)],
    [{ query: 'select nothing from events' }, false, expect.stringMatching(/^Tool failed: /)],
  ])('%j', async (args, success, content) => {
    expect(await execute(args)).toMatchObject({ status: 200, body: { success, content } })
  })

  it('a long answer is cut between rows, and says so', async () => {
    const { body } = await execute({
      query: "select arrayJoin(range(300)) as n, repeat('y', 400) as y limit 300",
    })
    expect(body.success ? body.content.length : body.content).toBeLessThan(65_000)
    expect(body.content).toMatch(/y{400}\n\nOnly the first \d+ of 300 rows/)
  })

  it.each([[{}], [{ query: '' }], [{ query: 5 }], [null]])('400 for %j', async (args) => {
    expect((await execute(args)).status).toBe(400)
  })
})

describe('400', () => {
  it.each<[unknown, string, string | null]>([
    [{}, 'required', 'query'],
    [{ query: null }, 'null', 'query'],
    [{ query: 'select 1' }, 'invalid_input', 'query'],
    [{ query: {} }, 'required', 'query__kind'],
    [{ query: { kind: 'PathsQuery' } }, 'invalid_input', 'query__kind'],
    [{ query: { kind: 'HogQLQuery' } }, 'required', 'query__query'],
    [{ query: { kind: 'HogQLQuery', query: '' } }, 'blank', 'query__query'],
    [{ query: { kind: 'HogQLQuery', query: 5 } }, 'invalid_input', 'query__query'],
    [{ query: { kind: 'DataVisualizationNode' } }, 'required', 'query__source'],
    [{ query: { kind: 'DataVisualizationNode', source: {} } }, 'required', 'query__source__kind'],
    [
      { query: { kind: 'DataVisualizationNode', source: { kind: 'EventsQuery', select: [] } } },
      'invalid_input',
      'query__source__kind',
    ],
    [
      { query: { kind: 'DataTableNode', source: { kind: 'HogQLQuery', query: 'selec 1' } } },
      'hogql_syntax_error',
      'query__source__query',
    ],
    [[], 'invalid_input', null],
  ])('%j', async (sent, code, attr) => {
    const { status, body } = await post(sent)
    expect([status, body.code, body.attr]).toEqual([400, code, attr])
  })

  it('another kind is said not to be supported', async () => {
    const { body } = await post({ query: { kind: 'PathsQuery', pathsFilter: {} } })
    expect(body.detail).toContain('not supported')
  })

  it.each<[string, string, RegExp]>([
    ['select', 'hogql_syntax_error', /at character \d+/],
    ['select 1 +', 'hogql_syntax_error', /at character \d+/],
    ['select 1; select 2', 'hogql_syntax_error', /at character 1[01]/],
    ['insert into events values (1)', 'hogql_syntax_error', /at character 1\)/],
    ['drop table events', 'hogql_syntax_error', /at character 1\)/],
    ['explain select 1', 'hogql_syntax_error', /at character 1\)/],
    ['select 1 from ev_1', 'hogql_query_error', /ev_1.*at character 15/],
    ['select 1 from information_schema.tables', 'hogql_query_error', /at character 15/],
    [`select read_text('/etc/passwd')`, 'hogql_query_error', /read_text.*at character 8/],
    ['select team_id from events', 'hogql_query_error', /team_id/],
    ['select toString() from events', 'hogql_query_error', /at character 8/],
    ['select event from events where count() > 1', 'hogql_query_error', /at character 32/],
    ['select event from events settings a = 1', 'hogql_query_error', /at character/],
    [
      `select match(event, '(') from events`,
      'hogql_query_error',
      /^A pattern in the query is not valid.*\.$/,
    ],
    [`select event =~ '*' from events`, 'hogql_query_error', /^A pattern in the query is not valid.*\.$/],
    [
      'select (select number from numbers(2))',
      'hogql_query_error',
      /^A subquery that is used as a value gives more than one row\.$/,
    ],
    [
      'select evnt from events',
      'hogql_query_error',
      /^Unknown field 'evnt' \(at character 8\)\. Did you mean 'event'\?$/,
    ],
    [
      'select nowhere_near from events',
      'hogql_query_error',
      /^Unknown field 'nowhere_near' \(at character 8\)\.$/,
    ],
    ['select event from events limit -1', 'hogql_query_error', /^LIMIT must be .* \(at character 32\)\.$/],
    [
      'select 1 offset 19000000000000000000',
      'hogql_query_error',
      /^OFFSET must be a whole number from 0 to 9007199254740991 \(at character 17\)\.$/,
    ],
    [
      "select toTimeZone(now(), 'Nowhere')",
      'hogql_query_error',
      /^There is no time zone of this name \(at character 8\)\.$/,
    ],
    [
      'select toStartOfInterval(now(), interval 0 day)',
      'hogql_query_error',
      /^The interval of 'toStartOfInterval' must be above 0 \(at character 8\)\.$/,
    ],
    ['select concat()', 'hogql_query_error', /^'concat' takes at least 1 argument, not 0 /],
    ['select 1 & 2', 'hogql_syntax_error', /^Unexpected character "&" /],
    [
      "select map('a', 1)",
      'hogql_query_error',
      /^'map' is not supported.* Write an array of tuples instead, /,
    ],
    [
      'select count() from events group by event with totals',
      'hogql_query_error',
      /^WITH TOTALS is not supported \(at character 43\)\. Write GROUP BY GROUPING SETS .* instead\.$/,
    ],
    ['select 1 from events sample 10%', 'hogql_query_error', /Write a share instead, such as SAMPLE 0\.1\.$/],
    ['select 1 from events limit 10%', 'hogql_query_error', /Write a number of rows instead\.$/],
    [
      'select number from numbers(2) order by number with fill interpolate',
      'hogql_query_error',
      /query round this one instead\.$/,
    ],
  ])('%s', async (query, code, detail) => {
    const { status, body } = await ask(query)
    expect([status, body.code, body.type, body.attr]).toEqual([400, code, 'validation_error', 'query__query'])
    expect(body.detail).toMatch(detail)
  })

  it('what it advises in place of maps is there', async () => {
    expect(await rowsOf("select [('a', 1), ('b', 2)]")).toHaveLength(1)
  })

  it('text beyond 64 KB', async () => {
    const { status, body } = await ask(`select '${'x'.repeat(70_000)}'`)
    expect([status, body.code]).toEqual([400, 'hogql_syntax_error'])
  })
})

describe('fences', () => {
  it("no other project's events are in reach", async () => {
    expect(await rowsOf('select distinct event from events order by event')).toEqual([['buy'], ['visit']])
    expect(
      await rowsOf("select event from events union all select event from events where distinct_id = 'eve'"),
    ).toHaveLength(3)
    expect(await rowsOf('select count() from persons')).toEqual([[0]])
  })

  it('403 in a project of others', async () => {
    const body = { query: { kind: 'HogQLQuery', query: 'select event from events' } }
    expect((await app.post(pathOf(other), body, { key: home.owner.key })).status).toBe(403)
  })

  it('query:read is enough, and needed', async () => {
    const reader = await createKey(app, home.owner, { scopes: ['query:read'] })
    const writer = await createKey(app, home.owner, { scopes: ['project:write'] })
    const body = { query: { kind: 'HogQLQuery', query: 'select 1' } }
    expect((await app.post(pathOf(home), body, { key: reader })).status).toBe(200)
    expect((await app.post(pathOf(home), body, { key: writer })).status).toBe(403)
    expect((await app.post(pathOf(home), body)).status).toBe(401)
  })
})

it.each(['GET', 'DELETE'])('404: %s of a query by id', async (method) => {
  const { status, body } = await app.call(method, `${pathOf(home)}some-id/`, { key: home.owner.key })
  expect([status, body.code]).toEqual([404, 'not_found'])
})

it('date-times come in the zone of the project', async () => {
  const zoned = await createOrganization(app)
  await app.patch(
    `/api/projects/${zoned.project.id}/`,
    { timezone: 'Europe/Berlin' },
    { key: zoned.owner.key },
  )
  await store(zoned, [{ event: 'visit', timestamp: '2024-06-01T23:30:00Z' }])
  const query = 'select timestamp, toDate(timestamp), toStartOfDay(timestamp) from events'
  const { body } = await post({ query: { kind: 'HogQLQuery', query } }, zoned)
  expect(body.results).toEqual([['2024-06-02T01:30:00+02:00', '2024-06-02', '2024-06-02T00:00:00+02:00']])
  expect(body.timezone).toBe('Europe/Berlin')
  expect(body.types[0]).toEqual(['timestamp', "DateTime64(6, 'Europe/Berlin')"])
})

describe('limits of the service', () => {
  it('504 when a query runs too long, and the next one is answered', async () => {
    const hasty = await startTestApp({ QUERY_TIMEOUT_S: '1' })
    const { project, owner } = await createOrganization(hasty)
    const run = (query: string) =>
      hasty.post(
        `/api/projects/${project.id}/query/`,
        { query: { kind: 'HogQLQuery', query } },
        { key: owner.key },
      )
    const heavy = `select count() from (select arrayJoin(range(5000)) as a) x
      cross join (select arrayJoin(range(5000)) as b) y
      cross join (select arrayJoin(range(5000)) as c) z where (a * b + c) % 7 = 3`
    const { status, body } = await run(heavy)
    expect([status, body.type, body.code]).toEqual([504, 'server_error', 'query_timeout'])
    expect((await run('select 1')).body.results).toEqual([[1]])
    await hasty.close()
  })

  it('a query whose client left is stopped, by whichever door it came', { tags: 'slow' }, async () => {
    const waited = await startTestApp()
    const { project, owner } = await createOrganization(waited)
    const event = { api_key: project.api_token, event: 'e', distinct_id: 'd' }
    expect((await waited.post('/capture/', event)).status).toBe(200)
    const { eventStore } = waited.services
    const ends: unknown[] = []
    let onAsked = () => {}
    waited.services.eventStore = {
      ...eventStore,
      query(query, signal) {
        const answer = eventStore.query(query, signal)
        answer.catch((error: unknown) => ends.push(error))
        onAsked()
        return answer
      },
    }
    await waited.http.listen({ host: '127.0.0.1', port: 0 })
    const { port } = waited.http.server.address() as AddressInfo
    const part = '(select arrayJoin(range(0, 9000)) as n)'
    const query = `select count() from ${part} a cross join ${part} b cross join ${part} c`
    const where = [`event in (select toString(n) from (${query.replace('count()', 'count() as n')}))`]
    const doors: [string, object?][] = [
      ['query/', { query: { kind: 'HogQLQuery', query } }],
      ['query/', { query: { kind: 'EventsQuery', select: ['event'], where } }],
      ['mcp_tools/execute_sql/', { args: { query } }],
      [`events/?select=["event"]&where=${encodeURIComponent(JSON.stringify(where))}`],
      [`events/?where=${encodeURIComponent(JSON.stringify(where))}`],
    ]
    for (const [index, [path, body]] of doors.entries()) {
      const asked = new Promise<void>((resolve) => (onAsked = resolve))
      const leaving = new AbortController()
      const reply = fetch(`http://127.0.0.1:${port}/api/projects/${project.id}/${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${owner.key}`, 'content-type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
        signal: leaving.signal,
      }).catch(() => null)
      await Promise.race([asked, reply.then(async (early) => expect.unreachable(await early?.text()))])
      leaving.abort()
      await reply
      await expect.poll(() => ends.length, { message: path }).toBe(index + 1)
      expect(ends.at(-1)).toMatchObject({ code: 'client_gone' })
    }
    await waited.close()
  })

  it('429 after 240 queries in a minute, for this key only', async () => {
    const limited = await startTestApp({ RATE_LIMITS: 'on' })
    const { project, owner } = await createOrganization(limited)
    const run = (key: string) => limited.post(`/api/projects/${project.id}/query/`, {}, { key })
    const replies = []
    for (let count = 0; count < 240; count++) replies.push((await run(owner.key)).status)
    expect(new Set(replies)).toEqual(new Set([400]))
    const refused = await run(owner.key)
    expect([refused.status, refused.body.code]).toEqual([429, 'throttled'])
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    const another = await createKey(limited, owner, { scopes: ['query:read'] })
    expect((await run(another)).status).toBe(400)
    await limited.close()
  })
})
