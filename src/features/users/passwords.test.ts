// Which passwords are taken, what is kept of them, and what matches it. No database.
import { describe, expect, it } from 'vitest'
import { assertGoodPassword, hashPassword, isPasswordRight } from './passwords.ts'

const PERSONAL = ['ada.lovelace@analytical-engine.example', 'Ada', 'Lovelace', '']

const verdict = (password: string, personal: readonly string[] = PERSONAL) =>
  assertGoodPassword(password, personal).then(
    () => 'good',
    (error: { code: string; attr: string | null }) => `${error.code} ${error.attr}`,
  )

describe('assertGoodPassword', () => {
  it.each([
    ['', 'password_too_short password'],
    ['x9$Kq2!', 'password_too_short password'],
    // Seven characters, although fourteen units of UTF-16.
    ['🦔🐝🦀🐙🦉🐢🦊', 'password_too_short password'],
    ['password', 'password_too_weak password'],
    ['12345678', 'password_too_weak password'],
    ['qwertyuiop', 'password_too_weak password'],
    ['aaaaaaaaaaaaaaaaaaaaaaaa', 'password_too_weak password'],
    ['P@ssw0rd1', 'password_too_weak password'],
    ['x9$Kq2!vZ', 'good'],
    ['correct horse battery staple', 'good'],
    ['  blanks at both ends count  ', 'good'],
  ])('%j is %s', async (password, expected) => {
    expect(await verdict(password)).toBe(expected)
  })

  it("is too weak when it is made of the user's own name and address, and good for somebody else", async () => {
    for (const own of [['Xyloquartz'], ['a@b.example', 'Ada', 'xyloquartz'], ['ada@xyloquartz.example']]) {
      expect(await verdict('Xyloquartz1234', own)).toBe('password_too_weak password')
    }
    expect(await verdict('Xyloquartz1234')).toBe('good')
  })

  it('takes the longest password that a request may hold, in no time', async () => {
    const started = performance.now()
    expect(await verdict('correct horse battery staple '.repeat(34))).toBe('good')
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})

describe('hashPassword and isPasswordRight', () => {
  it('keeps an argon2id hash with a salt of its own', async () => {
    const [one, other] = await Promise.all([hashPassword('x9$Kq2!vZ'), hashPassword('x9$Kq2!vZ')])
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(one).not.toBe(other)
    expect(one).not.toContain('x9$Kq2!vZ')
  })

  it('matches the very password, and nothing like it', async () => {
    const stored = await hashPassword('x9$Kq2!vZ')
    expect(await isPasswordRight('x9$Kq2!vZ', stored)).toBe(true)
    for (const other of ['X9$Kq2!vZ', 'x9$Kq2!vZ ', 'x9$Kq2!v', '', stored]) {
      expect(await isPasswordRight(other, stored)).toBe(false)
    }
  })

  it('matches nothing where no password is kept, not even the one that is hashed to take as long', async () => {
    for (const stored of [null, undefined]) {
      expect(await isPasswordRight('a password nobody has', stored)).toBe(false)
      expect(await isPasswordRight('', stored)).toBe(false)
    }
  })
})
