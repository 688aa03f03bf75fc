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
  if (/date/.test(operator)) return ['-1h', minutesAgo(20), '2020-01-01']
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
  const pattern = /regex/.test(operator) ? ['.*', `^${SECRET}`, `(${KNOWN})`] : []
  return /^(not_)?in$/.test(operator) ? [texts] : [texts, ...pattern, SECRET, ANN]
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
    'set operations': ['union all', 'union distinct', 'intersect', 'except'].flatMap((operator) => [
      `select distinct_id from events ${operator} select distinct_id from person_distinct_ids order by 1`,
      `select toString(id) as x from persons ${operator} select toString(person_id) from person_distinct_ids order by 1`,
      `select key from groups ${operator} select properties.$session_id from events order by 1`,
    ]),
    windows: [
      'select uuid, row_number() over (order by timestamp, uuid), count() over (), sum(toFloat(properties.amount)) over (partition by distinct_id) from events order by timestamp, uuid',
      'select lag(properties) over w, lead(properties) over w, first_value(distinct_id) over w from events window w as (order by timestamp, uuid) order by timestamp, uuid',
      'select max(distinct_id) over (order by timestamp rows between unbounded preceding and unbounded following) from events order by 1',
    ],
    aggregates: [
      'select count(), uniq(person_id), uniq(distinct_id), sum(toFloat(properties.amount)), max(toFloat(properties.amount)), min(timestamp), max(timestamp) from events',
      'select arraySort(groupUniqArray(event)), arraySort(groupArray(properties.plan)), topK(5)(event), quantile(1)(toFloat(properties.amount)) from events',
      'select event, count() c from events group by event having c > 0 order by c desc, event',
      `select countIf(event = '${SECRET} bought'), countIf(distinct_id = '${ANN}'), argMax(properties, timestamp), any(properties.plan) from events`,
      'select argMax(toString(properties), toString(id)), count(distinct id) from persons',
    ],
    arrays: [
      'select item, count() from events array join splitByChar(\',\', coalesce(properties.plan, \'\')) as item group by item order by item',
      'select arrayJoin(JSONExtractKeys(properties)) as k, count() from events group by k order by k',
      'select arrayMap(x -> concat(x, \'!\'), groupArray(properties.plan)) from events',
      `select arrayExists(x -> x = '${SECRET}', groupArray(properties.plan)) from events`,
      'select arraySort(arrayMap(p -> JSONExtractString(p, \'email\'), groupArray(toString(properties)))) from persons',
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
      `select properties."') from ev_${v} --", properties['$."a"'], properties['\\'] from events limit 1`,
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
      '"events.duckdb"',
      'Events',
      'EVENTS',
      'еvents',
      'ｅvents',
      '"events\u0000"',
      'events;',
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
      "current_database()",
      "current_schema()",
      "current_user()",
      'version()',
      "read_text('/etc/passwd')",
      "glob('/*')",
      "nextval('x')",
      `query('select 1')`,
      "getvariable('x')",
      "error('x')",
      "json_execute_serialized_sql('x')",
      "sql_auto_complete('x')",
      "pg_sleep(1)",
      'txid_current()',
      "icu_sort_key('a', 'b')",
      'hash(1)',
      "list_aggregate([1], 'sum')",
      "apply([1], x -> x)",
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
      ...['team_id', 'project_id', 'seq', 'inserted_at', 'person_mode', 'p_browser', 'rowid', 'rowId'],
      ...['events.team_id', 'events.rowid', 'person.team_id', 'e.person_mode', 'person.properties_size'],
      ...['__proto__', 'constructor', 'd.person_id', 'p.properties', 'g0.properties', 't1.uuid', 'c1', '$1'],
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
      'select E\'\\x41\' || U&\'\\0041\'',
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
    ...[v, `0${v}`].map(
      (name): Request => ({
        method: 'POST',
        url: `/api/${base}/${name}/query/`,
        body: { query: { kind: 'HogQLQuery', query: 'select * from events' } },
      }),
    ),
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
        ...FILTER_KEYS.map(([type, key, more]) => ({ type, key, value: [SECRET, ANN, SHARED.group], ...more })),
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
    ask: () => [...EVENT_IDS, SHARED_EVENT_ID].flatMap(spellings).map((id) => ({
      url: ownUrl(`events/${encodeURIComponent(id)}/`),
    })),
  },
  persons: {
    ask: () => [
      ...world.ids.persons.flatMap(spellings).map((id) => ({ url: ownUrl(`persons/${encodeURIComponent(id)}/`) })),
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
      ...VALUES().map((each) => ({ url: `/api/environments/${world.ids.a}/events/values/?${encoded(each)}` })),
    ],
  },
  'hostile text': { ask: injections },
  'EventsQuery': {
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
  const sent = JSON.stringify(asked.request).toLowerCase() + decodeURIComponent(asked.request.url).toLowerCase()
  return hidden().filter((word) => text.includes(word.toLowerCase()) && !sent.includes(word.toLowerCase()))
}

const before = new Map<string, string[]>()

beforeAll(async () => {
  world = await openWorld()
  await fillAttacker()
  for (const [name, probe] of ALL) before.set(name, (await ask(probe)).map(({ reply }) => seen(reply)))
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
