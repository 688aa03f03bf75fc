import { describe, expect, it } from 'vitest'
import { assertConfigSchema, readConfigSchema } from './config-schema.ts'

const plain = {
  type: 'string',
  choices: [],
  default: undefined,
  required: false,
  secret: false,
  site: false,
  required_if: [],
  visible_if: [],
}

describe('readConfigSchema', () => {
  it('reads a list: entries without a key are text, a key given twice counts once', () => {
    const schema = [
      { markdown: '# Words' },
      { key: 'a', name: 'A' },
      { key: 'a', secret: true },
      { key: '' },
      { key: 5 },
      'nonsense',
      null,
      { key: 'b', type: 'choice', choices: ['x', 1], default: 'x', required: 1, site: true, secret: 'yes' },
      { key: 'c', type: 'made up', default: null, choices: 'x', required: null },
    ]
    expect(readConfigSchema(schema)).toEqual([
      { ...plain, key: 'a' },
      {
        ...plain,
        key: 'b',
        type: 'choice',
        choices: ['x', 1],
        default: 'x',
        required: true,
        site: true,
        secret: true,
      },
      { ...plain, key: 'c' },
    ])
  })

  it('reads the old object form, secrets included', () => {
    const schema = JSON.parse('{"token": {"secret": true, "key": "other"}, "__proto__": {}, "odd": "text"}')
    expect(readConfigSchema(schema)).toEqual([
      { ...plain, key: 'token', secret: true },
      { ...plain, key: '__proto__' },
    ])
  })

  it('reads conditions on other fields, a key alone asking for any value', () => {
    const [field] = readConfigSchema([
      { key: 'a', required_if: [['mode', 'on'], ['other']], visible_if: [['x', null], 'y', [5, 6]] },
    ])
    expect(field).toMatchObject({
      required_if: [
        { key: 'mode', value: 'on' },
        { key: 'other', value: undefined },
      ],
      visible_if: [{ key: 'x', value: undefined }],
    })
  })

  it.each([[undefined], [null], ['text'], [5], [[]], [{}]])('has no fields for %j', (schema) => {
    expect(readConfigSchema(schema)).toEqual([])
  })
})

describe('assertConfigSchema', () => {
  it.each([
    [{}],
    [[]],
    [[{ markdown: 'a' }, { markdown: 'a' }]],
    [
      [
        { key: 'a', secret: true },
        { key: 'b', site: true },
      ],
    ],
    [{ a: { secret: true, site: false }, b: 'text' }],
  ])('takes %j', (schema) => {
    expect(() => assertConfigSchema(schema)).not.toThrow()
  })

  it.each([
    ['a text', 'x'],
    ['a number', 5],
    ['a list of something else', [{ key: 'a' }, 'b']],
    ['a list with null', [null]],
    ['a key twice', [{ key: 'a' }, { key: 'a' }]],
    ['a secret for web pages', [{ key: 'a', secret: true, site: true }]],
    ['a secret for web pages of old', { a: { secret: true, site: true } }],
  ])('400 for %s', (_what, schema) => {
    expect(() => assertConfigSchema(schema)).toThrow(
      expect.objectContaining({ status: 400, code: 'invalid_input', attr: 'config_schema' }),
    )
  })
})
