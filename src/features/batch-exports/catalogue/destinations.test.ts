// What is told of each kind of destination, against what creating an export to it accepts.
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import type { JsonObject } from '../../../lib/json-object.ts'
import { readConfig } from '../config.ts'
import { DESTINATIONS } from '../destinations/index.ts'
import { everyConfig, TYPES } from '../fixture/every-kind.ts'

type Field = JsonObject & { 'x-part': string; enum?: unknown[]; default?: unknown }
type Config = { properties: Record<string, Field>; required: string[]; allOf?: JsonObject[] }
type Told = JsonObject & { type: string; config: Config; formats: { name: string; compressions: object[] }[] }

let app: TestApp
let workspace: Workspace
let told: Map<string, Told>
beforeAll(async () => {
  app = await startTestApp({ DISABLED_DESTINATIONS: 'HTTP' })
  workspace = await createOrganization(app)
  const { status, body } = await list()
  expect(status).toBe(200)
  told = new Map(body.results.map((each: Told) => [each.type, each]))
})
afterAll(() => app.close())

const list = (place = 'projects', key = workspace.owner.key) =>
  app.get(`/api/${place}/${workspace.project.id}/batch_exports/destinations/`, { key })

const ajv = new Ajv2020({ strict: false })
const accepts = (type: string, config: JsonObject) => ajv.validate(told.get(type)!.config as object, config)
const refusal = (type: string, config: JsonObject): unknown => {
  try {
    readConfig(DESTINATIONS.get(type)!, config)
    return null
  } catch (error) {
    return error
  }
}
const complete = everyConfig((name) => `secret-${name}`)

describe('GET …/batch_exports/destinations/', () => {
  it('gives every kind there is, below both names, also to a key that may only read', async () => {
    expect([...told.keys()]).toEqual(TYPES)
    const reader = await createKey(app, workspace.owner, { scopes: ['batch_export:read'] })
    const elsewhere = await list('environments', reader)
    expect(elsewhere.body.results).toEqual([...told.values()])
  })

  it('says of S3 all that a form needs', () => {
    expect(told.get('S3')).toMatchObject({
      aliases: ['AwsS3', 'S3Compatible'],
      name: 'S3',
      category: 'files',
      description: expect.any(String),
      is_available: true,
      models: ['events', 'persons', 'sessions'],
      takes_custom_columns: true,
      test_steps: [{ name: expect.any(String), description: expect.any(String) }, ...restOf('S3')],
    })
    const { properties, required } = told.get('S3')!.config
    expect(required).toEqual(['bucket_name', 'region', 'prefix'])
    expect(properties.bucket_name).toMatchObject({ type: 'string', 'x-part': 'connection' })
    expect(properties.aws_secret_access_key).toMatchObject({
      type: ['string', 'null'],
      writeOnly: true,
      default: null,
    })
    expect(properties.compression).toMatchObject({
      type: ['string', 'null'],
      enum: ['gzip', 'brotli', 'zstd', 'lz4', 'snappy', null],
      default: null,
      'x-part': 'layout',
    })
    expect(properties.csv_header).toMatchObject({ type: 'boolean', default: true })
    expect(properties.prefix!.examples).toEqual(['longshore/{export_id}/'])
    expect(told.get('S3')!.formats).toContainEqual({
      name: 'JSONLines',
      compressions: [
        { name: 'gzip', levels: { min: 1, max: 9 } },
        { name: 'brotli', levels: { min: 0, max: 11 } },
      ],
    })
  })

  it('says which is switched off here, which have no files, and which have fixed columns', () => {
    const which = (isSo: (each: Told) => boolean) => [...told.values()].filter(isSo).map(({ type }) => type)
    expect(which((each) => each.is_available === false)).toEqual(['HTTP'])
    expect(which(({ formats }) => formats.length > 0)).toEqual(['S3', 'AzureBlob', 'File'])
    expect(which((each) => each.takes_custom_columns === false)).toEqual(['HTTP'])
  })

  it.each(TYPES)(
    '%s: every field has its words and its part, secrets are marked and show nothing',
    (type) => {
      const { properties, required } = told.get(type)!.config
      const { secrets } = DESTINATIONS.get(type)!
      for (const [name, field] of Object.entries(properties)) {
        const words = {
          title: expect.stringMatching(/^\S.*[^.]$/),
          description: expect.stringMatching(/\.$/),
        }
        expect([name, field]).toEqual([name, expect.objectContaining(words)])
        expect(['connection', 'layout', 'rows']).toContain(field['x-part'])
        expect([name, field.writeOnly === true]).toEqual([name, secrets.includes(name)])
        if (secrets.includes(name)) expect(field).not.toHaveProperty('examples')
        // Whatever is not required has a value when it is left out.
        expect([name, 'default' in field]).toEqual([name, !required.includes(name)])
      }
      expect(secrets.filter((name) => !(name in properties))).toEqual([])
    },
  )

  it.each(TYPES)('%s: takes what is complete, and names what is lacking or unknown', (type) => {
    expect([refusal(type, complete[type]!), accepts(type, complete[type]!)]).toEqual([null, true])
    const { properties, required } = told.get(type)!.config
    for (const name of required) {
      const { [name]: _, ...rest } = complete[type]!
      expect([name, accepts(type, rest), refusal(type, rest) === null]).toEqual([name, false, false])
    }
    expect(accepts(type, { ...complete[type], unheard_of: 1 })).toBe(false)
    // Defaults are what the server fills in.
    const filled = readConfig(DESTINATIONS.get(type)!, complete[type]!)
    for (const [name, field] of Object.entries(properties)) {
      if (!(name in complete[type]!)) expect([name, filled[name]]).toEqual([name, field.default])
    }
  })

  it.each(TYPES)('%s: its conditions refuse what the server refuses, and nothing else', (type) => {
    const { properties } = told.get(type)!.config
    const choices = Object.entries(properties).flatMap(([name, field]) => {
      const values = VALUES[name] ?? field.enum
      return values && field['x-part'] !== 'rows' ? [[name, [undefined, ...values]] as const] : []
    })
    let tried = 0
    for (const config of combinations(complete[type]!, choices)) {
      tried++
      const isAccepted = refusal(type, config) === null
      if (accepts(type, config) !== isAccepted) expect({ config, isAccepted }).toEqual('the same')
    }
    expect(tried).toBeGreaterThan(choices.length)
  })
})

function restOf(type: string): unknown[] {
  return (told.get(type)!.test_steps as unknown[]).slice(1)
}

/** Values that conditions speak of, of fields that are no choice by themselves. */
const VALUES: Record<string, unknown[]> = {
  csv_header: [true, false],
  compression_level: [null, 0, 1, 5, 10, 22, 23],
  kms_key_id: [null, 'alias/ours'],
  password: [null, 'hunter22'],
  private_key: [null, 'pem'],
}

function* combinations(
  config: JsonObject,
  [first, ...others]: readonly (readonly [string, readonly unknown[]])[],
): Generator<JsonObject> {
  if (!first) return yield config
  const [name, values] = first
  for (const value of values) {
    const { [name]: _, ...rest } = config
    yield* combinations(value === undefined ? rest : { ...config, [name]: value }, others)
  }
}
