// After a change of the installation's key, nothing that plugins keep depends on the old one.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOrganization } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { openSecrets } from '../../../platform/secrets/secrets.ts'
import { openToken, sealToken } from '../origin.ts'
import { setPrivateToken } from '../queries.ts'
import type { PluginConfigRow, PluginRow } from '../rows.ts'
import { addPlugin, form } from './fixture/plugins.ts'
import { resealPlugins } from './reseal.ts'
import { openSettings, type AttachmentRow } from './settings.ts'

const OLD_KEY = randomBytes(32).toString('hex')
const NEW_KEY = randomBytes(32).toString('hex')

let app: TestApp
beforeAll(async () => void (app = await startTestApp({ SECRET_KEY: OLD_KEY })))
afterAll(() => app.close())

it('seals anew settings, files and tokens, and leaves what is current alone', async () => {
  const { organization, project, owner } = await createOrganization(app)
  const plugin = await addPlugin(app, organization.id)
  const token = app.canary.plant('token', 'token-of-the-repository')
  await setPrivateToken(app.db, organization.id, plugin, sealToken(app.services.secrets, plugin, token))
  const api_key = app.canary.plant('setting', 'sealed-under-both-keys')
  const { bytes, headers } = await form({
    plugin: String(plugin),
    config: JSON.stringify({ host: 'h', api_key }),
    'add_attachment[certificate]': ['a', '', 'the content'],
  })
  const url = `/api/projects/${project.id}/plugin_configs/`
  const made = await app.call('POST', url, { key: owner.key, body: bytes.toString(), headers })

  const rows = async () => ({
    plugin: await app.db.only<PluginRow>(sql`SELECT * FROM plugin WHERE id = ${plugin}`),
    config: await app.db.only<PluginConfigRow>(sql`SELECT * FROM plugin_config WHERE id = ${made.body.id}`),
    file: await app.db.only<AttachmentRow>(sql`SELECT * FROM plugin_attachment`),
  })
  const before = await rows()
  const secrets = openSecrets(NEW_KEY, OLD_KEY)
  await resealPlugins.handle({ ...app.services, secrets }, {}, app.services.now())
  const after = await rows()

  const alone = openSecrets(NEW_KEY, null)
  const settings = openSettings(alone, [], after.config, [after.file])
  expect(settings.config).toEqual({ host: 'h', api_key })
  expect(Buffer.from(settings.attachments.certificate!.contents, 'base64').toString()).toBe('the content')
  expect(openToken(alone, after.plugin)).toBe(token)
  expect(after.config.updated_at).toEqual(before.config.updated_at)
  expect(after.plugin.updated_at).toEqual(before.plugin.updated_at)

  await resealPlugins.handle({ ...app.services, secrets }, {}, app.services.now())
  expect(await rows()).toEqual(after)
})
