import { describe, expect, it } from 'vitest'
import {
  holds,
  initialValues,
  isStoredSecret,
  readSettings,
  SECRET_MASK,
  settingsBody,
  storedFile,
  WrongJson,
  type Setting,
} from './schema-fields.ts'

const SCHEMA = [
  { markdown: 'Read this first.' },
  { key: 'host', name: 'Host', required: true, hint: 'Where to.', default: 'example.com' },
  { key: 'token', secret: true },
  { key: 'kind', type: 'choice', choices: ['a', 5], default: 'a' },
  { key: 'rules', type: 'json', default: { deep: [1] } },
  { key: 'file', type: 'attachment' },
  { key: 'more', visible_if: [['kind', 5]], required_if: [['token']] },
]
const settings = readSettings(SCHEMA)
const field = (key: string) => settings.find((each): each is Setting => 'key' in each && each.key === key)!

describe('a schema', () => {
  it('is notes and fields, in order', () => {
    expect(settings.map((each) => ('note' in each ? 'note' : each.key))).toEqual([
      'note',
      'host',
      'token',
      'kind',
      'rules',
      'file',
      'more',
    ])
    expect(field('host')).toMatchObject({
      name: 'config__host',
      label: 'Host',
      type: 'string',
      isRequired: true,
    })
  })

  it('may be an object of old, and nothing at all', () => {
    expect(readSettings({ a: { name: 'A' }, b: 3 })).toMatchObject([{ key: 'a', label: 'A' }])
    expect([null, {}, [], 'x', [1, { key: 3 }]].flatMap(readSettings)).toEqual([])
  })
})

describe('values', () => {
  it('are what is stored, then defaults; a stored secret is not to be seen', () => {
    expect(initialValues(settings, { token: SECRET_MASK, kind: 5 })).toEqual({
      config__host: 'example.com',
      config__token: null,
      config__kind: '5',
      config__rules: '{\n  "deep": [\n    1\n  ]\n}',
      config__file: null,
      config__more: '',
    })
    expect(isStoredSecret(field('token'), {})).toBe(false)
  })

  it('a stored file is told by name and size, a secret one only by being there', () => {
    expect(storedFile(field('file'), { file: { name: 'a.pem', size: 3 } })).toEqual({
      name: 'a.pem',
      size: 3,
      isSecret: false,
    })
    expect(storedFile(field('file'), { file: { name: SECRET_MASK, size: -1 } })).toMatchObject({
      isSecret: true,
      name: '',
    })
    expect(storedFile(field('file'), {})).toBeNull()
  })
})

describe('what is sent', () => {
  const values = { ...initialValues(settings, { token: SECRET_MASK }), config__kind: '5' }

  it('keeps stored secrets by leaving them out, and what no field is about', () => {
    const { config } = settingsBody(settings, values, { token: SECRET_MASK, other: 1 })
    expect(config).toEqual({ other: 1, host: 'example.com', kind: 5, rules: { deep: [1] }, more: '' })
  })

  it('an emptied secret is cleared', () => {
    expect(settingsBody(settings, { ...values, config__token: '' }, {}).config).toMatchObject({ token: '' })
  })

  it('says which field holds no JSON', () => {
    expect(() => settingsBody(settings, { ...values, config__rules: '{' }, {})).toThrow(WrongJson)
    expect(settingsBody(settings, { ...values, config__rules: ' ' }, {}).config.rules).toBeNull()
  })
})

describe('conditions', () => {
  it('hold by value, however it is written, or by any value', () => {
    const values = initialValues(settings, { token: SECRET_MASK, kind: 5 })
    expect(holds(field('more').visibleIf, settings, values)).toBe(true)
    expect(holds(field('more').requiredIf, settings, values)).toBe(true)
    expect(holds(field('more').visibleIf, settings, { ...values, config__kind: 'a' })).toBe(false)
    expect(holds(field('more').requiredIf, settings, { ...values, config__token: '' })).toBe(false)
  })
})
