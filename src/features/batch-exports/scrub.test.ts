import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Redactor } from '../../platform/secrets/redactor.ts'
import { redactorOf, scrub as scrubWith } from './scrub.ts'

const scrub = (text: string, secrets: readonly string[]) =>
  scrubWith(text, new Redactor(secrets, { short: 'words' }))

const PASSWORD = 'p@ss/w rd+"é$&'

describe('scrub', () => {
  it.each([
    ['as it is', `FATAL: wrong password ${PASSWORD}!`, 'FATAL: wrong password ***!'],
    ['several times', `${PASSWORD}, ${PASSWORD}`, '***, ***'],
    ['in an address', `GET /?token=${encodeURIComponent(PASSWORD)}&x=1`, 'GET /?token=***&x=1'],
    ['in small hex', `GET /?token=${encodeURIComponent(PASSWORD).toLowerCase()}`, 'GET /?token=***'],
    ['in form data', `body ${new URLSearchParams({ password: PASSWORD }).toString()}.`, 'body password=***.'],
    ['in JSON', `sent ${JSON.stringify({ password: PASSWORD })}`, 'sent {"password":"***"}'],
    ['in a path', `at ${encodeURI(PASSWORD)}/x`, 'at ***/x'],
    ['in capitals', `USER ${PASSWORD.toUpperCase()} UNKNOWN`, 'USER *** UNKNOWN'],
  ])('leaves no value %s', (_where, text, clean) => {
    expect(scrub(text, [PASSWORD])).toBe(clean)
  })

  it.each(['base64', 'base64url'] as const)(
    'leaves no value in %s, alone or inside a longer text',
    (encoding) => {
      const secret = 'correct-horse-battery'
      for (const before of ['', 'a', 'ab', 'abc', 'user:']) {
        for (const after of ['', 'x', 'xy', 'xyz']) {
          const header = Buffer.from(`${before}${secret}${after}`).toString(encoding)
          const clean = scrub(`Authorization: Basic ${header}`, [secret])
          expect(clean).toContain('***')
          const [, left = '', right = ''] = /^Authorization: Basic (.*)\*\*\*(.*)$/.exec(clean) ?? []
          const rest = `${Buffer.from(left, encoding).toString('latin1')} ${Buffer.from(right, encoding).toString('latin1')}`
          for (let at = 0; at + 3 <= secret.length; at++) expect(rest).not.toContain(secret.slice(at, at + 3))
        }
      }
    },
  )

  it('leaves no line of a key', () => {
    const key =
      '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nBAQEFAASCBKcwggSjAgEAAo\n-----END PRIVATE KEY-----\n'
    const texts = [
      key,
      key.replaceAll('\n', ''),
      key.replaceAll('\n', ' '),
      JSON.stringify(key),
      'line MIIEvQIBADANBgkqhkiG9w0 is bad',
    ]
    for (const text of texts) expect(scrub(text, [key])).not.toMatch(/MIIEv|BAQEF/)
    expect(scrub('line MIIEvQIBADANBgkqhkiG9w0 is bad', [key])).toBe('line *** is bad')
  })

  it('takes the longest first, so that no rest of one secret remains beside another', () => {
    expect(scrub('key AKIA1234SECRET', ['AKIA', 'AKIA1234SECRET'])).toBe('key ***')
    expect(scrub('abc1secretlong', ['abc1', 'c1secretlong'])).toBe('***')
  })

  it('takes short values only as whole words', () => {
    expect(scrub('role "pg" of pg_hba and pgsql: pg', ['pg'])).toBe('role "***" of pg_hba and pgsql: ***')
    expect(scrub('été et e', ['e'])).toBe('été et ***')
    expect(scrub('1.5 in 15 and 5', ['5'])).toBe('1.*** in 15 and ***')
    expect(scrub('a.b axb', ['a.b'])).toBe('*** axb')
    expect(scrub('role "a-b" of xa-b', ['a-b'])).toBe('role "***" of xa-b')
    for (const value of '-]}{^$\\|()[*+?./&<>"\'#@!%=~`,;:_') {
      expect(scrub(`x ${value} y`, [value])).toBe('x *** y')
    }
  })

  it('keeps a text without secrets, and ignores empty ones', () => {
    expect(scrub('nothing to hide', [])).toBe('nothing to hide')
    expect(scrub('nothing to hide', ['', ' ', 'elsewhere'])).toBe('nothing to hide')
  })

  it.each([
    ['with slashes escaped', '"a\\/b&<c>\\"d\\\\e é\'"'],
    ['with what HTML knows escaped', '"a/b\\u0026\\u003cc\\u003e\\"d\\\\e é\'"'],
    ['in ASCII alone', '"a/b\\u0026\\u003cc\\u003E\\u0022d\\u005ce \\u00e9\\u0027"'],
    ['in HTML', 'a/b&amp;&lt;c&gt;&quot;d\\e é&#039;'],
    ['in XML', 'a&#x2F;b&#38;&#60;c&#62;&#34;d\\e &#xe9;&apos;'],
    ['in a form', 'a%2fb%26%3Cc%3E%22d%5ce+%c3%a9%27'],
  ])('leaves no value escaped as others do: %s', (_where, written) => {
    expect(scrub(`no such token: ${written}.`, ['a/b&<c>"d\\e é\''])).toMatch(/^no such token: "?\*{3}"?\.$/)
  })

  it('takes a value literally, whatever it means in patterns and replacements', () => {
    for (const value of ['a.*b(', '[x]{2}', '$&$1', String.raw`back\slash`, '^^^^', 'a|b|c']) {
      expect(scrub(`<${value}> axxb`, [value])).toBe('<***> axxb')
    }
  })

  it.each([
    ['postgres://alice:wonderland@db.example.com/x', 'postgres://***@db.example.com/x'],
    ['http://token@host and http://other:x@host', 'http://***@host and http://***@host'],
    ['https://a:b@c@host/path@x', 'https://***@host/path@x'],
    ['see https://host/a@b', 'see https://host/a@b'],
    ['mail me@example.com', 'mail me@example.com'],
  ])('hides who signs in in %s', (text, clean) => {
    expect(scrub(text, [])).toBe(clean)
  })

  it('makes one line of at most 2,000 characters, with whole characters', () => {
    expect(scrub('first\r\n\tsecond\u2028third\u001b[31m', [])).toBe('first second third [31m')
    const long = scrub('x'.repeat(5_000), [])
    expect(long).toBe(`${'x'.repeat(1_999)}…`)
    const emoji = scrub(`x${'🦔'.repeat(3_000)}`, [])
    expect(emoji.length).toBeLessThanOrEqual(2_000)
    expect(emoji.isWellFormed()).toBe(true)
  })

  it('leaves no part of a secret where a huge text is cut', () => {
    // Masks are shorter than what they hide, so that the place of the cut comes into view.
    const secret = Array.from({ length: 100 }, (_, index) => `k${index}y`).join('')
    for (let shift = 0; shift < secret.length; shift += 7) {
      expect(scrub('.'.repeat(shift) + secret.repeat(1_000), [secret])).toMatch(/^\.*\*+$/)
    }
  })

  it('is quick about hostile texts', () => {
    const texts = [
      'a'.repeat(100_000),
      '//'.repeat(50_000),
      '//a'.repeat(30_000),
      'a.'.repeat(50_000),
      '@'.repeat(100_000),
    ]
    for (const text of texts)
      expect(scrub(text, ['aaaaaaaaab', '//////x', 'a.b']).length).toBeLessThanOrEqual(2_000)
  })

  it('knows a value whose start reads as the end of an escape', () => {
    const secret = '᠀\u00a0 ࠀ'
    const base64 = Buffer.from(secret).toString('base64')
    expect(base64).toMatch(/^4a/)
    for (const before of ['%', '\\x', '\\u00'])
      expect(scrub(`${before}${base64}`, [secret])).not.toContain(base64)
    for (const escape of ['\\', '\\x', '%'])
      expect(scrub(`${escape}41bcdef`, ['41bcdef'])).not.toContain('41bcdef')
  })

  it('never lets a value through, whatever it is and wherever it stands', () => {
    const value = fc
      .string({ unit: 'grapheme', minLength: 4, maxLength: 40 })
      .filter((text) => text.trim().length >= 4)
    const form = fc.constantFrom<(text: string) => string>(
      (text) => text,
      encodeURIComponent,
      (text) => JSON.stringify(text),
      (text) => Buffer.from(text).toString('base64'),
      (text) => Buffer.from(`user:${text}`).toString('base64url'),
    )
    fc.assert(
      fc.property(value, form, fc.string({ maxLength: 20 }), (secret, write, around) => {
        const written = write(secret)
        const clean = scrub(`${around}${written}${around}`, [secret])
        if (around.includes(secret) || secret.includes('*')) return
        expect(clean).not.toContain(written)
        expect(clean).not.toContain(secret)
      }),
      { numRuns: 500 },
    )
  })
})

describe('redactorOf', () => {
  it('knows secrets at any depth, and nothing else', () => {
    const kind = { secrets: ['password', 'key', 'copy.login', 'copy.token'] }
    const config = {
      host: 'host-name',
      password: 'first-secret',
      key: null,
      copy: {
        bucket: 'bucket-name',
        login: { id: 'second-secret', parts: ['third-secret'] },
        token: 'fourth-secret',
      },
    }
    const text = 'host-name first-secret bucket-name second-secret third-secret fourth-secret null'
    expect(scrubWith(text, redactorOf(kind, config))).toBe('host-name *** bucket-name *** *** *** null')
  })
})
