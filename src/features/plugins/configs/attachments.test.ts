// Files of configs, in forms as browsers and clients send them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { listAttachments } from '../running/queries.ts'
import { SECRET_MASK } from './change-settings.ts'
import { addPlugin, form } from './fixture/plugins.ts'
import { openSettings, sealSecretConfig } from './settings.ts'

type Fields = Parameters<typeof form>[0]

let app: TestApp
let workspace: Workspace
let key: string
let plugin: number
let base: string
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  key = workspace.owner.key
  plugin = await addPlugin(app, workspace.organization.id)
  base = `/api/projects/${workspace.project.id}/plugin_configs/`
})
afterAll(() => app.close())

async function send(method: string, url: string, fields: Fields) {
  const { bytes, headers } = await form(fields)
  return app.call(method, url, { key, body: bytes.toString('utf8'), headers })
}
const create = (fields: Fields = {}) =>
  send('POST', base, { plugin: String(plugin), config: '{"host":"h"}', ...fields })
const change = (id: number, fields: Fields) => send('PATCH', `${base}${id}/`, fields)
const activitiesOf = async (id: number): Promise<string[]> =>
  (await app.get(`${base}${id}/activity/`, { key })).body.results.map(
    ({ activity }: { activity: string }) => activity,
  )

async function filesOf(id: number) {
  const { secrets } = app.services
  const row = { id, config: {}, secrets: sealSecretConfig(secrets, id, {}) }
  const { attachments } = openSettings(secrets, [], row, await listAttachments(app.db, id))
  return Object.fromEntries(
    Object.entries(attachments).map(([name, { contents }]) => [
      name,
      Buffer.from(contents, 'base64').toString(),
    ]),
  )
}

describe('files in forms', () => {
  it('201 with the file described, and what is in it nowhere to be seen', async () => {
    const content = app.canary.plant('file', '-----BEGIN CERTIFICATE----- of a test')
    const hidden = app.canary.plant('file', '-----BEGIN PRIVATE KEY----- of a test')
    const reply = await create({
      enabled: 'true',
      config: '{"host":"h","certificate":{"uid":1}}',
      'add_attachment[certificate]': ['cert.pem', 'application/x-pem-file', content],
      'add_attachment[key_file]': ['secret-name.pem', 'text/plain', hidden],
    })
    expect(reply).toMatchObject({ status: 201, body: { enabled: true } })
    expect(reply.body.config).toEqual({
      host: 'h',
      certificate: {
        uid: expect.any(Number),
        saved: true,
        size: content.length,
        name: 'cert.pem',
        type: 'application/x-pem-file',
      },
      key_file: { uid: -1, saved: true, size: -1, name: SECRET_MASK, type: 'application/octet-stream' },
    })
    const list = await app.get(base, { key })
    expect(list.body.results[0].config.certificate.name).toBe('cert.pem')
    expect(await filesOf(reply.body.id)).toEqual({ certificate: content, key_file: hidden })
  })

  it('200 replacing, keeping and removing them, each in the log', async () => {
    const { id } = (await create({ 'add_attachment[certificate]': ['a.txt', 'text/plain', 'one'] })).body
    expect((await app.patch(`${base}${id}/`, { config: { host: 'i' } }, { key })).body.config).toMatchObject({
      host: 'i',
      certificate: { name: 'a.txt', size: 3 },
    })
    await change(id, { 'add_attachment[certificate]': ['b.txt', 'text/plain', 'zwei'] })
    expect(await filesOf(id)).toEqual({ certificate: 'zwei' })
    const both = {
      'remove_attachment[certificate]': 'true',
      'add_attachment[other]': ['c', '', 'drei'],
    } as const
    const reply = await change(id, { ...both, 'add_attachment[other]': ['c', '', 'drei'] })
    expect(reply.body.config).toEqual({
      host: 'i',
      other: expect.objectContaining({ name: 'c', type: 'application/octet-stream' }),
    })
    await app.patch(`${base}${id}/`, { 'remove_attachment[nothing]': true }, { key })
    expect(await activitiesOf(id)).toEqual([
      'attachment_created',
      'attachment_deleted',
      'attachment_updated',
      'config_updated',
      'attachment_created',
      'created',
    ])
  })

  it('201 with every byte of it', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index))
    const request = await form({
      plugin: String(plugin),
      'add_attachment[certificate]': ['b.bin', '', bytes],
    })
    const response = await app.http.inject({
      method: 'POST',
      url: base,
      headers: { ...request.headers, authorization: `Bearer ${key}` },
      payload: request.bytes,
    })
    expect(response.statusCode).toBe(201)
    const [row] = await listAttachments(app.db, response.json().id)
    const opened = openSettings(
      app.services.secrets,
      [],
      { id: 1, config: {}, secrets: sealSecretConfig(app.services.secrets, 1, {}) },
      [row!],
    )
    expect(Buffer.from(opened.attachments.certificate!.contents, 'base64').equals(bytes)).toBe(true)
  })

  it('200 keeping the file where no other was chosen', async () => {
    const { id } = (await create({ 'add_attachment[certificate]': ['a.txt', 'text/plain', 'one'] })).body
    const part = 'Content-Disposition: form-data; name="add_attachment[certificate]"'
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    for (const filename of ['', '; filename=""']) {
      const body = `--x\r\n${part}${filename}\r\n\r\n\r\n--x--\r\n`
      expect((await app.call('PATCH', `${base}${id}/`, { key, body, headers })).status).toBe(200)
    }
    expect(await filesOf(id)).toEqual({ certificate: 'one' })
  })

  it('400 for what is switched on without the file it needs, also when that is taken away', async () => {
    const config_schema = [{ key: 'file', type: 'attachment', required: true }]
    const needy = await addPlugin(app, workspace.organization.id, { config_schema })
    const fields = { plugin: String(needy), enabled: 'true', config: '{"file":{"uid":1,"saved":true}}' }
    const missing = { status: 400, body: { code: 'required', attr: 'config__file' } }
    expect(await create(fields)).toMatchObject(missing)
    const made = await create({ ...fields, 'add_attachment[file]': ['a', '', 'x'] })
    expect(made.status).toBe(201)
    expect(await change(made.body.id, { 'remove_attachment[file]': '1' })).toMatchObject(missing)
    expect(await filesOf(made.body.id)).toEqual({ file: 'x' })
  })

  it.each([
    ['a text in place of a file', { 'add_attachment[certificate]': 'text' }, 'invalid_input'],
    ['a setting that is no file', { 'add_attachment[host]': ['a', '', 'x'] }, 'invalid_input'],
    ['a long name', { 'add_attachment[certificate]': ['a'.repeat(201), '', 'x'] }, 'max_length'],
    [
      'a large file',
      { 'add_attachment[certificate]': ['a', '', 'x'.repeat(10 * 1024 * 1024 + 1)] },
      'max_length',
    ],
  ] as [string, Fields, string][])('400 for %s, and nothing stored', async (_what, fields, code) => {
    const { id } = (await create()).body
    const attr = Object.keys(fields)[0]
    expect(await change(id, fields)).toMatchObject({ status: 400, body: { code, attr } })
    expect(await filesOf(id)).toEqual({})
  })

  it('400 for a long key, which is not repeated', async () => {
    const reply = await create({ [`remove_attachment[${'k'.repeat(201)}]`]: '1' })
    expect(reply).toMatchObject({ status: 400, body: { code: 'max_length', attr: 'config' } })
  })

  it('400 for the 21st file', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`add_attachment[f${index}]`, ['a', '', 'x']]),
    ) as Fields
    const made = await create(files)
    expect(made.status).toBe(201)
    const more = { 'add_attachment[one_more]': ['a', '', 'x'] } as Fields
    expect(await change(made.body.id, more)).toMatchObject({ status: 400, body: { code: 'max_length' } })
    expect((await change(made.body.id, { ...more, 'remove_attachment[f0]': '1' })).status).toBe(200)
  })

  it('400 for more than fifty megabytes in a project, also when a config is restored', async () => {
    const { project } = await createOrganization(app)
    const elsewhere = (await create({ 'add_attachment[certificate]': ['a', '', 'x'] })).body
    const own = (await create({ 'add_attachment[certificate]': ['a', '', 'x'] })).body
    const largest = 50 * 1024 * 1024
    const resize = (id: number, size: number, project_id = workspace.project.id) =>
      app.db.run(sql`
        UPDATE plugin_attachment SET size = ${size}, project_id = ${project_id} WHERE plugin_config_id = ${id}`)
    const used = await app.db.only<{ bytes: number }>(sql`
      SELECT sum(size)::int AS bytes FROM plugin_attachment WHERE project_id = ${workspace.project.id}`)
    await resize(elsewhere.id, largest, project.id)
    await resize(own.id, largest - used.bytes - 1)
    const more = { 'add_attachment[key_file]': ['a', '', 'xxxxx'] } as Fields
    const refused = { status: 400, body: { code: 'max_length', attr: 'config' } }
    expect(await change(own.id, more)).toMatchObject(refused)
    expect(await create(more)).toMatchObject(refused)
    expect(Object.keys(await filesOf(own.id))).toEqual(['certificate'])
    await app.delete(`${base}${own.id}/`, { key })
    const made = await create(more)
    expect(made.status).toBe(201)
    expect(await change(own.id, { deleted: 'false' })).toMatchObject(refused)
    await app.delete(`${base}${made.body.id}/`, { key })
    expect((await change(own.id, { deleted: 'false' })).status).toBe(200)
    await change(own.id, { 'remove_attachment[certificate]': '1' })
  })

  it('201 with ten megabytes, 413 with more than the form may have', async () => {
    const megabyte = 1024 * 1024
    const file = (size: number) => ({ 'add_attachment[certificate]': ['a', '', 'x'.repeat(size)] }) as Fields
    expect((await create(file(10 * megabyte))).status).toBe(201)
    const before = await app.db.only(sql`SELECT count(*) FROM plugin_config`)
    expect(await create(file(12 * megabyte))).toMatchObject({
      status: 413,
      body: { code: 'request_too_large' },
    })
    expect(await app.db.only(sql`SELECT count(*) FROM plugin_config`)).toEqual(before)
  })

  it('400 for a form that breaks off', async () => {
    const { headers, bytes } = await form({ plugin: String(plugin) })
    const body = bytes.subarray(0, bytes.length - 10).toString()
    const reply = await app.call('POST', base, { key, body, headers })
    expect(reply).toMatchObject({ status: 400, body: { code: 'parse_error' } })
  })

  it('400 for NUL in a name', async () => {
    const body =
      '--x\r\nContent-Disposition: form-data; name="add_attachment[a]"; filename="a\0b"\r\n\r\nx\r\n--x--\r\n'
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    expect((await app.call('POST', base, { key, body, headers })).status).toBe(400)
  })

  it('files go to no other route', async () => {
    const { id } = (await create()).body
    const { bytes, headers } = await form({ orders: ['a', '', 'x'] })
    const body = bytes.toString()
    const reply = await app.call('PATCH', `${base}rearrange/`, { key, body, headers })
    expect(reply).toMatchObject({ status: 400, body: { code: 'required', attr: 'orders' } })
    expect(await filesOf(id)).toEqual({})
  })
})
