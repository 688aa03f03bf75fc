// What `npm run mutate` breaks, and what it leaves alone: a mutant too few hides a line that no test guards.
import { describe, expect, it } from 'vitest'
import { mutantsOf } from '../scripts/mutate/mutants.ts'
import { testsNear } from '../scripts/mutate/nearest-tests.ts'
import { targetsOf } from '../scripts/mutate/targets.ts'

/** The text with each edit, in the order of the text. */
const mutated = (text: string) => mutantsOf('a.ts', text).map((mutant) => mutant.mutated)

describe('code', () => {
  it.each([
    ['let a = b < c', ['let a = b <= c']],
    ['let a = b >= c', ['let a = b > c']],
    ['let a = b === c && d', ['let a = b !== c && d', 'let a = b === c || d']],
    ['let a = b + c - d', ['let a = b - c - d', 'let a = b + c + d']],
    ['let a = b ? c : d', ['let a = !(b) ? c : d']],
    ['if (a) b()\nelse c()', ['if (!(a)) b()\nelse c()', 'if (a) ;\nelse c()', 'if (a) b()\nelse ;']],
    ['if (a) throw b', ['if (!(a)) throw b', ';']],
    ['if (a === b) { c; continue }', ['if (a !== b) { c; continue }', ';']],
    ['await a(b)', [';']],
    ['this.#a = b', [';']],
    ['let a = [b, true]', ['let a = []', 'let a = [b, false]']],
    ["let a = 'code'", ["let a = ''"]],
    ['let a = 14', ['let a = 15']],
  ])('%s', (text, expected) => {
    expect(mutated(text).toSorted()).toEqual(expected.toSorted())
  })

  it.each([
    "import { a } from './a.ts'",
    "type A = 'b' | 1",
    "let a: 'b' = b as 'b' | true",
    "let a = { 'content-type': b }",
    "let a = 'Said to people.'",
    "let a = `${b}` + 'c d'",
    'let a = 30_000',
    'this.#log.warn(a)',
    'let a = []',
  ])('leaves %s', (text) => {
    expect(mutated(text)).toEqual([])
  })
})

describe('SQL', () => {
  const broken = (statement: string) => mutated(`sql\`${statement}\``).map((text) => text.slice(4, -1))

  it.each([
    ['WHERE a = ${b} AND c', ['WHERE true AND c', 'WHERE a = ${b} ']],
    ['WHERE a AND (b OR c) RETURNING d', ['WHERE true AND (b OR c) RETURNING d', 'WHERE a RETURNING d']],
    ['WHERE a BETWEEN 1 AND 2 AND b', ['WHERE true AND b', 'WHERE a BETWEEN 1 AND 2 ']],
    [
      'WHERE EXISTS (SELECT 1 FROM a WHERE b AND c) ORDER BY d',
      [
        'WHERE true ORDER BY d',
        'WHERE EXISTS (SELECT 1 FROM a WHERE true AND c) ORDER BY d',
        'WHERE EXISTS (SELECT 1 FROM a WHERE b ) ORDER BY d',
      ],
    ],
    ['CASE WHEN a AND b THEN c END', ['CASE WHEN a THEN c END']],
    ['a <= ${b < c}', ['a < ${b < c}', 'a <= ${b <= c}']],
    ['SELECT a FOR UPDATE OF b SKIP LOCKED', ['SELECT a ']],
  ])('%s', (statement, expected) => {
    expect(broken(statement).toSorted()).toEqual(expected.toSorted())
  })

  it.each(["SELECT a->>'b < c AND d'", 'SELECT a <> b', 'SELECT a @> b'])('leaves %s', (statement) => {
    expect(broken(statement)).toEqual([])
  })
})

describe('the nearest tests', () => {
  const files = [
    'src/a/b/c.test.ts',
    'src/a/b/d.test.ts',
    'src/a/e/f.test.ts',
    'src/a/g.test.ts',
    'src/h.test.ts',
  ]
  const target = targetsOf(['src/a'])[0]!

  it.each([
    [
      'src/a/b/c.ts',
      [['src/a/b/c.test.ts'], ['src/a/b/d.test.ts'], ['src/a/e/f.test.ts', 'src/a/g.test.ts']],
    ],
    ['src/a/i/j.ts', [['src/a/g.test.ts'], ['src/a/b/c.test.ts', 'src/a/b/d.test.ts', 'src/a/e/f.test.ts']]],
  ])('%s has circles around it', (file, circles) => {
    expect(testsNear(file, target, files)).toEqual(circles)
  })
})
