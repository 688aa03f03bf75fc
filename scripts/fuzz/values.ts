// Values from the schemas of the OpenAPI document: good ones with real ids in them, and the ways to break them.
import fc, { type Arbitrary } from 'fast-check'
import { TOTP } from 'otpauth'
import type { IdKind, Side, World } from './world.ts'

/** Where values come from: the world, and whose side the request is on. */
export type Source = { world: World; side: Side }

export type Schema = {
  $ref?: string
  type?: string | string[]
  format?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
}

// Texts that have broken servers before: quotes of every language, control characters, endless ones, look-alikes.
const HOSTILE = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'x\udfff',
  '\u202e\u0007\u001b[31m',
  "'; DROP TABLE organization; --",
  '" OR 1=1 --',
  '$1',
  '{{7*7}}',
  '${process.exit(1)}',
  '<script>alert(1)</script>',
  '../../../etc/passwd',
  'a@example.com\r\nBcc: b@example.com',
  '%00%ff%',
  '__proto__',
  'constructor',
  'toString',
  'NaN',
  'null',
  '-0',
  '1e309',
  '0x7fffffff',
  '9'.repeat(40),
  'İıſK',
  '😀'.repeat(64),
  'ß'.repeat(200),
  'a'.repeat(70_000),
  '\u0301'.repeat(500),
  '(((((((((((((((((((((((((((((',
  'a-'.repeat(5_000),
]

export const hostileText: Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...HOSTILE) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 40 }) },
)

/** Any JSON value, hostile texts among them. */
export const anyJson: Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: hostileText },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      -1,
      1.5,
      2 ** 31,
      -(2 ** 53),
      1e300,
      [],
      {},
      [[]],
      { a: null },
    ),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
)

/** Fields whose name says more than their type. */
function byName({ world, side }: Source, name: string): Arbitrary<unknown> | undefined {
  const id = (kind: IdKind) => anyOf(() => side.ids[kind])
  const address = fc.oneof(
    fc.constantFrom(...world.emails),
    fc.constant(null).map(() => `${world.unique()}@example.com`),
  )
  switch (name) {
    case 'email':
    case 'target_email':
      return address
    case 'password':
    case 'current_password':
      return fc.constantFrom(world.password, 'a-new-password-of-great-length-17', 'short', 'password1234')
    case 'domain':
      return fc.constant(null).map(() => `${world.unique()}.example.com`)
    case 'scopes':
      return fc.uniqueArray(
        fc.constantFrom('*', 'organization:read', 'organization:write', 'project:read', 'query:read'),
        { minLength: 1 },
      )
    case 'timezone':
      return fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York')
    case 'sso_enforcement':
      return fc.constantFrom('', 'saml', 'github', 'google-oauth2')
    case 'saml_acs_url':
      return fc.constantFrom('https://idp.example.com/sso', '', null)
    case 'saml_x509_cert':
      return fc.constantFrom('', null)
    case 'set_current_organization':
      return id('organization')
    case 'set_current_team':
      return id('project').map(Number)
    case 'scoped_organizations':
      return fc.array(id('organization'), { maxLength: 2 })
    case 'scoped_teams':
      return fc.array(id('project').map(Number), { maxLength: 2 })
    case 'token':
      return fc.oneof(
        { weight: 1, arbitrary: fc.constantFrom('000000', 'nonsense') },
        { weight: 2, arbitrary: fc.constantFrom(...world.linked.tokens) },
        { weight: 4, arbitrary: totpCode(world) },
      )
    case 'enforce_2fa':
      // Seldom on: it keeps every session out.
      return mostly(8, fc.constant(false), fc.constant(true))
    case 'expires_at':
      return fc.constantFrom(null, '2099-01-01T00:00:00Z', '2001-01-01')
    default:
      return undefined
  }
}

/** The code of this moment or of the next: each is good only once. */
function totpCode({ totp_secrets }: World): Arbitrary<string> {
  const secret = anyOf(() => [totp_secrets[0]!, totp_secrets.at(-1)!])
  return fc
    .tuple(secret, fc.nat({ max: 1 }))
    .map(([base32, ahead]) =>
      new TOTP({ secret: base32 }).generate({ timestamp: Date.now() + ahead * 30_000 }),
    )
}

/** One of a list that may grow while requests are generated. */
export function anyOf(list: () => readonly string[]): Arbitrary<string> {
  return fc.nat().map((index) => list()[index % list().length]!)
}

/** A value that the schema calls good. */
export function valid(source: Source, schema: Schema, name = ''): Arbitrary<unknown> {
  const special = byName(source, name)
  if (special) return special
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((each) => valid(source, each, name)))
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object':
      return validObject(source, schema)
    case 'array':
      return fc.array(valid(source, schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, 3),
      })
    case 'string':
      return fc.string({
        unit: 'grapheme',
        minLength: schema.minLength ?? 0,
        maxLength: Math.min(schema.maxLength ?? 30, 30),
      })
    case 'integer':
    case 'number':
      return fc.integer({ min: schema.minimum ?? -5, max: Math.min(schema.maximum ?? 100, 100) })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    default:
      return anyJson
  }
}

function validObject(source: Source, { properties = {}, required = [] }: Schema): Arbitrary<unknown> {
  const fields = Object.entries(properties).map(
    ([name, field]) => [name, valid(source, field, name)] as const,
  )
  const always = fields.filter(([name]) => required.includes(name))
  return fc
    .tuple(fc.record(Object.fromEntries(fields)), fc.subarray(fields.map(([name]) => name)))
    .map(([all, chosen]) => {
      const kept = new Set([...chosen, ...always.map(([name]) => name)])
      return Object.fromEntries(Object.entries(all).filter(([name]) => kept.has(name)))
    })
}

/** A good object with something wrong in it: a field changed, missing, unknown, or the whole wrapped. */
export function broken(source: Source, schema: Schema): Arbitrary<unknown> {
  const names = [
    ...Object.keys(schema.properties ?? {}),
    'id',
    'unknown',
    'is_staff',
    'organization_id',
    'constructor',
  ]
  const change = fc.record({ field: fc.constantFrom(...names), value: anyJson, how: fc.nat({ max: 9 }) })
  return fc
    .tuple(valid(source, schema), fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([good, changes]) => {
      if (typeof good !== 'object' || good === null || Array.isArray(good)) return good
      const body: Record<string, unknown> = { ...good }
      for (const { field, value, how } of changes) {
        if (how === 0) delete body[field]
        else if (how === 1) return [body]
        else if (how === 2) return value
        else body[field] = value
      }
      return body
    })
}

/** Bytes that may be no JSON at all. */
export const rawPayload: Arbitrary<string | Buffer> = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.string({ unit: 'binary', maxLength: 100 }),
  fc.json().map((text) => text.slice(0, -1)),
  fc.constantFrom(
    '{',
    '[',
    'null',
    '""',
    '0',
    '{"a":1}}',
    '{"__proto__":{"is_staff":true}}',
    '{"a":"\\ud800"}',
    '{"a":"\\u0000"}',
  ),
  fc.integer({ min: 60, max: 5_000 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  fc.constant(null).map(() => `{"name":"${'x'.repeat(1024 * 1024)}"}`),
)

/** The one `times` times out of `times` + 1, else the other. */
export function mostly<T>(times: number, usual: Arbitrary<T>, odd: Arbitrary<T>): Arbitrary<T> {
  return fc.oneof({ weight: times, arbitrary: usual }, { weight: 1, arbitrary: odd })
}
