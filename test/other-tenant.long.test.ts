// Two organizations in one application. The attacker owns a project of his own and knows every id of the victim's; he
// asks through every filter, HogQL construct and id. All of it is asked twice, before the victim has any data and after:
// no answer may change by a byte. Then he captures events to reach into the victim's project, and nothing there may change.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPERATORS } from '../src/features/events/filters/operators.ts'
import { personUuid } from '../src/features/persons/rules.ts'
import { compileQuery, type CompiledQuery } from '../src/hogql/compile.ts'
import { HogqlError } from '../src/hogql/errors.ts'
import { notSupported, sameTree, wrong, type Sample } from '../src/hogql/fixture/corpus.ts'
import { parseSelect } from '../src/hogql/parser.ts'
import { uuid7 } from '../src/lib/uuid.ts'
import { sql } from '../src/platform/db/sql.ts'
import { QueryFault, QueryTimeout } from '../src/platform/event-store/event-store.ts'
import { tablesOf } from '../src/platform/event-store/layout.ts'
import { createKey, createOrganization, type Workspace } from './factories.ts'
import { startTestApp, type Reply, type TestApp } from './harness/app.ts'

// What the victim's data hold and the attacker never learnt: none of his answers may show it.
const SECRET = `zq${randomBytes(6).toString('hex')}`
const SECRET_NUMBER = 918_273_645
// What he has learnt, from a log perhaps: ids. He may send them, and his own requests may be shown to him.
const KNOWN = `kn${randomBytes(6).toString('hex')}`
const NOW = new Date(Math.floor(Date.now() / 60_000) * 60_000)
const [ANN, BOB] = [`${KNOWN}-ann`, `${KNOWN}-bob`]
const EVENT_IDS = Array.from({ length: 3 }, () => uuid7(NOW))
// Used by both, on purpose.
const SHARED_EVENT_ID = uuid7(NOW)
const SHARED = { user: 'shared-user', group: 'shared-group', session: 'shared-session' }
const NOBODYS_ID = uuid7(NOW)

type Request = {
  method?: 'GET' | 'POST' | 'PATCH'
  url: string
  body?: unknown
  headers?: Record<string, string>
  with_session?: true
}
type World = { app: TestApp; victim: Workspace; attacker: Workspace; ids: Ids }
type Ids = { v: number; a: number; persons: string[] }

let world: World
const minutesAgo = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000).toISOString()

async function openWorld(): Promise<World> {
  const app = await startTestApp({ QUERY_TIMEOUT_S: '5', EVENT_MEMORY_MB: '256' })
  app.services.now = () => NOW
  const victim = await createOrganization(app, { name: `Org ${SECRET}` })
  const attacker = await createOrganization(app)
  const [v, a] = [victim.project.id, attacker.project.id]
  const persons = [ANN, BOB, SHARED.user].map((id) => personUuid(v, id))
  return { app, victim, attacker, ids: { v, a, persons } }
}

async function capture({ project }: Workspace, batch: readonly object[]): Promise<void> {
  const reply = await world.app.post('/batch/', { api_key: project.api_token, batch })
  expect(reply.status).toBe(200)
}

const ATTACKERS_EVENTS = 6

async function fillAttacker(): Promise<void> {
  const own = Array.from({ length: ATTACKERS_EVENTS - 2 }, (_, index) => ({
    event: index % 2 ? 'visit' : 'shared-event',
    distinct_id: index % 2 ? 'mallory' : SHARED.user,
    timestamp: minutesAgo(10 + index),
    uuid: index === 0 ? SHARED_EVENT_ID : uuid7(NOW),
    properties: {
      plan: 'own',
      amount: index,
      tags: ['a', 'b'],
      $session_id: SHARED.session,
      $groups: { company: SHARED.group },
      $elements: [{ tag_name: 'a', $el_text: 'Own', attr__href: '/own' }],
      $set: { email: 'mallory@example.com' },
    },
  }))
  const group = { $group_type: 'company', $group_key: SHARED.group, $group_set: { name: 'Own' } }
  await capture(world.attacker, [
    ...own,
    { event: '$groupidentify', distinct_id: 'mallory', timestamp: minutesAgo(9), properties: group },
    {
      event: '$identify',
      distinct_id: 'mallory',
      timestamp: minutesAgo(8),
      properties: { $anon_distinct_id: 'm-1' },
    },
  ])
}

const VICTIMS_EVENTS = 43

async function fillVictim(): Promise<void> {
  const properties = {
    plan: SECRET,
    [`${SECRET}_key`]: `${SECRET} value`,
    amount: SECRET_NUMBER,
    version: '7.7.7',
    when: minutesAgo(20),
    $browser: `${SECRET} browser`,
    $session_id: SHARED.session,
    $groups: { company: SHARED.group, [`${SECRET} type`]: `${KNOWN}-group` },
    $elements: [{ tag_name: 'button', $el_text: `${SECRET} text`, attr__href: `/${SECRET}` }],
    $set: { email: `${SECRET}@example.com`, name: SECRET },
  }
  const events = Array.from({ length: VICTIMS_EVENTS - 3 }, (_, index) => ({
    event: index % 2 ? `${SECRET} bought` : 'shared-event',
    distinct_id: [ANN, BOB, SHARED.user][index % 3],
    timestamp: minutesAgo(5 + index),
    uuid: [...EVENT_IDS, SHARED_EVENT_ID][index] ?? uuid7(NOW),
    properties,
  }))
  const group = { $group_type: 'company', $group_key: SHARED.group, $group_set: { name: SECRET } }
  await capture(world.victim, [
    ...events,
    { event: '$groupidentify', distinct_id: ANN, timestamp: minutesAgo(4), properties: group },
    {
      event: '$identify',
      distinct_id: BOB,
      timestamp: minutesAgo(3),
      properties: { $anon_distinct_id: `${KNOWN}-anon` },
    },
    {
      event: `${SECRET} quiet`,
      distinct_id: `${KNOWN}-quiet`,
      timestamp: minutesAgo(2),
      properties: { $process_person_profile: false, plan: SECRET },
    },
  ])
}

function send(request: Request, as: Workspace = world.attacker): Promise<Reply> {
  const { method = 'GET', url, body, headers, with_session } = request
  const caller = with_session ? { session: as.owner.session } : { key: as.owner.key }
  return world.app.call(method, url, {
    ...caller,
    ...(body === undefined ? {} : { body }),
    ...(headers ? { headers } : {}),
  })
}

/** Everything a client sees of an answer, but what differs from one to the next in any case. */
function seen({ status, headers, body }: Reply): string {
  const { date: _, 'x-request-id': __, ...rest } = headers
  return JSON.stringify({ status, headers: rest, body })
}

const encoded = (parameters: Record<string, unknown>) =>
  new URLSearchParams(
    Object.entries(parameters).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  ).toString()

const ownUrl = (tail: string) => `/api/projects/${world.ids.a}/${tail}`
const list = (parameters: Record<string, unknown>, path = 'events/'): Request => ({
  url: `${ownUrl(path)}?${encoded(parameters)}`,
})
const hogql = (query: string, rest: object = {}): Request => ({
  method: 'POST',
  url: ownUrl('query/'),
  body: { query: { kind: 'HogQLQuery', query, ...rest } },
})
const eventsQuery = (rest: object): Request => ({
  method: 'POST',
  url: ownUrl('query/'),
  body: { query: { kind: 'EventsQuery', select: ['uuid', 'event', 'count()'], limit: 1000, ...rest } },
})

// ---------------------------------------------------------------------------------------------------------------------
// What he asks. Each entry is a list of requests; `answered` and `refused` say how all of them must end.

type Probe = { ask: () => Request[]; answered?: true; refused?: true }

const FILTER_KEYS: readonly (readonly [string, string, object?])[] = [
  ['event', 'plan'],
  ['event', `${SECRET}_key`],
  ['event', 'amount'],
  ['event', '$browser'],
  ['event', '$session_id'],
  ['event', '$group_0'],
  ['event', 'when'],
  ['event', 'version'],
  ['feature', 'plan'],
  ['person', 'email'],
  ['person', 'name'],
  ['person', 'distinct_id'],
  ['event_metadata', 'event'],
  ['event_metadata', 'distinct_id'],
  ['event_metadata', 'person_id'],
  ['event_metadata', 'uuid'],
  ['event_metadata', 'timestamp'],
  ['event_metadata', 'elements_chain'],
  ['event_metadata', '$session_id'],
  ['event_metadata', '$group_0'],
  ['event_metadata', '$group_1'],
  ['element', 'text'],
  ['element', 'href'],
  ['group', 'name', { group_type_index: 0 }],
  ['group', 'name', { group_type_index: 1 }],
  ['session', '$session_duration'],
  ['session', 'plan'],
]

function valuesFor(operator: string): unknown[] {
  if (/between/.test(operator)) return [[0, SECRET_NUMBER + 1]]
  if (/date/.test(operator)) return ['-1h', minutesAgo(20)]
  if (/semver/.test(operator)) return ['7.7.7']
  if (/^(gt|gte|lt|lte|min|max)$/.test(operator)) return [SECRET_NUMBER, minutesAgo(20)]
  const texts = [
    SECRET,
    `${SECRET} value`,
    `${SECRET}@example.com`,
    `${SECRET} bought`,
    ANN,
    EVENT_IDS[0],
    SHARED_EVENT_ID,
    world.ids.persons[0],
    SECRET_NUMBER,
    SHARED.session,
    SHARED.group,
    `${KNOWN}-group`,
  ]
  const pattern = /regex/.test(operator) ? ['.*'] : []
  return [texts, ...pattern]
}

const filterProbe = (type: string, key: string, more: object = {}): Probe => ({
  ask: () =>
    [...OPERATORS.keys()].flatMap((operator) =>
      valuesFor(operator).map((value) =>
        eventsQuery({ properties: [{ type, key, operator, value, ...more }] }),
      ),
    ),
})

/** The same filter wherever one can be sent. */
const everywhere = (filter: object): Request[] => [
  list({ properties: [filter] }),
  list({ properties: { type: 'OR', values: [filter] } }),
  list({ properties: [filter], format: 'csv' }),
  list({ properties: [filter], select: ['count()', '*'] }),
  eventsQuery({ properties: [filter], select: ['*'] }),
  hogql('select count(), groupArray(event) from events where {filters}', {
    filters: { properties: [filter] },
  }),
]

const PARAMETERS = (): Record<string, unknown>[] => {
  const { v, persons } = world.ids
  return [
    {},
    { event: `${SECRET} bought` },
    { event: 'shared-event' },
    ...[ANN, BOB, SHARED.user, `${KNOWN}-quiet`].map((distinct_id) => ({ distinct_id })),
    ...[...persons, ...persons.map((id) => id.toUpperCase())].map((person_id) => ({ person_id })),
    ...Array.from({ length: 12 }, (_, index) => ({ person_id: String(index + 1) })),
    { before: minutesAgo(1), before_id: EVENT_IDS[0] },
    { before: minutesAgo(5), before_id: EVENT_IDS[0], limit: '1' },
    { after: minutesAgo(600), after_id: EVENT_IDS[1], orderBy: ['timestamp'], limit: '2' },
    { after: '-1d', before: '-3M' },
    { offset: '3', limit: '2' },
    { limit: '50000' },
    { team_id: String(v), project_id: String(v), token: world.victim.project.api_token },
    { 'project_id[]': String(v), properties: { team_id: v } },
    { properties: { plan: SECRET } },
    { properties: { plan__icontains: SECRET, amount__gt: 5 } },
    { where: [`distinct_id = '${ANN}'`] },
    { where: ['1 = 1 or true'] },
    { where: [`person_id = '${persons[0]}'`] },
    { where: [`uuid in ('${EVENT_IDS.join("','")}')`] },
    { where: ['distinct_id in (select distinct_id from person_distinct_ids)'] },
    { select: ['count()'] },
    { select: ['*', 'person'], where: [`event like '${SECRET}%'`] },
    { select: ['event', 'count()', 'sum(toFloat(properties.amount))'], orderBy: ['-count()'] },
    { select: [], orderBy: ['person_id', 'uuid DESC'] },
    { select: ['person.properties.email', 'group_0.properties.name', 'group_1.key'] },
    {
      select: ['(select count() from events)', '(select max(toString(properties)) from persons)'],
      limit: '1',
    },
  ]
}

const VALUES = (): Record<string, unknown>[] => [
  { key: 'plan' },
  { key: `${SECRET}_key` },
  { key: '$browser', value: SECRET.slice(0, 4) },
  { key: 'plan', value: SECRET },
  { key: 'plan', value: '' },
  { key: 'plan', event_name: `${SECRET} bought` },
  { key: 'plan', properties_amount: String(SECRET_NUMBER) },
  { key: 'plan', properties_plan: JSON.stringify([SECRET, 'own']) },
  { key: 'custom_event' },
  { key: 'event', is_column: 'true' },
  { key: 'event', is_column: 'true', value: SECRET },
  { key: 'distinct_id', is_column: 'true' },
  { key: 'distinct_id', is_column: 'true', value: KNOWN },
  { key: 'team_id', is_column: 'true' },
  { key: 'plan', project_id: String(world.ids.v), team_id: String(world.ids.v) },
  { key: 'plan', format: 'csv' },
]

const TABLES = ['events', 'persons', 'person_distinct_ids', 'groups']
const JOINS = [
  'join',
  'inner join',
  'left join',
  'left outer join',
  'right join',
  'right outer join',
  'full join',
  'full outer join',
]

/** Queries that are answered, with what they could show of the victim if a fence were missing. */
const ANSWERED = (): Record<string, string[]> => {
  const { v, persons } = world.ids
  return {
    tables: TABLES.flatMap((table) => [
      `select * from ${table} order by 1, 2`,
      `select count() from ${table}`,
      `select t.* from ${table} as t order by 1, 2`,
      `select * from (select * from ${table}) order by 1, 2`,
      `with x as (select * from ${table}) select * from x order by 1, 2`,
      `select (select count() from ${table}) as n`,
      `with (select count() from ${table}) as n select n`,
    ]),
    columns: [
      'select uuid, event, properties, timestamp, distinct_id, elements_chain, created_at, person_id, person, person.id, person.created_at, person.properties, person.is_identified, $session_id, $window_id, $group_0, group_0.key, group_0.properties, $group_1, group_1.key, group_1.properties, $group_2, $group_3, $group_4, elements_chain_href, elements_chain_texts, elements_chain_ids from events order by timestamp, uuid',
    ],
    joins: JOINS.flatMap((join) => [
      `select e.uuid, e.distinct_id, p.properties from events e ${join} persons p on p.id = e.person_id order by 1, 2, 3`,
      `select * from events e ${join} person_distinct_ids d on d.distinct_id = e.distinct_id order by 1, 2, 3`,
      `select * from persons p ${join} person_distinct_ids d on 1 = 1 order by 1, 2, 3, 4, 5, 6`,
      `select distinct_id, d.person_id, e.uuid from person_distinct_ids d ${join} events e using (distinct_id) order by 1, 2, 3`,
      `select * from groups g ${join} events e on g.key = e.$group_0 order by 1, 2, 3, 4, 5`,
    ]),
    'cross joins': [
      'select count() from events cross join persons',
      'select count() from events, persons, groups, person_distinct_ids',
      'select count() from events a, events b',
    ],
    subqueries: [
      `select count() from events where distinct_id in (select distinct_id from person_distinct_ids)`,
      `select count() from events where distinct_id not in (select distinct_id from person_distinct_ids where distinct_id like '${KNOWN}%')`,
      `select count() from events where (distinct_id, uuid) in (select distinct_id, uuid from events)`,
      'select (select max(toString(properties)) from persons) as m',
      'select (select groupArray(distinct_id) from person_distinct_ids) as m',
      'select arraySort(groupUniqArray(distinct_id)) from (select distinct_id from events union all select distinct_id from person_distinct_ids)',
      `with a as (select 1 as id), b as (select * from a) select (select count() from events) from b`,
      `select count() from (with events as (select 1 as uuid) select * from events)`,
      `with persons as (select * from events) select count() from persons`,
    ],
    'set operations': ['union all', 'union distinct', 'intersect', 'except'].flatMap((operator) =>
      [
        `select distinct_id from events ${operator} select distinct_id from person_distinct_ids`,
        `select toString(id) as x from persons ${operator} select toString(person_id) from person_distinct_ids`,
        `select key from groups ${operator} select properties.$session_id from events`,
      ].map((text) => `select * from (${text}) order by 1`),
    ),
    windows: [
      'select uuid, row_number() over (order by timestamp, uuid), count() over (), sum(toFloat(properties.amount)) over (partition by distinct_id) from events order by timestamp, uuid',
      'select lag(properties) over w, lead(properties) over w, first_value(distinct_id) over w from events window w as (order by timestamp, uuid) order by timestamp, uuid',
      'select max(distinct_id) over (order by timestamp rows between unbounded preceding and unbounded following) from events order by 1',
    ],
    aggregates: [
      'select count(), uniq(person_id), uniq(distinct_id), sum(toFloat(properties.amount)), max(toFloat(properties.amount)), min(timestamp), max(timestamp) from events',
      'select arraySort(groupUniqArray(event)), arraySort(groupArray(properties.plan)), arraySort(topK(5)(event)), quantile(1)(toFloat(properties.amount)) from events',
      'select event, count() c from events group by event having c > 0 order by c desc, event',
      `select countIf(event = '${SECRET} bought'), countIf(distinct_id = '${ANN}'), argMax(properties, timestamp), any(properties.$session_id) from events`,
      'select argMax(toString(properties), toString(id)), count(distinct id) from persons',
    ],
    arrays: [
      "select item, count() from events array join splitByChar(',', coalesce(properties.plan, '')) as item group by item order by item",
      'select arrayJoin(JSONExtractKeys(properties)) as k, count() from events group by k order by k',
      "select arrayMap(x -> concat(x, '!'), arraySort(groupArray(properties.plan))) from events",
      `select arrayExists(x -> x = '${SECRET}', groupArray(properties.plan)) from events`,
      "select arraySort(arrayMap(p -> JSONExtractString(p, 'email'), groupArray(toString(properties)))) from persons",
    ],
    ids: [
      ...persons.flatMap((id) => [
        `select count() from events where person_id = '${id}'`,
        `select * from persons where id = '${id}'`,
        `select * from persons where id = toUUID('${id}')`,
        `select person.properties, person from events where person.id = '${id}'`,
        `select * from person_distinct_ids where person_id = '${id}'`,
      ]),
      ...[...EVENT_IDS, SHARED_EVENT_ID].map((id) => `select * from events where uuid = '${id}'`),
      `select * from person_distinct_ids where distinct_id in ('${ANN}', '${BOB}', '${SHARED.user}')`,
      `select * from groups where key in ('${KNOWN}-group', '${SHARED.group}')`,
      `select properties, group_0.properties from events where $group_0 = '${SHARED.group}' order by uuid`,
      `select count(), min(timestamp), max(timestamp) from events where properties.$session_id = '${SHARED.session}'`,
      `select count() from events where person_id in cohort ${v}`,
      `select count() from events where person_id not in cohort 1`,
    ],
    'names that look like something else': [
      `select 1 as events, 2 as ev_${v}, 3 as "main.ev_${v}"`,
      `with "ev_${v}" as (select 1 as x) select * from "ev_${v}"`,
      `select a.uuid from events as "ev_${v}" join events a on a.uuid = "ev_${v}".uuid order by 1`,
      `select x as "ev_${v}; drop table ev_${v}; --" from (select 1 as x)`,
      `select count() as "c1 from ev_${v} --" from events`,
      `select properties."') from ev_${v} --", properties['$."a"'], properties['\\\\'] from events limit 1`,
      `select properties['$[*]'], properties['/a'], properties[''], properties['*'], properties['$'] from events limit 1`,
      `select '\\' or 1=1 --', 'ev_${v}', 'main.ev_${v}', '$1', '$1::VARCHAR', 'a''b'`,
      `select count() /* from ev_${v} */ from events -- union all select * from ev_${v}`,
      `select toTimeZone(now(), 'Europe/Berlin'), formatDateTime(now(), ''' || (select 1) || %Y')`,
      `select dateDiff('day', min(timestamp), max(timestamp)) from events`,
      `select match('a', 'a|ev_${v}'), JSONExtractString('{"a":1}', 'a', ''' from ev_${v}')`,
      `select f'{event} ev_${v}' from events order by 1`,
      `select arrayMap("ev_${v}" -> "ev_${v}" + 1, [1])`,
      'select sum(1) over "w; select 1" from events window "w; select 1" as (order by timestamp)',
    ],
  }
}

/** What only exists in the engine: none of it may be named. */
const REFUSED = (): Record<string, string[]> => {
  const { v, a } = world.ids
  const foreign = Object.values(tablesOf(v))
  const spelled = (table: string) => [
    table,
    `"${table}"`,
    `\`${table}\``,
    table.toUpperCase(),
    `main.${table}`,
    `main."${table}"`,
    `"main.${table}"`,
    `events.main.${table}`,
    `memory.main.${table}`,
    `events."${table}"`,
    `"events"."main"."${table}"`,
  ]
  const own = Object.values(tablesOf(a))
  return {
    "the engine's tables": [...foreign, ...own, 'store_state', 'deleted_project', 'store_version']
      .flatMap(spelled)
      .flatMap((name) => [`select * from ${name}`, `select 1 where 1 in ${name}`]),
    'foreign tables in every place': foreign.flatMap((name) => [
      `select * from events join ${name} on 1 = 1`,
      `select * from events, ${name}`,
      `with x as (select * from ${name}) select * from x`,
      `select (select count() from ${name})`,
      `select 1 union all select count() from ${name}`,
      `select count() from events where distinct_id in (select distinct_id from ${name})`,
      `select ${name}.uuid from events`,
      `select ${name} from events`,
      `select * from events array join ${name} as x`,
      `select ${name}.* from events`,
    ]),
    catalogues: [
      'information_schema.tables',
      'information_schema.columns',
      'pg_catalog.pg_tables',
      'sqlite_master',
      'duckdb_tables',
      'duckdb_settings',
      'duckdb_secrets',
      'pragma_database_list',
      'system.tables',
      'system.query_log',
      'numbers',
      'one',
      'team_7.events',
      'posthog.events',
      'postgres.persons',
      "'/etc/passwd'",
      '"/etc/passwd"',
      '`/etc/passwd`',
      '"manifest.json"',
      '"2/manifest.json"',
      'Events',
      'EVENTS',
      'еvents',
      'ｅvents',
      '"events\u0000"',
      'events; select 1',
      'person',
      'raw_persons',
    ].map((name) => `select * from ${name}`),
    'table functions': [
      "read_csv('/etc/passwd')",
      "read_text('/etc/passwd')",
      "read_blob('/etc/passwd')",
      "read_json('/etc/passwd')",
      "parquet_scan('x')",
      "glob('/*')",
      "sniff_csv('/etc/passwd')",
      'duckdb_tables()',
      'duckdb_functions()',
      'pragma_database_list()',
      `query('select * from ev_${v}')`,
      `query_table('ev_${v}')`,
      "url('http://127.0.0.1/')",
      "file('/etc/passwd')",
      "remote('127.0.0.1', default.events)",
      "s3('http://127.0.0.1/')",
      "postgres('127.0.0.1:5432')",
      'numbers(10)',
      'range(10)',
      `events(${v})`,
    ].map((call) => `select * from ${call}`),
    'engine functions': [
      "getenv('HOME')",
      "current_setting('memory_limit')",
      'current_database()',
      'current_schema()',
      'current_user()',
      'version()',
      "read_text('/etc/passwd')",
      "glob('/*')",
      "nextval('x')",
      `query('select 1')`,
      "getvariable('x')",
      "error('x')",
      "json_execute_serialized_sql('x')",
      "sql_auto_complete('x')",
      'pg_sleep(1)',
      'txid_current()',
      "icu_sort_key('a', 'b')",
      'hash(1)',
      "list_aggregate([1], 'sum')",
      'apply([1], x -> x)',
      "dictGet('a', 'b', 1)",
      "file('/etc/passwd')",
      'hostName()',
      'currentDatabase()',
      'sleep(1)',
      'constructor()',
      '__proto__()',
      'toString.constructor()',
      'hasOwnProperty(1)',
    ].map((call) => `select ${call}`),
    'columns that fence or number rows': [
      'team_id',
      'project_id',
      'seq',
      'inserted_at',
      'person_mode',
      'p_browser',
      'rowid',
      'rowId',
      'events.team_id',
      'events.rowid',
      'person.team_id',
      'e.person_mode',
      'person.properties_size',
      '__proto__',
      'constructor',
      'd.person_id',
      'p.properties',
      'g0.properties',
      't1.uuid',
      'c1',
      '$1',
    ].map((column) => `select ${column} from events`),
    'team_id as a name': [
      'select 1 as team_id',
      'with 1 as team_id select 1',
      'select 1 from events as team_id',
      'select team_id from (select 1 as team_id)',
      'select * from (select 1) as t(team_id)',
    ],
    statements: [
      `select 1; select * from ev_${v}`,
      `select 1 from events settings max_threads = 1`,
      `select 1 into outfile '/tmp/x'`,
      `select 1 format JSON`,
      `insert into ev_${v} select * from events`,
      `update ev_${v} set event = 'x'`,
      `delete from ev_${v}`,
      `drop table ev_${v}`,
      `create table x as select 1`,
      `copy ev_${v} to '/tmp/x'`,
      `attach '/tmp/x'`,
      `install httpfs`,
      `load httpfs`,
      `pragma database_list`,
      `set memory_limit = '1TB'`,
      `explain select 1`,
      `describe events`,
      `show tables`,
      `from ev_${v}`,
      `values (1)`,
      `call pragma_version()`,
      `execute x`,
      'select $1',
      'select ?',
      'select :x',
      'select @x',
      'select @@version',
      `select * from events sample 1`,
      `select * from events final where 1 = 1 --\n; select 1`,
      `select columns('.*') from events`,
      `select * exclude (uuid) from events`,
      `select * from events positional join events b`,
      `select * from events asof join persons on 1 = 1`,
      `select * from events pivot (count() for event in ('a'))`,
      `with recursive x as (select 1 union all select * from x) select * from x`,
      `select {a}`,
      `select * from {a}`,
      `select 'a' 'b'`,
      "select 'unclosed",
      "select E'\\x41' || U&'\\0041'",
      'select $$ev$$',
      '',
    ],
  }
}

const INJECTED_TEXTS = (): string[] => {
  const { v } = world.ids
  return [
    `' or 1=1 --`,
    `'; drop table ev_${v}; --`,
    `") from ev_${v} --`,
    `$1::VARCHAR from ev_${v}`,
    `{p1:String}`,
    `\\' union all select * from ev_${v} --`,
    `ev_${v}`,
    `%' or '%' = '`,
    `$."a" || (select 1)`,
    `\u2019 or 1=1`,
    `__proto__`,
    SECRET,
    ANN,
  ]
}

/** Hostile text in everything that takes text beside the query itself. */
const injections = (): Request[] =>
  INJECTED_TEXTS().flatMap((text) => [
    hogql('select {x}, {variables.y} from events where event = {x} or distinct_id in {z} limit 1', {
      values: { x: text, z: [text, text] },
      variables: { y: text },
    }),
    hogql('select count() from events where {filters}', {
      values: { filters_: text },
      filters: { properties: [{ key: text, value: text, type: 'person', operator: 'icontains' }] },
    }),
    ...[
      'select * from {x}',
      'select * from events as {x}',
      'select {x}.uuid from events',
      'select event from events limit {x}',
      'select event from events order by {x}',
      'select toStartOfInterval(timestamp, {x}), dateDiff({x}, timestamp, timestamp) from events',
      'select toTimeZone(timestamp, {x}) from events',
      'select formatDateTime(timestamp, {x}) from events order by 1',
      'select JSONExtract(properties, {x}) from events',
      'select properties[{x}], JSONExtractString(properties, {x}), {x}.a from events',
      'select match(event, {x}), extractAll(event, {x}), replaceRegexpAll(event, {x}, {x}) from events order by 1',
    ].map((query) => hogql(query, { values: { x: text } })),
    list({ event: text, distinct_id: text }),
    list({ person_id: text }),
    list({ properties: [{ key: text, value: [text] }] }),
    list({ properties: [{ key: 'text', value: text, type: 'element' }] }),
    list({ properties: [{ key: 'selector', value: text, type: 'element' }] }),
    list({ properties: [{ key: text, type: 'hogql' }] }),
    list({ properties: [{ key: 'plan', value: text, operator: 'regex' }] }),
    list({ select: [text, `1 as ${JSON.stringify(text)}`] }),
    list({ select: ['event'], orderBy: [text] }),
    list({ where: [text] }),
    list({ before: text, after: text }),
    list({ before: '-1M', before_id: text }),
    list({ key: text, value: text, event_name: text, [`properties_${text}`]: text }, 'events/values/'),
    list({ search: text, email: text, distinct_id: text }, 'persons/'),
    list({ properties: [{ key: text, value: text, operator: 'regex' }] }, 'persons/'),
    { url: ownUrl(`events/${encodeURIComponent(text)}/`) },
    { url: ownUrl(`persons/${encodeURIComponent(text)}/`) },
    { method: 'PATCH', url: `/api/projects/${world.ids.a}/`, body: { timezone: text } },
  ])

const spellings = (id: string) => [
  id,
  id.toUpperCase(),
  id.replaceAll('-', ''),
  id.replaceAll('-', '').toUpperCase(),
  ` ${id} `,
  `{${id}}`,
  `urn:uuid:${id}`,
  `${id}' or 1=1 --`,
]

const doors = (): Request[] => {
  const { v } = world.ids
  const names = [v, `0${v}`, `${v}.0`, `+${v}`, ` ${v}`, `${v}%00`, `${v}e0`, `@current/../${v}`, `${v}%2f`]
  const tails = [
    'events/',
    'events.csv',
    'events.json',
    `events/${EVENT_IDS[0]}/`,
    'events/values/?key=plan',
    'persons/',
    `persons/${world.ids.persons[0]}/`,
  ]
  return ['projects', 'environments'].flatMap((base) => [
    ...names.flatMap((name) => tails.map((tail) => ({ url: `/api/${base}/${name}/${tail}` }))),
    ...tails.map((tail): Request => ({ url: `/api/${base}/${v}/${tail}`, with_session: true })),
    ...[v, `0${v}`].map((name): Request => ({
      method: 'POST',
      url: `/api/${base}/${name}/query/`,
      body: { query: { kind: 'HogQLQuery', query: 'select * from events' } },
    })),
    { url: `/api/${base}/${v}/` },
    { method: 'PATCH', url: `/api/${base}/${v}/`, body: { timezone: 'Asia/Tokyo' } },
  ])
}

const PROBES: Record<string, Probe> = {
  'list parameters': { ask: () => PARAMETERS().map((each) => list(each)), answered: true },
  'list parameters, CSV': { ask: () => PARAMETERS().map((each) => list(each, 'events.csv')), answered: true },
  'list parameters below environments': {
    ask: () =>
      PARAMETERS().map((each) => ({ url: `/api/environments/${world.ids.a}/events/?${encoded(each)}` })),
    answered: true,
  },
  'lists of @current': {
    ask: () =>
      ['projects', 'environments'].flatMap((base) => [
        { url: `/api/${base}/@current/events/?limit=50000` },
        { url: `/api/${base}/@current/events/`, with_session: true },
        { url: `/api/${base}/@current/persons/?team_id=${world.ids.v}` },
      ]),
    answered: true,
  },
  ...Object.fromEntries(
    FILTER_KEYS.map(([type, key, more]) => [
      `filter ${type}.${key.replace(SECRET, 'secret')} ${JSON.stringify(more ?? {})}`,
      filterProbe(type, key, more),
    ]),
  ),
  'filters wherever they can be sent': {
    ask: () =>
      [
        ...FILTER_KEYS.map(([type, key, more]) => ({
          type,
          key,
          value: [SECRET, ANN, SHARED.group],
          ...more,
        })),
        { type: 'element', key: 'tag_name', value: 'button' },
        { type: 'element', key: 'selector', value: `button[href="/${SECRET}"]` },
        { type: 'element', key: 'selector', value: 'button', operator: 'is_not' },
        ...['cohort', 'static-cohort', 'precalculated-cohort'].map((type) => ({ type, key: 'id', value: 1 })),
        { type: 'cohort', key: 'id', value: 1, operator: 'not_in' },
        { type: 'hogql', key: `event = '${SECRET} bought' or 1 = 1` },
        { type: 'hogql', key: 'distinct_id in (select distinct_id from person_distinct_ids)' },
      ]
        .filter(({ key }) => key !== 'timestamp')
        .flatMap(everywhere),
    answered: true,
  },
  'filters that do not exist': {
    ask: () =>
      [
        { type: 'recording', key: 'x', value: 1 },
        { type: 'event_metadata', key: 'team_id', value: world.ids.v },
        { type: 'event_metadata', key: 'seq', value: 1 },
        { type: 'hogql', key: `1 in (select 1 from ev_${world.ids.v})` },
        { type: 'hogql', key: `1); select * from ev_${world.ids.v}` },
        { type: 'group', key: 'name', value: SECRET, group_type_index: '0; --' },
        { type: '__proto__', key: 'x', value: 1 },
        { type: 'event', key: 'x', value: 1, operator: 'constructor' },
      ].flatMap(everywhere),
    refused: true,
  },
  'events by id': {
    ask: () =>
      [...EVENT_IDS, SHARED_EVENT_ID].flatMap(spellings).map((id) => ({
        url: ownUrl(`events/${encodeURIComponent(id)}/`),
      })),
  },
  persons: {
    ask: () => [
      ...world.ids.persons
        .flatMap(spellings)
        .map((id) => ({ url: ownUrl(`persons/${encodeURIComponent(id)}/`) })),
      ...Array.from({ length: 20 }, (_, id) => ({ url: ownUrl(`persons/${id}/`) })),
      ...[
        {},
        { distinct_id: ANN },
        { distinct_id: SHARED.user },
        { email: `${SECRET}@example.com` },
        { search: SECRET },
        { search: '%' },
        { properties: [{ key: 'email', operator: 'is_set' }] },
        { properties: [{ key: 'name', value: SECRET }] },
        { properties: [{ key: 'email', value: '.*', operator: 'regex' }] },
        { properties: [{ key: 'email', value: SECRET, operator: 'not_icontains' }] },
        { limit: '1', offset: '1' },
        { project_id: String(world.ids.v) },
      ].map((each) => list(each, 'persons/')),
    ],
  },
  values: {
    ask: () => [
      ...VALUES().map((each) => list(each, 'events/values/')),
      ...VALUES().map((each) => ({
        url: `/api/environments/${world.ids.a}/events/values/?${encoded(each)}`,
      })),
    ],
  },
  'hostile text': { ask: injections },
  EventsQuery: {
    ask: () => [
      eventsQuery({}),
      eventsQuery({ select: ['*'] }),
      eventsQuery({ select: ['*', 'person', 'count() over ()'].slice(0, 2), event: `${SECRET} bought` }),
      ...world.ids.persons.map((personId) => eventsQuery({ personId })),
      eventsQuery({ personId: 1, select: ['*'] }),
      eventsQuery({ after: '-1d', before: '-1M', where: [`distinct_id = '${ANN}'`] }),
      eventsQuery({ project_id: world.ids.v, team_id: world.ids.v, teamId: world.ids.v }),
      eventsQuery({ select: ['event'], orderBy: ['person.properties.email', '-uuid'] }),
    ],
    answered: true,
  },
  'doors of the other project': { ask: doors },
}

const hogqlProbes = (groups: () => Record<string, string[]>, names: readonly string[]) =>
  names.map((name): [string, Probe] => [name, { ask: () => groups()[name]!.map((text) => hogql(text)) }])

const ANSWERED_GROUPS = [
  'tables',
  'columns',
  'joins',
  'cross joins',
  'subqueries',
  'set operations',
  'windows',
  'aggregates',
  'arrays',
  'ids',
  'names that look like something else',
]
const REFUSED_GROUPS = [
  "the engine's tables",
  'foreign tables in every place',
  'catalogues',
  'table functions',
  'engine functions',
  'columns that fence or number rows',
  'team_id as a name',
  'statements',
]

const ALL: [string, Probe][] = [
  ...Object.entries(PROBES),
  ...hogqlProbes(ANSWERED, ANSWERED_GROUPS).map(([name, probe]): [string, Probe] => [
    `HogQL: ${name}`,
    { ...probe, answered: true },
  ]),
  ...hogqlProbes(REFUSED, REFUSED_GROUPS).map(([name, probe]): [string, Probe] => [
    `HogQL refused: ${name}`,
    { ...probe, refused: true },
  ]),
]

// ---------------------------------------------------------------------------------------------------------------------

type Asked = { request: Request; reply: Reply }

async function ask({ ask }: Probe): Promise<Asked[]> {
  const asked: Asked[] = []
  for (const request of ask()) asked.push({ request, reply: await send(request) })
  return asked
}

const shown = ({ request: { method = 'GET', url, body } }: Asked) =>
  `${method} ${decodeURIComponent(url)} ${body === undefined ? '' : JSON.stringify(body)}`

/** What the victim has and nobody else: in any spelling that a function could give it. */
const hidden = () => [SECRET, ...EVENT_IDS, ...world.ids.persons, String(SECRET_NUMBER)]

/** Unless he wrote it into the request himself. */
function leaks(asked: Asked): string[] {
  const text = seen(asked.reply).toLowerCase()
  const sent =
    JSON.stringify(asked.request).toLowerCase() + decodeURIComponent(asked.request.url).toLowerCase()
  return hidden().filter((word) => text.includes(word.toLowerCase()) && !sent.includes(word.toLowerCase()))
}

const before = new Map<string, string[]>()

beforeAll(async () => {
  world = await openWorld()
  await fillAttacker()
  for (const [name, probe] of ALL)
    before.set(
      name,
      (await ask(probe)).map(({ reply }) => seen(reply)),
    )
  await fillVictim()
}, 300_000)
afterAll(() => world.app.close())

describe('the victim has something to hide', () => {
  it('and sees it', async () => {
    const url = `/api/projects/${world.ids.v}/`
    const reply = await send({ url: `${url}events/?limit=1000` }, world.victim)
    expect(reply.body.results).toHaveLength(VICTIMS_EVENTS)
    expect(JSON.stringify(reply.body)).toContain(SECRET)
    const persons = await send({ url: `${url}persons/` }, world.victim)
    expect(persons.body.results.map(({ uuid }: { uuid: string }) => uuid)).toEqual(
      expect.arrayContaining(world.ids.persons),
    )
    const one = await send({ url: `${url}events/${EVENT_IDS[0]}/` }, world.victim)
    expect(one.body.properties.plan).toBe(SECRET)
  })
})

describe('the victim’s data change no answer to the attacker', () => {
  it.each(ALL)('%s', { timeout: 120_000 }, async (name, probe) => {
    const asked = await ask(probe)
    const earlier = before.get(name)!
    expect(asked).toHaveLength(earlier.length)
    expect(asked.filter((each) => each.reply.status >= 500).map(shown)).toEqual([])
    expect(asked.filter((each, index) => seen(each.reply) !== earlier[index]).map(shown)).toEqual([])
    expect(asked.filter((each) => leaks(each).length > 0).map(shown)).toEqual([])
    if (probe.answered) expect(asked.filter(({ reply }) => reply.status !== 200).map(shown)).toEqual([])
    if (probe.refused) expect(asked.filter(({ reply }) => reply.status !== 400).map(shown)).toEqual([])
  })

  it('and his counts are those of his own rows', async () => {
    const { body } = await send(hogql('select count(), uniq(person_id), max(timestamp) from events'))
    expect(body.results[0][0]).toBe(ATTACKERS_EVENTS)
    const persons = await send(list({}, 'persons/'))
    expect(persons.body.count).toBe(2)
  })
})

describe('ids', () => {
  it.each(['events', 'persons'])('of the victim are as unknown as those of nobody: %s', async (what) => {
    const foreign = what === 'events' ? EVENT_IDS : world.ids.persons
    const unknown = await send({ url: ownUrl(`${what}/${NOBODYS_ID}/`) })
    expect(unknown.status).toBe(404)
    for (const id of foreign) expect(seen(await send({ url: ownUrl(`${what}/${id}/`) }))).toBe(seen(unknown))
  })

  it('that both use mean the own event and the own person', async () => {
    const event = await send({ url: ownUrl(`events/${SHARED_EVENT_ID}/`) })
    expect(event.body).toMatchObject({ event: 'shared-event', properties: { plan: 'own' } })
    const persons = await send(list({ distinct_id: SHARED.user }, 'persons/'))
    expect(persons.body.results).toMatchObject([{ uuid: personUuid(world.ids.a, SHARED.user) }])
    const groups = await send(hogql('select key, properties.name from groups'))
    expect(groups.body.results).toEqual([[SHARED.group, 'Own']])
  })

  it('of the victim’s persons are not found by number', async () => {
    const { rows } = await world.app.db.pool.query('SELECT id FROM person WHERE project_id = $1', [
      world.ids.v,
    ])
    expect(rows.length).toBeGreaterThan(2)
    for (const { id } of rows) {
      expect((await send({ url: ownUrl(`persons/${id}/`) })).status).toBe(404)
      expect((await send(list({ person_id: String(id) }))).body).toEqual({ next: null, results: [] })
      expect((await send(eventsQuery({ personId: id }))).body.results).toEqual([])
    }
  })
})

describe('links to the next page', () => {
  it('lead through the own events alone, also when they are changed', async () => {
    const found: string[] = []
    let next: string | null = `${ownUrl('events/')}?limit=2`
    while (next !== null) {
      const { status, body }: Reply = await send({ url: next })
      expect(status).toBe(200)
      found.push(...body.results.map(({ id }: { id: string }) => id))
      const link: URL | null = body.next && new URL(body.next)
      next = link && link.pathname + link.search
    }
    expect(found).toHaveLength(ATTACKERS_EVENTS)
    for (const id of [...EVENT_IDS, SHARED_EVENT_ID]) {
      for (const order of ['timestamp', '-timestamp']) {
        const ends = { before: minutesAgo(0), before_id: id, after: minutesAgo(9000), after_id: id }
        const { body } = await send(list({ ...ends, orderBy: order, limit: '1000' }))
        expect(body.results.map((each: { id: string }) => each.id).toSorted()).toEqual(found.toSorted())
      }
    }
  })
})

describe('doors', () => {
  it('of the other project are closed, whatever stands in the path', async () => {
    const asked = await ask({ ask: doors })
    expect(asked.filter(({ reply }) => ![400, 403, 404, 405].includes(reply.status)).map(shown)).toEqual([])
    expect((await send({ url: `/api/projects/${world.ids.v}/events/` })).status).toBe(403)
  })

  it('no key of the attacker’s opens them', async () => {
    const { app, attacker, victim } = world
    const limited = await app.post(
      '/api/personal_api_keys/',
      { label: 'sly', scopes: ['*'], scoped_teams: [victim.project.id] },
      { key: attacker.owner.key },
    )
    const planted = await createKey(app, attacker.owner, { scopes: ['*'], scoped_teams: [victim.project.id] })
    if (limited.status < 300) app.canary.plant('API key', limited.body.value)
    for (const key of [limited.body.value, planted].filter((each) => typeof each === 'string')) {
      const reply = await app.get(`/api/projects/${victim.project.id}/events/`, { key })
      expect([401, 403, 404]).toContain(reply.status)
    }
  })

  it('@current cannot be turned to the other project', async () => {
    const { app, attacker, victim } = world
    const { id, organization_id } = victim.project
    for (const body of [
      { set_current_team: id },
      { set_current_organization: organization_id },
      { current_project_id: id },
      { team: { id } },
    ]) {
      await app.patch('/api/users/@me/', body, { key: attacker.owner.key })
      const reply = await app.get('/api/projects/@current/events/?limit=1000', { key: attacker.owner.key })
      expect([reply.status, reply.body.results.length]).toEqual([200, ATTACKERS_EVENTS])
    }
  })

  it('an Idempotency-Key of the victim’s brings back nothing of hers', async () => {
    const headers = { 'idempotency-key': 'one-and-the-same' }
    const body = {
      query: { kind: 'HogQLQuery', query: 'select properties.plan, count() from events group by 1' },
    }
    const at = (id: number): Request => ({ method: 'POST', url: `/api/projects/${id}/query/`, body, headers })
    const hers = await send(at(world.ids.v), world.victim)
    expect(JSON.stringify(hers.body)).toContain(SECRET)
    for (const request of [at(world.ids.a), at(world.ids.v)]) {
      const reply = await send(request)
      expect(leaks({ request, reply })).toEqual([])
      expect(reply.status).toBe(request.url === at(world.ids.a).url ? 200 : 403)
    }
  })
})

// ---------------------------------------------------------------------------------------------------------------------
// Every text of the corpus, and texts with the victim's names put into them, compiled for the attacker's project.

const NAME_OF_TABLE = /\b(?:ev|as|pe|di|gr)_(\d+)\b/gi
const FORBIDDEN = new RegExp(
  [
    String.raw`\b(?:read_\w+|\w+_scan|glob|getenv|sniff_csv|query|query_table|current_setting|getvariable)\s*\(`,
    String.raw`\b(?:duckdb|pragma|pg)_\w+|information_schema|store_state|deleted_project|;|--|/\*`,
    String.raw`\b(?:insert|update|delete|drop|create|attach|install|load|copy|export|set|pragma|call)\s`,
  ].join('|'),
  'i',
)

/** Free names of the corpus stand for columns of a subquery, so that its expressions compile. */
function queryOf({ rule, text }: Sample): string {
  if (rule === 'query') return text
  const names = [...'abcdefgxyz'].map((name) => `event as ${name}`).join(', ')
  const from = `from (select *, ${names}, [1, 2] as list, [event] as tags, 1 as n from events) as events`
  return rule === 'order' ? `select event ${from} order by ${text}` : `select ${text} ${from}`
}

function compiled(text: string): CompiledQuery | null {
  const placeholders = new Map()
  try {
    return compileQuery(
      parseSelect(text),
      { project_id: world.ids.a, timezone: 'Europe/Berlin', now: NOW, placeholders },
      'duckdb',
    )
  } catch (error) {
    if (error instanceof HogqlError) return null
    throw error
  }
}

/** What is wrong with the SQL, if anything. */
function faults({ sql: text, parameters }: CompiledQuery): string[] {
  const foreign = [...text.matchAll(NAME_OF_TABLE)].filter(([, id]) => Number(id) !== world.ids.a)
  const numbers = new Set([...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
  return [
    ...foreign.map(([name]) => `names ${name}`),
    ...(FORBIDDEN.test(text) ? [`says ${FORBIDDEN.exec(text)![0]}`] : []),
    ...(text.includes(KNOWN) || text.includes(SECRET) ? ['holds text of the user'] : []),
    ...([...numbers].every((number) => number >= 1 && number <= parameters.length)
      ? []
      : ['lacks a parameter']),
  ]
}

/** Runs as the endpoint does; the answer as text, or null when the engine or its time would not have it. */
async function run({ sql: text, parameters }: CompiledQuery): Promise<string | null> {
  const query = { project_id: world.ids.a, sql: text, parameters, timezone: 'Europe/Berlin', max_rows: 200 }
  try {
    return JSON.stringify(await world.app.services.eventStore.query(query))
  } catch (error) {
    if (error instanceof QueryFault || error instanceof QueryTimeout) return null
    throw error
  }
}

/** The same numbers in every run. */
function random(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const spliced = (): string[] => {
  const { v, persons } = world.ids
  const tables = Object.values(tablesOf(v))
  return [
    ...tables,
    ...tables.map((name) => `"${name}"`),
    `main.${tables[0]}`,
    `'${KNOWN}'`,
    `"${KNOWN}"`,
    `'${KNOWN}\\' or 1=1 --'`,
    `'${persons[0]}'`,
    `'${EVENT_IDS[0]}'`,
    `(select count() from ${tables[0]})`,
    `(select max(distinct_id) from person_distinct_ids)`,
    `(select groupArray(toString(properties)) from persons)`,
    `concat('${KNOWN}', distinct_id)`,
    `properties.plan`,
    `properties['${KNOWN}"]']`,
    `person.properties.email`,
    `group_0.properties.name`,
    `toString(properties)`,
    `1 as ${KNOWN}`,
    `arrayMap(${KNOWN} -> ${KNOWN}, ['${KNOWN}'])`,
  ]
}

/** Names and constants of a text are replaced, one at a time, by what the victim owns. */
function mutations(text: string, next: (below: number) => number): string[] {
  const words = [
    ...text.matchAll(
      /'(?:[^'\\]|\\.)*'|\b(?!(?:select|from|where|as|and|or|by)\b)[a-z_]\w*\b(?!\s*\()|\b\d+\b/gi,
    ),
  ]
  const pieces = spliced()
  return Array.from({ length: words.length === 0 ? 0 : 3 }, () => {
    const { 0: word, index } = words[next(words.length)]!
    return text.slice(0, index) + pieces[next(pieces.length)]! + text.slice(index + word.length)
  })
}

async function checkAll(texts: readonly string[]): Promise<{ compiled: number; answered: number }> {
  const counts = { compiled: 0, answered: 0 }
  for (const text of texts) {
    const query = compiled(text)
    if (!query) continue
    counts.compiled++
    expect(faults(query), text).toEqual([])
    const answer = await run(query)
    if (answer === null) continue
    counts.answered++
    const own = query.parameters.join('\n')
    expect(
      hidden().filter((word) => answer.includes(word) && !own.includes(word)),
      text,
    ).toEqual([])
  }
  return counts
}

describe('generated queries name nothing of the victim’s', { timeout: 300_000 }, () => {
  const corpus = () => [...sameTree(), ...notSupported(), ...wrong()].map(queryOf)

  it('the corpus as it is', async () => {
    const counts = await checkAll(corpus())
    expect(counts.compiled).toBeGreaterThan(500)
    expect(counts.answered).toBeGreaterThan(400)
  })

  it('the corpus with the victim’s names and ids put in', async () => {
    const next = random(23)
    const counts = await checkAll(corpus().flatMap((text) => mutations(text, next)))
    expect(counts.compiled).toBeGreaterThan(500)
    expect(counts.answered).toBeGreaterThan(400)
  })

  it('what the attacker’s own probes compile to', () => {
    const texts = [...Object.values(ANSWERED()), ...Object.values(REFUSED())].flat()
    expect(texts.flatMap((text) => compiled(text) ?? []).flatMap(faults)).toEqual([])
  })
})

// ---------------------------------------------------------------------------------------------------------------------

describe('a greedy query ends soon, and the store still answers everybody', () => {
  const numbers = 'select arrayJoin(range(10000)) as n'
  const pairs = `(${numbers}) a, (${numbers}) b`
  const many = (count: number, text: string, between: string) => Array<string>(count).fill(text).join(between)

  it.each<[string, string, number[]]>([
    ['a join without end', `select count() from ${pairs}, (${numbers}) c where a.n + b.n = c.n * 7`, [504]],
    [
      'a list without end',
      `select groupArray(concat(toString(a.n), toString(b.n))) from ${pairs}`,
      [400, 504],
    ],
    ['a long range', 'select range(10001)', [400]],
    ['a range without end', 'select range(0, 1000000000000)', [400]],
    ['a long repetition', `select repeat('a', 1000000000)`, [400]],
    ['a wide text', `select leftPad('a', 1000000000, 'b')`, [400]],
    ['a pattern that backtracks', `select match(repeat('a', 10000), '(a+)+b')`, [200]],
    ['a pattern that grows', `select match('a', '((a{1000}){1000}){1000}')`, [400]],
    ['deep brackets', `select ${'('.repeat(5000)}1${')'.repeat(5000)}`, [400]],
    ['many columns', `select ${many(501, '1', ', ')}`, [400]],
    ['many conditions', `select 1 where ${many(6000, '1=1', ' and ')}`, [200, 400]],
    ['many joins', `select count() from events a0${many(70, ', events', '')}`, [400]],
  ])('%s', { timeout: 60_000 }, async (_, text, statuses) => {
    const reply = await send(hogql(text))
    expect(statuses).toContain(reply.status)
    // The engine, its tables and the disk are nobody's business.
    expect(String(reply.body.detail)).not.toMatch(/duckdb|\bev_|LINE \d|\/tmp|Error:|\$\d/i)
    for (const [workspace, count] of [
      [world.attacker, ATTACKERS_EVENTS],
      [world.victim, VICTIMS_EVENTS],
    ] as const) {
      const url = `/api/projects/${workspace.project.id}/query/`
      const asked = await send({ ...hogql('select count() from events'), url }, workspace)
      expect([asked.status, asked.body.results]).toEqual([200, [[count]]])
    }
  })
})

// ---------------------------------------------------------------------------------------------------------------------
// The other way round. Last, because the attacker's project is another one afterwards.

/** The victim's project as she sees it, and as it lies in the tables. */
async function snapshot(): Promise<Record<string, unknown>> {
  const { app, victim, ids } = world
  const url = (tail: string) => `/api/projects/${ids.v}/${tail}`
  const view: Record<string, unknown> = {}
  for (const tail of [
    'events/?limit=1000',
    'events.csv',
    'persons/',
    'events/values/?key=plan',
    'events/values/?key=custom_event',
    ...EVENT_IDS.map((id) => `events/${id}/`),
  ]) {
    view[tail] = seen(await send({ url: url(tail) }, victim))
  }
  for (const table of TABLES) {
    const query = { kind: 'HogQLQuery', query: `select * from ${table} order by 1, 2` }
    view[table] = seen(await send({ method: 'POST', url: url('query/'), body: { query } }, victim))
  }
  for (const table of ['person', 'person_distinct_id', 'group_type', 'group_of_project']) {
    const { rows } = await app.db.pool.query(
      `SELECT * FROM ${table} WHERE project_id = $1 ORDER BY ${table}::text`,
      [ids.v],
    )
    view[`${table} rows`] = rows
  }
  view.project = await app.db.rows(sql`SELECT * FROM project WHERE id = ${ids.v}`)
  for (const table of Object.values(tablesOf(ids.v))) {
    view[table] = await app.services.eventStore.query({
      project_id: ids.v,
      sql: `SELECT * FROM ${table} ORDER BY ALL`,
      parameters: [],
      timezone: 'UTC',
      max_rows: 10_000,
    })
  }
  return view
}

const HOSTILE = (): object[] => {
  const { v, persons } = world.ids
  const group = { $group_type: 'company', $group_key: SHARED.group, $group_set: { name: 'pwned' } }
  const event = (name: string, distinct_id: string, properties: object = {}, more: object = {}) => ({
    event: name,
    distinct_id,
    timestamp: minutesAgo(6),
    properties: { plan: 'pwned', $set: { email: 'pwned@example.com' }, ...properties },
    ...more,
  })
  return [
    ...EVENT_IDS.map((uuid) => event('shared-event', ANN, {}, { uuid })),
    event('pwned', SHARED.user, { $session_id: SHARED.session, $groups: { company: SHARED.group } }),
    event('pwned', ANN, { $unset: ['email', 'name'] }),
    event('pwned', ANN, { $group_0: `${KNOWN}-group`, $group_1: SHARED.group, $person_id: persons[0] }),
    event('pwned', ANN, { token: world.victim.project.api_token, distinct_id: BOB }),
    event('pwned', ANN, {}, { team_id: v, project_id: v, person_id: persons[0], $token: undefined }),
    event('$identify', 'mallory', { $anon_distinct_id: ANN }),
    event('$identify', ANN, { $anon_distinct_id: 'm-2' }),
    event('$create_alias', 'mallory', { alias: BOB }),
    event('$create_alias', BOB, { alias: 'mallory' }),
    event('$merge_dangerously', 'mallory', { alias: SHARED.user }),
    event('$merge_dangerously', 'mallory', { alias: `${KNOWN}-anon` }),
    event('$merge_dangerously', persons[0]!, { alias: persons[1] }),
    event('$groupidentify', 'mallory', group),
    event('$groupidentify', 'mallory', { ...group, $group_key: `${KNOWN}-group` }),
    event('pwned', `${KNOWN}-quiet`, { $process_person_profile: false }),
  ]
}

describe('nothing the attacker sends changes the victim’s project', () => {
  it('however he calls it', { timeout: 60_000 }, async () => {
    const { app, attacker, victim } = world
    const earlier = await snapshot()
    expect(JSON.stringify(earlier)).toContain(SECRET)
    await capture(attacker, HOSTILE())
    for (const each of HOSTILE()) {
      const reply = await app.post('/capture/', { ...each, api_key: attacker.project.api_token })
      expect(reply.status).toBe(200)
    }
    const token = victim.project.api_token
    const [first] = HOSTILE()
    for (const api_key of [
      token.toUpperCase(),
      token.toLowerCase(),
      `${token.slice(0, -1)}`,
      `${token}x`,
      `${token.slice(0, 4)}%`,
      { toString: token },
      [token.slice(1)],
      String(world.ids.v),
      attacker.owner.key,
    ]) {
      const reply = await app.post('/capture/', { ...first, api_key })
      expect([api_key, reply.status]).toEqual([
        api_key,
        expect.toSatisfy((code) => code === 400 || code === 401),
      ])
    }
    const mixed = [
      { ...first, api_key: attacker.project.api_token },
      { ...first, api_key: token },
    ]
    expect((await app.post('/e/', mixed)).status).toBe(401)
    expect(await snapshot()).toEqual(earlier)
  })

  it('and still he sees nothing of hers', { timeout: 300_000 }, async () => {
    for (const [, probe] of ALL.filter(([name]) => !name.startsWith('filter '))) {
      const asked = await ask(probe)
      expect(asked.filter((each) => each.reply.status >= 500).map(shown)).toEqual([])
      const secret = (each: Asked) =>
        leaks(each).filter((word) => word === SECRET || word === String(SECRET_NUMBER))
      expect(asked.filter((each) => secret(each).length > 0).map(shown)).toEqual([])
    }
    const { body } = await send(hogql("select uniq(uuid), countIf(properties.plan != 'pwned') from events"))
    // The batch and its repeats: those with an id of their own are stored once, the others twice.
    expect(body.results).toEqual([
      [ATTACKERS_EVENTS + EVENT_IDS.length + 2 * (HOSTILE().length - EVENT_IDS.length), ATTACKERS_EVENTS],
    ])
  })
})
