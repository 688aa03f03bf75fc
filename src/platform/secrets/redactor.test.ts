import { describe, expect, it } from 'vitest'
import { Redactor } from './redactor.ts'

const TOKEN = 'sk-live-8Jq2/wX+9"é end'
const ODD = 'corp\\8Jq2-defg\nhij \\\\of it'
const LONG = 'abcdefghijklmnopqrstuvwxyz0123456789'

const clean = (text: string, ...values: unknown[]) => new Redactor(values).clean(text)

describe('clean', () => {
  it.each<[string, (value: string) => string]>([
    ['as it is', (value) => value],
    ['in JSON', (value) => JSON.stringify({ value })],
    [
      'in JSON in JSON in JSON',
      (value) => JSON.stringify({ a: JSON.stringify({ b: JSON.stringify(value) }) }),
    ],
    ['in an address', (value) => `https://host/?key=${encodeURIComponent(value)}&x=1`],
    [
      'in an address, in small hex',
      (value) => encodeURIComponent(value).replaceAll(/%../g, (hex) => hex.toLowerCase()),
    ],
    ['in a form', (value) => new URLSearchParams({ value }).toString()],
    ['in capitals', (value) => value.toUpperCase()],
    ['in base64', (value) => btoa(unescape(encodeURIComponent(value)))],
    ['in base64 for addresses', (value) => Buffer.from(`user:${value}!`).toString('base64url')],
    [
      'in base64 within an address',
      (value) => encodeURIComponent(Buffer.from(`u:${value}`).toString('base64')),
    ],
    ['broken into lines', (value) => value.replaceAll(/.{3}/g, '$&\n')],
    [
      'in base64 broken into lines',
      (value) => Buffer.from(`me:${value}`).toString('base64').replaceAll(/.{8}/g, '$&\r\n'),
    ],
    ['in JSON of ASCII', (value) => JSON.stringify(value).replaceAll('é', String.raw`\u00e9`)],
    ['in HTML', (value) => value.replaceAll('"', '&quot;').replaceAll('é', '&#233;')],
  ])('leaves no value %s', (_how, write) => {
    for (const value of [TOKEN, LONG, ODD]) {
      const text = `before ${write(value)} after`
      const redacted = clean(text, value)
      expect(redacted).toMatch(/^before .*\*{3}.* after$/s)
      expect(redacted).not.toMatch(/8jq2|OEpx|Y2RlZ|ZGVm|defghij/i)
    }
  })

  it('leaves no longer part of a value either', () => {
    expect(clean(`starts with ${LONG.slice(0, 20)}…`, LONG)).toBe('starts with ***…')
    expect(clean(`line ${LONG.slice(10, 30)}`, LONG)).toBe('line ***')
    // What many values have in common gives none away.
    expect(clean(`starts with ${LONG.slice(0, 12)}…`, LONG)).toBe(`starts with ${LONG.slice(0, 12)}…`)
  })

  it('leaves nothing at the end of a text that was cut', () => {
    for (let length = 1; length < LONG.length; length++) {
      const text = `a rather long beginning. ${LONG.slice(0, length)}`
      const redacted = new Redactor([LONG]).clean(text, true)
      expect(redacted).toMatch(/^a rather [a-z .]*\*\*\*$/)
      expect(redacted).not.toContain(LONG.slice(0, Math.min(length, 3)).padEnd(3, 'b'))
    }
  })

  it('leaves values of one to three characters alone: they are part of every other word', () => {
    expect(clean('a 5 in eu', 'a', '5', 'eu', 'in ', '', ' ')).toBe('a 5 in eu')
    expect(clean('north of pg12', 'pg12')).toBe('north of ***')
    const words = new Redactor(['pg', 5], { short: 'words' })
    expect(words.clean('pg of pgsql, 5 of 15')).toBe('*** of pgsql, *** of 15')
  })

  it('knows what is nested, pasted as JSON, or a number', () => {
    const key = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n-----END PRIVATE KEY-----\n'
    const pasted = JSON.stringify({ type: 'service', list: [{ private_key: key, pin: 73_214_009 }] })
    const redactor = new Redactor({ account: { pasted, other: ['deep-inside'] }, on: true, none: null })
    expect(redactor.clean('private_key of service, pin 73214009, deep-inside, true, null')).toBe(
      'private_key of ***, pin ***, ***, true, null',
    )
    for (const text of [key, JSON.stringify(key), pasted, JSON.stringify({ pasted })])
      expect(redactor.clean(text)).not.toMatch(/MIIE|kqhk/)
    expect(redactor.clean('-----BEGIN PRIVATE KEY----- was not found')).toBe(
      '-----BEGIN PRIVATE KEY----- was not found',
    )
  })

  it('takes JSON that is nested without end for the text that it is', () => {
    const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    expect(new Redactor([nested, 'beside-it']).clean('of beside-it')).toBe('of ***')
  })

  it('leaves the host of an address to be seen, and nothing that opens it', () => {
    const hook = 'https://hooks.example.com/services/T00/B00/xyz987'
    expect(clean(`POST ${hook} failed: no hooks.example.com`, hook)).toBe(
      'POST https://hooks.example.com*** failed: no hooks.example.com',
    )
    expect(clean('path services/T00/B00/xyz987', hook)).toBe('path ***')
    expect(clean('p4ssword of db.example.com', 'postgres://me:p4ssword@db.example.com')).toBe(
      '*** of db.example.com',
    )
    expect(clean('at https://inner.example.com now', 'https://inner.example.com')).toBe('at *** now')
  })

  it('is as quick about what was made to be slow', () => {
    const backslashes = '\\'.repeat(5_000)
    const texts = [
      backslashes,
      'a'.repeat(50_000),
      '%5c'.repeat(10_000),
      '&#92;'.repeat(10_000),
      '\n'.repeat(50_000),
    ]
    const values = [
      `${'\\'.repeat(40)}x`,
      'a'.repeat(20_000),
      `b${'a'.repeat(19_999)}`,
      ...Array.from({ length: 2_000 }, (_, index) => `${'a'.repeat(4 + (index % 20))}${index}`),
      'x'.repeat(10_000_000),
    ]
    const redactor = new Redactor(values)
    for (const text of texts) expect(redactor.clean(`${text}x`).length).toBeLessThanOrEqual(text.length + 1)
  })

  it('is nothing without values', () => {
    const text = `a text ${TOKEN}`
    expect(clean(text)).toBe(text)
    expect(clean(text, null, true, {}, [])).toBe(text)
    expect(clean('', TOKEN)).toBe('')
  })
})

describe('cleanJson', () => {
  it('cleans texts, names and numbers, and keeps the rest', () => {
    const redactor = new Redactor([LONG, 12_345_678])
    const value = { [LONG]: [1, `x ${LONG}`, { deep: 12_345_678, near: 123_456_789 }], none: null, yes: true }
    expect(redactor.cleanJson(value)).toEqual({
      '***': [1, 'x ***', { deep: '***', near: 123_456_789 }],
      none: null,
      yes: true,
    })
  })
})

describe('cleanError', () => {
  it('keeps what the log shows of an error', () => {
    const error = Object.assign(new TypeError(`no ${LONG}`), { code: 'E_NO', hint: LONG })
    const cleaned = new Redactor([LONG]).cleanError(error) as Error
    expect(cleaned).toMatchObject({ message: 'no ***', code: 'E_NO' })
    expect(cleaned.stack).toMatch(/TypeError: no \*\*\*\n\s+at .*redactor\.test/)
    expect(cleaned).toBeInstanceOf(TypeError)
    expect(cleaned).not.toHaveProperty('hint')
  })
})
