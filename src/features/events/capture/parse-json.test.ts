import { describe, expect, it } from 'vitest'
import { MAX_DEPTH, parseJson } from './parse-json.ts'
import { Refusal } from './refusal.ts'

describe('parseJson', () => {
  it.each<[string, string, unknown]>([
    [
      'leaves the harmless alone',
      '{"a":[1,"b",null,true,{"c":1.5}]}',
      { a: [1, 'b', null, true, { c: 1.5 }] },
    ],
    ['removes NUL from texts', '{"a":"x\\u0000y","b":["\\u0000"]}', { a: 'xy', b: [''] }],
    ['removes NUL from names', '{"a\\u0000b":{"\\u0000c":1}}', { ab: { c: 1 } }],
    ['replaces lone surrogates', '{"a":"x\\ud800y","b\\udc00":1}', { a: 'x\ufffdy', 'b\ufffd': 1 }],
    ['replaces lone surrogates that are not escaped', '{"a":"x\ud800y"}', { a: 'x\ufffdy' }],
    ['keeps pairs', '{"a":"\\ud83d\\ude00"}', { a: '😀' }],
    ['keeps numbers as parsed', '[9007199254740993,1e400,-0,0.1]', [9007199254740992, Infinity, -0, 0.1]],
  ])('%s', (_, json, expected) => {
    expect(parseJson(json)).toEqual(expected)
  })

  it.each([
    '{"__proto__":{"bad":1},"a":{"__proto__":[1]}}',
    '{"__pro\\u0000to__":{"bad":1},"a":{}}',
    '{"\\u005f_proto__":{"bad":1},"a":{}}',
    '{"__\\u0070roto_\\u005F":{"bad":1},"a":{}}',
  ])('leaves __proto__ out: %s', (json) => {
    const value = parseJson(json) as Record<string, Record<string, unknown>>
    expect(JSON.stringify(value)).toBe('{"a":{}}')
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Object.getPrototypeOf(value.a)).toBe(Object.prototype)
    expect(value.bad).toBe(undefined)
    expect(({} as Record<string, unknown>).bad).toBe(undefined)
  })

  it('takes nesting up to the limit and no deeper', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
    expect(JSON.stringify(parseJson(nested(MAX_DEPTH)))).toBe(nested(MAX_DEPTH))
    expect(() => parseJson(nested(MAX_DEPTH + 1))).toThrow(Refusal)
    expect(() => parseJson(nested(200_000))).toThrow(Refusal)
    expect(() => parseJson(`["\\u0000",${nested(MAX_DEPTH)}]`)).toThrow(Refusal)
    expect(() => parseJson(`${'{"a":'.repeat(MAX_DEPTH)}{}${'}'.repeat(MAX_DEPTH)}`)).toThrow(Refusal)
  })
})

describe('what is no JSON', () => {
  it.each(['', '{', '{"a":1}x', "{'a':1}", '{"a":\u0000}'])('%j', (text) => {
    expect(() => parseJson(text)).toThrow(Refusal)
  })
})
