import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization, createUser, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { assertMatchesDocument } from '../../../test/harness/contract.ts'
import { hashTables } from '../../../test/harness/tables.ts'

// Bad bodies, addresses and queries, over routes of every kind: each gets the error of conventions.md §4, and nothing
// is written.

let app: TestApp
let workspace: Workspace
let before: Record<string, string>
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  before = await hashTables(app.db)
})
afterAll(() => app.close())

type Target = { name: string; method: string; url(): string; credential(): Record<string, string> }

const key = () => ({ authorization: `Bearer ${workspace.owner.key}` })
const session = () => ({ cookie: `sessionid=${workspace.owner.session}` })
const own = (rest = '') => `/api/organizations/${workspace.organization.id}/${rest}`

const targets: Target[] = [
  { name: 'POST organizations', method: 'POST', url: () => '/api/organizations/', credential: key },
  { name: 'PATCH organization', method: 'PATCH', url: own, credential: session },
  { name: 'POST domains', method: 'POST', url: () => own('domains/'), credential: key },
  { name: 'POST invites', method: 'POST', url: () => own('invites/'), credential: key },
  { name: 'POST invites/bulk', method: 'POST', url: () => own('invites/bulk/'), credential: session },
  { name: 'POST projects', method: 'POST', url: () => own('projects/'), credential: key },
  {
    name: 'PATCH project',
    method: 'PATCH',
    url: () => `/api/projects/${workspace.project.id}/`,
    credential: key,
  },
  { name: 'POST service_keys', method: 'POST', url: () => own('service_keys/'), credential: key },
  {
    name: 'POST personal_api_keys',
    method: 'POST',
    url: () => '/api/personal_api_keys/',
    credential: session,
  },
  { name: 'PATCH users/@me', method: 'PATCH', url: () => '/api/users/@me/', credential: key },
  { name: 'POST login', method: 'POST', url: () => '/api/login/', credential: () => ({}) },
  { name: 'POST reset', method: 'POST', url: () => '/api/reset/', credential: () => ({}) },
]

async function send(target: Target, payload: string | Buffer, headers: Record<string, string> = {}) {
  const url = target.url()
  const response = await app.http.inject({
    method: target.method as 'POST',
    url,
    headers: {
      host: 'longshore.test',
      'content-type': 'application/json',
      ...target.credential(),
      ...headers,
    },
    payload,
  })
  const body = response.body === '' ? null : response.json()
  const contentType = String(response.headers['content-type'])
  assertMatchesDocument(target.method, url, response.statusCode, body, contentType)
  return { status: response.statusCode, type: body?.type, code: body?.code, attr: body?.attr, body }
}

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const multipart = (text: string) => ({
  payload: text,
  headers: { 'content-type': 'multipart/form-data; boundary=x' },
})

const UNREADABLE: [what: string, payload: string | Buffer, headers?: Record<string, string>][] = [
  ['half an object', '{'],
  ['single quotes', "{'name': 'x'}"],
  ['a trailing comma', '{"name": "x",}'],
  ['a comment', '{"name": "x" /* y */}'],
  ['two values', '{}{}'],
  ['NaN', '{"name": NaN}'],
  ['a bare word', 'name'],
  ['HTML', '<html></html>'],
  ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
  ['an overlong UTF-8 sequence', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
  ['a surrogate spelled in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ['UTF-16', Buffer.from('{"name":"x"}', 'utf16le')],
  ['random bytes', Buffer.from(Array.from({ length: 256 }, (_, index) => (index * 151) % 256))],
  ['JSON declared as multipart', '{"name":"x"}', { 'content-type': 'multipart/form-data; boundary=x' }],
  ['multipart without a boundary', '--x\r\n', { 'content-type': 'multipart/form-data' }],
  [
    'multipart that breaks off',
    '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nhalf',
    multipart('').headers,
  ],
  [
    'a form that is not UTF-8',
    Buffer.from([0x61, 0x3d, 0xff]),
    { 'content-type': 'application/x-www-form-urlencoded' },
  ],
]

const FOREIGN: [what: string, payload: string | Buffer, headers: Record<string, string>][] = [
  ['text/csv', 'a,b', { 'content-type': 'text/csv' }],
  ['text/plain with JSON in it', '{}', { 'content-type': 'text/plain' }],
  ['XML', '<a/>', { 'content-type': 'application/xml' }],
  ['a media type of nonsense', '{}', { 'content-type': 'nonsense' }],
  ['a media type of punctuation', '{}', { 'content-type': ';;=/' }],
  ['an empty media type', '{}', { 'content-type': '' }],
  ['gzip', gzipSync('{}'), { 'content-encoding': 'gzip' }],
  ['gzip said of plain JSON', '{}', { 'content-encoding': 'gzip' }],
  ['brotli', Buffer.from([0x8b, 0x00, 0x80, 0x7b, 0x7d, 0x03]), { 'content-encoding': 'br' }],
  ['an encoding of our own', '{}', { 'content-encoding': 'rot13' }],
]

const HOSTILE: [what: string, payload: string, attr: string | null][] = [
  ['NUL in a text', '{"name":"a\\u0000b"}', 'name'],
  ['NUL deep inside', '{"a":{"b":["x","y\\u0000"]}}', 'a__b__1'],
  ['NUL in an unknown field', '{"zzz":"\\u0000"}', 'zzz'],
  ['a lone high surrogate', '{"name":"\\ud800"}', 'name'],
  ['a lone low surrogate', '{"name":"x\\udc00y"}', 'name'],
  ['surrogates in the wrong order', '{"name":"\\udc00\\ud800"}', 'name'],
  ['a field name with NUL', '{"a\\u0000b":1}', null],
  ['a field name with a lone surrogate', '{"\\ud800":1}', null],
  ['__proto__ as a field', '{"__proto__":{"is_staff":true}}', null],
  ['__proto__ inside', '{"a":[{"__proto__":1}]}', 'a__0'],
  ['__proto__ as an escape', '{"\\u005f_proto__":1}', null],
  ['65 levels', nested(65), null],
  ['65 levels of objects', '{"a":'.repeat(65) + '1' + '}'.repeat(65), null],
  ['100,000 levels', nested(100_000), null],
  ['the first of two faults', '{"first":"\\u0000","second":"\\u0000"}', 'first'],
]

const NO_OBJECT = ['null', 'true', '5', '"text"', '1e999']

describe.each(targets)('$name', (target) => {
  it.each(UNREADABLE)('400 parse_error: %s', async (_what, payload, headers) => {
    expect(await send(target, payload, headers)).toMatchObject({
      status: 400,
      type: 'invalid_request',
      code: 'parse_error',
      attr: null,
    })
  })

  it.each(FOREIGN)('415: %s', async (_what, payload, headers) => {
    expect(await send(target, payload, headers)).toMatchObject({
      status: 415,
      type: 'invalid_request',
      code: 'unsupported_media_type',
      attr: null,
    })
  })

  it.each(HOSTILE)('400 invalid_input: %s', async (_what, payload, attr) => {
    expect(await send(target, payload)).toMatchObject({
      status: 400,
      type: 'validation_error',
      code: 'invalid_input',
      attr,
    })
  })

  it.each(NO_OBJECT)('400 invalid_input: %s in place of an object', async (payload) => {
    expect(await send(target, payload)).toMatchObject({
      status: 400,
      type: 'validation_error',
      code: 'invalid_input',
      attr: null,
    })
  })

  it('413: a body of 1 MB and one byte; one of 1 MB is read', async () => {
    const body = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`
    expect(await send(target, body(1024 * 1024 + 1))).toMatchObject({
      status: 413,
      type: 'invalid_request',
      code: 'request_too_large',
      attr: null,
    })
    expect((await send(target, body(1024 * 1024).replace('}', '{'))).code).toBe('parse_error')
  })

  it('nothing was written', async () => {
    expect(await hashTables(app.db)).toEqual(before)
  })
})

describe('fields of the wrong type', () => {
  const cases: [name: string, body: unknown, code: string, attr: string][] = [
    ['PATCH organization', { name: 5 }, 'invalid_input', 'name'],
    ['PATCH organization', { name: ['x'] }, 'invalid_input', 'name'],
    ['PATCH organization', { name: null }, 'null', 'name'],
    ['PATCH organization', { name: 'x'.repeat(65) }, 'max_length', 'name'],
    ['PATCH organization', { enforce_2fa: 'perhaps' }, 'invalid_input', 'enforce_2fa'],
    [
      'PATCH organization',
      { is_member_join_email_enabled: {} },
      'invalid_input',
      'is_member_join_email_enabled',
    ],
    ['POST organizations', {}, 'required', 'name'],
    ['POST organizations', [], 'invalid_input', ''],
    ['POST domains', {}, 'required', 'domain'],
    ['POST domains', { domain: { toString: 'example.com' } }, 'invalid_input', 'domain'],
    ['POST invites', { target_email: true }, 'invalid_input', 'target_email'],
    ['POST invites', { target_email: 'a@example.com', level: 'owner' }, 'invalid_choice', 'level'],
    ['POST invites', { target_email: 'a@example.com', level: [1] }, 'invalid_choice', 'level'],
    [
      'POST invites',
      { target_email: 'a@example.com', first_name: 'x'.repeat(31) },
      'max_length',
      'first_name',
    ],
    [
      'POST invites/bulk',
      [{ target_email: 'a@example.com' }, { target_email: 'nobody' }],
      'invalid_input',
      '1__target_email',
    ],
    ['POST invites/bulk', [{ target_email: 'a@example.com' }, 5], 'invalid_input', '1'],
    ['POST projects', { app_urls: 'https://a.example' }, 'not_a_list', 'app_urls'],
    ['POST projects', { app_urls: [5] }, 'invalid_input', 'app_urls__0'],
    ['POST projects', { timezone: 'Mars/Olympus' }, 'invalid_choice', 'timezone'],
    ['POST service_keys', { label: 'x', scopes: [] }, 'empty', 'scopes'],
    ['POST service_keys', { label: 'x', scopes: 'organization:read' }, 'not_a_list', 'scopes'],
    [
      'POST personal_api_keys',
      { label: 'x', scopes: ['organization:read'], scoped_teams: ['x'] },
      'invalid_input',
      'scoped_teams',
    ],
    [
      'POST personal_api_keys',
      { label: 'x', scopes: ['organization:read'], expires_at: 'soon' },
      'invalid_input',
      'expires_at',
    ],
    ['PATCH users/@me', { hedgehog_config: [] }, 'invalid_input', 'hedgehog_config'],
    ['PATCH users/@me', { set_current_team: 2 ** 40 }, 'max_value', 'set_current_team'],
    ['POST login', { email: 'a@example.com' }, 'required', 'password'],
    ['POST login', { email: 'a@example.com', password: 5 }, 'invalid_input', 'password'],
  ]

  it.each(cases)('%s %j → %s on %s', async (name, body, code, attr) => {
    const target = targets.find((each) => each.name === name)!
    expect(await send(target, JSON.stringify(body))).toMatchObject({
      status: 400,
      type: 'validation_error',
      code,
      attr: attr === '' ? null : attr,
    })
    expect(await hashTables(app.db)).toEqual(before)
  })
})

describe('an empty body', () => {
  const patch = targets.find((each) => each.name === 'PATCH organization')!

  it.each([
    ['no bytes', ''],
    ['only blanks', ' \r\n\t '],
    ['an empty object', '{}'],
    ['a byte order mark alone', '\ufeff'],
  ])('%s is an empty object: PATCH is 200 and changes nothing', async (_what, payload) => {
    expect((await send(patch, payload)).status).toBe(200)
    expect(await hashTables(app.db)).toEqual(before)
  })

  it('with a media type and no bytes is no matter for DELETE', async () => {
    const target = {
      name: '',
      method: 'DELETE',
      url: () => own(`domains/${workspace.organization.id}/`),
      credential: key,
    }
    expect((await send(target, '')).status).toBe(404)
  })

  it('64 levels are deep enough for anybody', async () => {
    const deep = `{"unknown":${nested(63)}}`
    expect((await send(patch, deep)).status).toBe(200)
  })
})

describe('other ways to send fields', () => {
  const rename = (payload: string, headers: Record<string, string>) => send(targets[1]!, payload, headers)

  it.each<[string, string, string]>([
    ['a form', 'application/x-www-form-urlencoded', 'name=From+a+form&enforce_2fa=false&unknown=1'],
    [
      'a form with a charset',
      'application/x-www-form-urlencoded; charset=UTF-8',
      'name=From%20a%20form&enforce_2fa=0',
    ],
    ['JSON with a charset', 'application/json; charset=utf-8', '{"name":"From a form","enforce_2fa":"0"}'],
    ['JSON in capitals', 'APPLICATION/JSON', '{"name":"From a form"}'],
    ['JSON of a named kind', 'application/merge-patch+json', '{"name":"From a form"}'],
    [
      'multipart',
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nFrom a form\r\n' +
        '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nignored\r\n--x--\r\n',
    ],
  ])('%s', async (_what, type, payload) => {
    const { status, body } = await rename(payload, { 'content-type': type })
    expect([status, body.name, body.enforce_2fa]).toEqual([200, 'From a form', false])
  })

  it('are checked as JSON is', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect(await rename('name=', form)).toMatchObject({ status: 400, code: 'blank', attr: 'name' })
    expect(await rename('name=a%00b', form)).toMatchObject({
      status: 400,
      code: 'invalid_input',
      attr: 'name',
    })
    expect(await rename('__proto__=x', form)).toMatchObject({
      status: 400,
      code: 'invalid_input',
      attr: null,
    })
    expect(await rename('name=%ED%A0%80', form)).toMatchObject({ status: 200 })
  })

  it('that hold JSON are told how to be sent', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect(await rename(' {"name": "From curl"}', form)).toMatchObject({
      status: 415,
      code: 'unsupported_media_type',
      body: { detail: expect.stringContaining('Content-Type: application/json') },
    })
  })

  it('without any media type are taken for JSON', async () => {
    const reply = await app.call('PATCH', own(), { key: workspace.owner.key, body: '{"name":"No type"}' })
    expect([reply.status, reply.body.name]).toEqual([200, 'No type'])
  })

  it('a byte order mark before JSON is no matter', async () => {
    expect((await rename('\ufeff{"name":"Marked"}', {})).body.name).toBe('Marked')
  })
})

describe('the key in the body', () => {
  it('opens the door, and its own field is not taken for anything else', async () => {
    const user = await createUser(app)
    const reply = await app.post('/api/organizations/', { name: 'By body', personal_api_key: user.key })
    expect([reply.status, reply.body.name]).toEqual([201, 'By body'])
  })

  it('a wrong one is 401, a broken body without any other credential too', async () => {
    expect(
      (await app.post('/api/organizations/', { name: 'x', personal_api_key: 'phx_wrong' })).body.code,
    ).toBe('authentication_failed')
    expect((await app.post('/api/organizations/', { name: 'x', personal_api_key: 5 })).body.code).toBe(
      'authentication_failed',
    )
    expect((await app.post('/api/organizations/', '{"personal_api_key":')).body.code).toBe(
      'not_authenticated',
    )
  })
})

describe('addresses', () => {
  it.each([
    '/api/organizations/%/',
    '/api/organizations/%zz/',
    '/api/organizations/%ff/',
    '/api/organizations/%00/',
    '/api/organizations/%ed%a0%80/',
    '/api/organizations/..%2f..%2fetc%2fpasswd/',
    '/api/organizations/%2e%2e/',
    '/api/organizations/__proto__/',
    '/api/organizations/constructor/',
    '/api/organizations//',
    '/api/organizations//members/',
    '//api/organizations/x/',
    `/api/organizations/${'a'.repeat(1000)}/`,
    `/api/organizations/${'a'.repeat(100_000)}/`,
    `/api/organizations/${'a/'.repeat(10_000)}`,
    "/api/organizations/'; DROP TABLE organization; --/",
    '/api/projects/0/',
    '/api/projects/-1/',
    '/api/projects/1.0/',
    '/api/projects/2147483648/',
    '/api/projects/99999999999999999999/',
    '/api/projects/1%20/',
    '/api/projects/%F0%9F%98%80/',
    '/api/personal_api_keys/%00/',
    `/api/personal_api_keys/${'a'.repeat(900)}/`,
  ])('%s is 404', async (url) => {
    const reply = await app.get(url, { session: workspace.owner.session })
    expect([reply.status, reply.body.code]).toEqual([404, 'not_found'])
  })

  it.each(['members', 'invites', 'domains', 'service_keys', 'projects'])(
    'a hostile id below %s is 404 and deletes nothing',
    async (family) => {
      const before = await hashTables(app.db)
      for (const id of [
        '%00',
        '%ff',
        'nonsense',
        '0',
        '__proto__',
        'a'.repeat(900),
        '%27%20OR%201=1--',
        '99999999999999999999',
      ]) {
        const reply = await app.delete(own(`${family}/${id}/`), { session: workspace.owner.session })
        expect([reply.status, reply.body.code]).toEqual([404, 'not_found'])
      }
      expect(await hashTables(app.db)).toEqual(before)
    },
  )
})

describe('queries', () => {
  const list = (query: string) => app.get(`/api/organizations/?${query}`, { key: workspace.owner.key })
  const members = (query: string) => app.get(own(`members/?${query}`), { key: workspace.owner.key })

  it.each([
    'limit=0',
    'limit=-1',
    'limit=abc',
    'limit=1e9',
    'limit=99999999999999999999',
    'limit=',
    'limit',
    'limit=1&limit=2',
    'limit[]=1',
    'offset=-1',
    'offset=abc',
    'offset=1.5',
    '%',
    '%zz=%zz',
    '&&&===&',
    '__proto__=1&constructor=2',
    'unknown=1',
    'x'.repeat(5000),
  ])('%s is no error', async (query) => {
    const { status, body } = await list(query)
    expect([status, body.count, body.results.length]).toEqual([200, 1, 1])
  })

  it.each([
    'offset=1',
    'offset=2147483647',
    'offset=2147483648',
    'offset=9223372036854775808',
    `offset=${'9'.repeat(400)}`,
  ])('%s is past the end: nothing, the true count, no next', async (query) => {
    const { status, body } = await list(query)
    expect([status, body.count, body.results, body.next]).toEqual([200, 1, [], null])
  })

  it.each([
    ['search=a&search=b', 'search'],
    ['updated_after=yesterday', 'updated_after'],
    ['search=%00', 'search'],
    ['unknown=%00', 'unknown'],
  ])('%s is 400 on %s', async (query, attr) => {
    expect(await members(query)).toMatchObject({
      status: 400,
      body: { type: 'validation_error', code: 'invalid_input', attr },
    })
  })

  it('wildcards of SQL are plain characters', async () => {
    for (const search of ['%25', '_____', '%5C', '%25%25%5C_']) {
      expect((await members(`search=${search}`)).body.count).toBe(0)
    }
  })
})
