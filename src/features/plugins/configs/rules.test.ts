// What settings become when others are sent, how they are shown, and what an app that is switched on needs.
import { describe, expect, it } from 'vitest'
import { openSecrets } from '../../../platform/secrets/secrets.ts'
import { readConfigSchema } from '../config-schema.ts'
import { changedSettings, maskedSettings, SECRET_MASK } from './change-settings.ts'
import { assertComplete } from './rules.ts'
import { settingsChanges } from './settings-changes.ts'
import { openSettings, sealAttachment, sealSecretConfig } from './settings.ts'

const fields = readConfigSchema([
  { key: 'host' },
  { key: 'token', secret: true },
  { key: 'pin', secret: true },
  { key: 'file', type: 'attachment' },
])
const stored = { config: { host: 'old', extra: 1 }, secrets: { token: 'old token' } }

describe('changedSettings', () => {
  it.each([
    ['leaves out', {}, { config: {}, secrets: { token: 'old token' } }],
    ['sets to null', { token: null }, { config: {}, secrets: { token: 'old token' } }],
    ['sends back as shown', { token: SECRET_MASK }, { config: {}, secrets: { token: 'old token' } }],
    ['clears', { token: '' }, { config: {}, secrets: {} }],
    ['replaces', { token: 'new', host: 'h' }, { config: { host: 'h' }, secrets: { token: 'new' } }],
    ['sets to an object', { token: { a: 1 } }, { config: {}, secrets: { token: { a: 1 } } }],
    ['sends the mask of one there is none of', { pin: SECRET_MASK }, { config: {}, secrets: stored.secrets }],
  ])('%s', (_what, sent, expected) => {
    expect(changedSettings(fields, stored, sent)).toEqual(expected)
  })

  it('takes the mask for what it says in a field that is not secret', () => {
    expect(changedSettings(fields, stored, { host: SECRET_MASK }).config).toEqual({ host: SECRET_MASK })
  })

  it('keeps nothing under the key of a file: what is shown there may be sent back', () => {
    expect(changedSettings(fields, stored, { file: { uid: 1, saved: true } }).config).toEqual({})
  })

  it('seals what has become secret, and keeps sealed what no longer is', () => {
    const now_secret = readConfigSchema([{ key: 'host', secret: true }, { key: 'token' }])
    expect(changedSettings(now_secret, stored, { host: SECRET_MASK, token: SECRET_MASK })).toEqual({
      config: {},
      secrets: { host: 'old', token: 'old token' },
    })
    expect(maskedSettings(now_secret, stored)).toEqual({ host: SECRET_MASK, extra: 1, token: SECRET_MASK })
  })

  it('treats names of inherited things as any other', () => {
    const sent = JSON.parse('{"constructor": 1, "toString": "x"}')
    const odd = readConfigSchema([{ key: 'constructor', secret: true }])
    expect(changedSettings(odd, stored, {}).secrets).toEqual({ token: 'old token' })
    expect(changedSettings(odd, stored, sent)).toEqual({
      config: { toString: 'x' },
      secrets: { constructor: 1, token: 'old token' },
    })
  })
})

describe('settingsChanges', () => {
  it('names what has changed, with secrets masked and long values cut', () => {
    const after = { config: { host: 'x'.repeat(5000), list: [1] }, secrets: { token: 'new', pin: 'p' } }
    const changes = settingsChanges(fields, stored, after)
    expect(changes).toEqual([
      {
        type: 'PluginConfig',
        action: 'changed',
        field: 'host',
        before: 'old',
        after: `${'x'.repeat(1000)}…`,
      },
      { type: 'PluginConfig', action: 'deleted', field: 'extra', before: 1, after: null },
      { type: 'PluginConfig', action: 'changed', field: 'token', before: SECRET_MASK, after: SECRET_MASK },
      { type: 'PluginConfig', action: 'created', field: 'list', before: null, after: [1] },
      { type: 'PluginConfig', action: 'created', field: 'pin', before: null, after: SECRET_MASK },
    ])
    expect(settingsChanges(fields, after, after)).toEqual([])
  })
})

describe('assertComplete', () => {
  const schema = readConfigSchema([
    { key: 'mode', type: 'choice', choices: ['plain', 'signed', 7], default: 'plain' },
    { key: 'host', required: true },
    { key: 'port', required: true, default: 80 },
    { key: 'key', required_if: [['mode', 'signed']] },
    { key: 'salt', required: true, visible_if: [['mode', 'signed'], ['key']] },
    { key: 'file', type: 'attachment', required: true, visible_if: [['mode', '7']] },
    { key: 'path', required: true, visible_if: [['host', { toString: 2 }]] },
    { key: 'free', type: 'choice' },
  ])

  it.each([
    ['the least', { host: 'h' }, []],
    ['a choice', { host: 'h', mode: 'plain', free: 'anything' }, []],
    ['a choice left blank', { host: 'h', mode: '' }, []],
    ['what a choice asks for', { host: 'h', mode: 'signed', key: 'k', salt: 's' }, []],
    ['what is not to be seen left out', { host: 'h', mode: 'plain', salt: '' }, []],
    ['a file', { host: 'h', mode: 7 }, ['file']],
    ['an odd object', { host: { toString: 1 }, mode: 'plain' }, []],
  ])('takes %s', (_what, config, attached) => {
    expect(() => assertComplete(schema, { config, secrets: {} }, new Set(attached))).not.toThrow()
  })

  it.each([
    ['nothing', {}, 'required', 'config__host'],
    ['null', { host: null }, 'required', 'config__host'],
    ['a blank', { host: '' }, 'required', 'config__host'],
    ['another choice', { host: 'h', mode: 'other' }, 'invalid_choice', 'config__mode'],
    ['what is required by another field', { host: 'h', mode: 'signed' }, 'required', 'config__key'],
    ['what is to be seen', { host: 'h', mode: 'signed', key: 'k' }, 'required', 'config__salt'],
    ['a file that is none', { host: 'h', mode: 7, file: { uid: 1 } }, 'required', 'config__file'],
  ])('400 for %s', (_what, config, code, attr) => {
    expect(() => assertComplete(schema, { config, secrets: {} }, new Set())).toThrow(
      expect.objectContaining({ status: 400, code, attr }),
    )
  })
})

describe('openSettings', () => {
  const secrets = openSecrets('k'.repeat(64), null)
  const schema = [
    { key: 'host', default: 'localhost' },
    { key: 'blank', default: 'not this' },
    { key: 'needed', required: true, default: 'this' },
    { key: 'token', secret: true },
    { key: '__proto__', default: 'own' },
  ]
  const row = {
    id: 7,
    config: { blank: '', needed: '', extra: 1, host: null },
    secrets: sealSecretConfig(secrets, 7, { token: 't' }),
  }
  const file = {
    id: 1,
    plugin_config_id: 7,
    key: 'file',
    content_type: 'text/plain',
    file_name: 'a.txt',
    size: 2,
    contents: sealAttachment(secrets, 7, 'file', Buffer.from([0, 255])),
  }

  it('has secrets, defaults and files in clear', () => {
    const { config, attachments } = openSettings(secrets, schema, row, [file])
    expect(Object.entries(config)).toEqual([
      ['blank', ''],
      ['needed', 'this'],
      ['extra', 1],
      ['host', 'localhost'],
      ['token', 't'],
      ['__proto__', 'own'],
    ])
    expect(attachments).toEqual({
      file: {
        content_type: 'text/plain',
        file_name: 'a.txt',
        contents: Buffer.from([0, 255]).toString('base64'),
      },
    })
  })

  it('opens nothing that was moved to another config', () => {
    expect(() => openSettings(secrets, schema, { ...row, id: 8 }, [])).toThrow('unable to authenticate')
    const moved = { ...file, plugin_config_id: 8 }
    expect(() => openSettings(secrets, schema, row, [moved])).toThrow('unable to authenticate')
  })
})
