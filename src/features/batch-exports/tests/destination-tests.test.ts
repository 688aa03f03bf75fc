import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createKey, createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { uuid7 } from '../../../lib/uuid.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { DestinationKind, TestStep } from '../destinations/destination.ts'
import { DESTINATIONS } from '../destinations/index.ts'
import { addExport } from '../runs/fixture/rows.ts'
import { sealSecrets } from '../secrets.ts'
import { runStep } from './run-step.ts'

const NO_ID = '00000000-0000-7000-8000-000000000000'
const TOKEN = 'phc_planted+token/0001'

let app: TestApp
let workspace: Workspace
let key: string
let base: string
let endpoint: Server
/** What reached the endpoint, and how it answers. */
let seen: { api_key: string; batch: unknown[] }[]
let answer: { status: number; body: string }
beforeAll(async () => {
  app = await startTestApp({ OUTBOUND_ALLOW: '127.0.0.1' })
  app.canary.plant('token', TOKEN)
  workspace = await createOrganization(app)
  key = workspace.owner.key
  base = `/api/projects/${workspace.project.id}/batch_exports`
  endpoint = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      seen.push(JSON.parse(Buffer.concat(chunks).toString()))
      response.writeHead(answer.status).end(answer.body)
    })
  })
  await once(endpoint.listen(0, '127.0.0.1'), 'listening')
})
beforeEach(() => {
  seen = []
  answer = { status: 200, body: '{}' }
})
afterAll(async () => {
  endpoint.close()
  await app.close()
})

const url = () => `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/batch/`
const httpTo = (token = TOKEN) => ({ type: 'HTTP', config: { url: url(), token } })
const testNew = (destination: unknown, step?: unknown) =>
  app.post(`${base}/run_test_step_new/`, { name: 'x', interval: 'hour', destination, step }, { key })
const testStored = (id: string, body: unknown) => app.post(`${base}/${id}/run_test_step/`, body, { key })

async function addHttpExport(address = url()): Promise<string> {
  const now = app.services.now()
  const id = uuid7(now)
  const row = await addExport(app.db, workspace.project.id, now, {
    id,
    destination_type: 'HTTP',
    config: { url: address, include_events: null, exclude_events: null },
    secrets: sealSecrets(app.services, id, { token: TOKEN }),
  })
  return row.id
}

describe('GET …/batch_exports/test/', () => {
  it.each([...DESTINATIONS.keys()])('200 with the steps of %s, none of them taken', async (type) => {
    for (const place of [base, base.replace('projects', 'environments')]) {
      const { status, body } = await app.get(`${place}/test/?destination=${type}`, { key })
      expect(status).toBe(200)
      const steps = (await DESTINATIONS.get(type)!.load()).steps
      expect(body).toEqual({
        steps: steps.map(({ name, description }) => ({ name, description, result: null })),
      })
    }
  })

  it('200 with what there is to see for HTTP', async () => {
    const { body } = await app.get(`${base}/test/?destination=HTTP`, { key })
    expect(body.steps).toMatchObject([{ name: 'Endpoint answers', result: null }])
  })

  it('400 without a type, 404 for one that there is not', async () => {
    for (const query of ['', '?destination=']) {
      const reply = await app.get(`${base}/test/${query}`, { key })
      expect(reply).toMatchObject({ status: 400, body: { code: 'required', attr: 'destination' } })
    }
    for (const type of ['s3', 'Oracle', '__proto__']) {
      expect(await app.get(`${base}/test/?destination=${type}`, { key })).toMatchObject({
        status: 404,
        body: { detail: expect.stringContaining('choose one of S3, ') },
      })
    }
  })
})

describe('POST …/run_test_step_new/', () => {
  it('200 Passed: the step was taken, with the secrets that were sent, and nothing is stored', async () => {
    const { status, body } = await testNew(httpTo())
    expect(status).toBe(200)
    expect(body).toEqual({
      name: 'Endpoint answers',
      description: expect.any(String),
      result: { status: 'Passed', message: null },
    })
    expect(seen).toMatchObject([{ api_key: TOKEN, batch: [] }])
    expect(await app.db.rows(sql`SELECT 1 FROM batch_export WHERE name = 'x'`)).toEqual([])
  })

  it('200 Passed below the other name, with the least scope, and with the step as text', async () => {
    const writer = await createKey(app, workspace.owner, { scopes: ['batch_export:write'] })
    const place = base.replace('projects', 'environments')
    const body = { destination: httpTo(), step: '0' }
    const reply = await app.post(`${place}/run_test_step_new/`, body, { key: writer })
    expect(reply.body.result.status).toBe('Passed')
  })

  it('200 Failed with the reason, in which the secret is left out in every form', async () => {
    const basic = Buffer.from(`user:${TOKEN}`).toString('base64')
    answer = { status: 401, body: `no ${TOKEN}, ${encodeURIComponent(TOKEN)},\n${basic}` }
    const { status, body } = await testNew(httpTo())
    expect([status, body.result.status]).toEqual([200, 'Failed'])
    expect(body.result.message).toContain('401')
    expect(body.result.message).toMatch(/no \*\*\*, \*\*\*, \S*\*\*\*/)
    expect(body.result.message).not.toContain(encodeURIComponent(TOKEN))
  })

  it('200 Failed when nobody listens there', async () => {
    const gone = createServer()
    await once(gone.listen(0, '127.0.0.1'), 'listening')
    const { port } = gone.address() as AddressInfo
    gone.close()
    await once(gone, 'close')
    const destination = { type: 'HTTP', config: { url: `http://127.0.0.1:${port}/`, token: TOKEN } }
    const { status, body } = await testNew(destination)
    expect([status, body.result.status]).toEqual([200, 'Failed'])
    expect(body.result.message).not.toBe('')
  })

  it('200 Passed for a folder on this machine, in which nothing is left', async () => {
    const { body } = await testNew({ type: 'File', config: {} })
    expect(body.result).toEqual({ status: 'Passed', message: null })
    expect(await readdir(app.services.settings.export_folder)).toEqual([])
  })

  it.each([
    ['no destination', undefined, undefined, 'destination', 'required'],
    ['no configuration', { type: 'HTTP' }, undefined, 'destination__config', 'required'],
    ['an unknown type', { type: 'Oracle', config: {} }, undefined, 'destination__type', 'invalid_choice'],
    [
      'a missing key',
      { type: 'HTTP', config: { url: 'http://example.com' } },
      undefined,
      'destination__token',
      'invalid_input',
    ],
    ['an unknown key', { type: 'NoOp', config: { x: 1 } }, undefined, 'destination', 'invalid_input'],
    [
      'a host of ours',
      { type: 'HTTP', config: { url: 'http://10.0.0.1', token: TOKEN } },
      undefined,
      'destination',
      'invalid_input',
    ],
    ['a step beyond the last', { type: 'File', config: {} }, 1, 'step', 'invalid_input'],
    ['any step where there is none', { type: 'NoOp', config: {} }, 0, 'step', 'invalid_input'],
    ['a step before the first', { type: 'File', config: {} }, -1, 'step', 'min_value'],
    ['a step that is none', { type: 'File', config: {} }, 'x', 'step', 'invalid_input'],
  ])('400 for %s, and nobody is called', async (_what, destination, step, attr, code) => {
    expect(await testNew(destination, step)).toMatchObject({ status: 400, body: { attr, code } })
    expect(seen).toEqual([])
  })

  it('403 with a key that may only read', async () => {
    const reader = await createKey(app, workspace.owner, { scopes: ['batch_export:read'] })
    const body = { destination: httpTo() }
    expect((await app.post(`${base}/run_test_step_new/`, body, { key: reader })).status).toBe(403)
    expect(seen).toEqual([])
  })
})

describe('POST …/:id/run_test_step/', () => {
  it('200 with the stored configuration, secrets included', async () => {
    const id = await addHttpExport()
    for (const body of [{}, { step: 0 }, { destination: { type: 'HTTP', config: {} } }]) {
      expect((await testStored(id, body)).body.result).toEqual({ status: 'Passed', message: null })
    }
    expect(seen.map(({ api_key }) => api_key)).toEqual([TOKEN, TOKEN, TOKEN])
  })

  it('200 with what is sent over what is stored, which stays as it was', async () => {
    const id = await addHttpExport()
    const before = await app.db.rows(sql`SELECT * FROM batch_export WHERE id = ${id}`)
    const { body } = await testStored(id, { destination: { config: { token: 'phc_another_token' } } })
    expect(body.result.status).toBe('Passed')
    expect(seen).toMatchObject([{ api_key: 'phc_another_token' }])
    expect(await app.db.rows(sql`SELECT * FROM batch_export WHERE id = ${id}`)).toEqual(before)
  })

  it('200 Failed without the stored secret, which the endpoint repeats', async () => {
    const id = await addHttpExport()
    answer = { status: 500, body: `phc token ${encodeURIComponent(TOKEN)} is bad` }
    const { body } = await testStored(id, {})
    expect(body.result).toMatchObject({
      status: 'Failed',
      message: expect.stringContaining('phc token *** is bad'),
    })
  })

  it('400 rather than sending the stored secret to another address', async () => {
    const id = await addHttpExport('http://127.0.0.1:1/')
    const reply = await testStored(id, { destination: { config: { url: url() } } })
    expect(reply).toMatchObject({ status: 400, body: { attr: 'destination__token' } })
    expect(seen).toEqual([])
    const both = await testStored(id, { destination: { config: { url: url(), token: 'phc_new_one' } } })
    expect(both.body.result.status).toBe('Passed')
    expect(seen).toMatchObject([{ api_key: 'phc_new_one' }])
  })

  it('400 for another type, a blank secret, and a step beyond the last', async () => {
    const id = await addHttpExport()
    for (const [body, attr] of [
      [{ destination: { type: 'NoOp', config: {} } }, 'destination__type'],
      [{ destination: { config: { token: '' } } }, 'destination__token'],
      [{ destination: { config: 5 } }, 'destination__config'],
      [{ step: 7 }, 'step'],
    ] as const) {
      expect(await testStored(id, body)).toMatchObject({ status: 400, body: { attr } })
    }
    expect(seen).toEqual([])
  })

  it('404 for an export that is not there, is deleted, or is of another project', async () => {
    const [deleted, theirs] = [await addHttpExport(), await addHttpExport()]
    const foreign = await createOrganization(app)
    await app.db.run(sql`UPDATE batch_export SET deleted_at = now() WHERE id = ${deleted}`)
    await app.db.run(sql`UPDATE batch_export SET project_id = ${foreign.project.id} WHERE id = ${theirs}`)
    for (const id of [NO_ID, 'nonsense', deleted, theirs]) {
      expect((await testStored(id, { step: 'x' })).status).toBe(404)
    }
    expect(seen).toEqual([])
  })
})

describe('a type that is switched off', () => {
  it('403 for its tests', async () => {
    const strict = await startTestApp({ DISABLED_DESTINATIONS: 'File' })
    try {
      const { project, owner } = await createOrganization(strict)
      const place = `/api/projects/${project.id}/batch_exports/run_test_step_new/`
      const body = { destination: { type: 'File', config: {} } }
      const reply = await strict.post(place, body, { key: owner.key })
      expect(reply).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
    } finally {
      await strict.close()
    }
  })
})

describe('runStep', () => {
  const kindOf = (run: TestStep<Record<string, unknown>>['run']) =>
    ({
      secrets: ['password'],
      load: async () => ({ steps: [{ name: 'Connect', description: 'Connects.', run }] }),
    }) as unknown as DestinationKind
  const result = async (
    run: TestStep<Record<string, unknown>>['run'],
    signal = new AbortController().signal,
  ) => (await runStep(app.services, kindOf(run), { password: 'hunter22' }, 0, signal)).result

  it('ends a step whose time is up, whether it looks at the signal or not', async () => {
    const late = { status: 'Failed', message: 'The destination did not answer in time.' }
    const controller = new AbortController()
    const deaf = result(() => {
      controller.abort()
      return new Promise<void>(() => {})
    }, controller.signal)
    expect(await deaf).toEqual(late)
    const heedful = ({ signal }: { signal: AbortSignal }) =>
      signal.aborted ? Promise.reject(new Error('socket closed')) : Promise.resolve()
    expect(await result(heedful, AbortSignal.abort())).toEqual(late)
  })

  it.each([
    ['an error', new Error('no entry for hunter22'), 'no entry for ***'],
    [
      'several in one',
      new AggregateError([new Error('ECONNREFUSED ::1'), new Error('other')]),
      'ECONNREFUSED ::1',
    ],
    ['one without a word', new Error(''), 'The step failed without saying why.'],
    ['something else', 'hunter22', 'The step failed without saying why.'],
  ])('makes a message of %s', async (_what, thrown, message) => {
    expect(await result(() => Promise.reject(thrown))).toEqual({ status: 'Failed', message })
  })

  it('makes a result of a step that throws at once', async () => {
    const run = () => {
      throw new Error('at once')
    }
    expect(await result(run)).toEqual({ status: 'Failed', message: 'at once' })
  })
})
