// What counts as a regular expression is what the engine's own RE2 takes: known forms, and thousands of made-up ones.
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { escapePattern, isRe2 } from './re2.ts'

let instance: DuckDBInstance
let connection: DuckDBConnection
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:')
  connection = await instance.connect()
})
afterAll(() => {
  connection.closeSync()
  instance.closeSync()
})

async function isTakenByEngine(pattern: string): Promise<boolean> {
  const statement = await connection.prepare('SELECT regexp_matches(t, $1) FROM (SELECT 1::VARCHAR AS t)')
  try {
    statement.bindVarchar(1, pattern)
    await statement.run()
    return true
  } catch {
    return false
  }
}

const GOOD = String.raw`abc ^a.*b$ a{2} a{2,} a{2,5}? a{,5} a{ {,2} a|b (|a) () (?i)a (?i-s:a) (?P<name>a) [a-z] []a] [^]a]
  [[:alpha:]] [[:^digit:]_] [a-] [-a] [\w-] \d+ \pL \p{Greek} \P{^Lu} \x41 \x{1F600} \123 \0 \Q(*\E+ \Q( a\Q\E* \bfoo\B
  \A\z [\x41-\x5a] a(?i)* (a{10}){100} (?:a+)+ [[:alpha] a.b\.c \- \/ [\]\\] (?) x{99999999999} ^* a+? a?? \C é+`
const BAD = String.raw`( ) [ [z-a] [] * +a a** a{2}{3} a{1001} a{5,2} (a{100}){11} (?=a) (?!a) (?<=a) (?<n>a) (?P=n) (?P<a-b>c)
  \1 \8 \e \Z \E \x4 \x{110000} \p{Foo} \p{Gre \p [[:foo:]] [[:a]b:] [a-\d] [\b] {2} a|* (?i)* (?x)a (?i \é a\ [a (?P<n`

describe('isRe2', () => {
  it.each(GOOD.split(/\s+/))('takes %s', async (pattern) => {
    expect([isRe2(pattern), await isTakenByEngine(pattern)]).toEqual([true, true])
  })

  it.each(BAD.split(/\s+/))('refuses %s', async (pattern) => {
    expect([isRe2(pattern), await isTakenByEngine(pattern)]).toEqual([false, false])
  })

  it('agrees with the engine on made-up patterns', { tags: 'slow' }, async () => {
    const pieces =
      String.raw`a b é 😀 - ^ $ . * + ? | ( ) [ ] { } \ , : 1 2 9 0 [: :] (?: (?i) (?P<n> {2} {2,} {1,30} {01} \d \p{Lu}
      \pN \Q \E \x41 \x{ \0 \1 \b ] [^ [a-z \- \] _ i U P < > = !`.split(/\s+/)
    const patterns = fc
      .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 9 })
      .map((parts) => parts.join(''))
    await fc.assert(
      fc.asyncProperty(patterns, async (pattern) => {
        expect(isRe2(pattern)).toBe(await isTakenByEngine(pattern))
      }),
      { numRuns: 3_000 },
    )
  })

  it('is quick on long and deep patterns', () => {
    expect(isRe2('('.repeat(100_000))).toBe(false)
    expect(isRe2('a'.repeat(1_000_000))).toBe(true)
    expect(isRe2('[:'.repeat(50_000))).toBe(false)
    expect(isRe2('(?'.repeat(50_000))).toBe(false)
  }, 5_000)
})

it('escapePattern makes every character stand for itself', async () => {
  const text = String.raw`a\b^c$d.e*f+g?h(i)j[k]l{2}m|n"o-p;q`
  const pattern = `^${escapePattern(text)}$`
  expect(isRe2(pattern)).toBe(true)
  const answer = await connection.runAndReadAll('SELECT regexp_matches($1, $2)', [text, pattern])
  expect(answer.getRowsJson()).toEqual([[true]])
})
