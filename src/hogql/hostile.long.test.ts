// Hostile texts: each ends in a tree or a HogqlError, and soon.
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { HogqlError } from './errors.ts'
import { notSupported, sameTree, wrong } from './fixture/corpus.ts'
import { parseExpression, parseSelect } from './parser.ts'

/** Some 10 ms are usual. Work that grows with the square of 64 KB takes many seconds, and a busy machine does not. */
const MOST_MS = 1000
const TEXT_LENGTH = 64 * 1024

/** What is wrong with how `text` was answered, if anything. */
function complaint(text: string): string | null {
  for (const parse of [parseSelect, parseExpression]) {
    const started_ms = cpuMs()
    const thrown = thrownBy(() => parse(text))
    const took_ms = cpuMs() - started_ms
    if (thrown !== null && !(thrown instanceof HogqlError)) return `threw ${inspect(thrown)}`
    if (thrown && (thrown.start === null || thrown.start < 0 || thrown.start > text.length))
      return 'has no place'
    if (took_ms > MOST_MS) return `took ${took_ms.toFixed(0)} ms`
  }
  return null
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function thrownBy(run: () => unknown): unknown {
  try {
    run()
    return null
  } catch (error) {
    return error
  }
}

const complaints = (texts: readonly string[]) =>
  texts.flatMap((text) => {
    const reason = complaint(text)
    return reason === null ? [] : [`${text.slice(0, 80)} ${reason}`]
  })

/** The same numbers in every run. */
function random(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const corpus = () => [...sameTree(), ...notSupported(), ...wrong()].map(({ text }) => text)

/** What texts are made of; ¦ parts them. */
const PARTS = [
  '(¦)¦[¦]¦{¦}¦\'¦"¦`¦\\¦.¦,¦;¦:¦?¦!¦#¦%¦&¦*¦+¦-¦/¦<¦=¦>¦@¦^¦|¦~¦0',
  '(select ¦select ¦(select a from (¦select 1 from (¦select 1 union all ¦(with a as (¦with a as (select ',
  'not ¦not(¦- ¦+ ¦case ¦case when ¦case a when b then ¦else ¦end ¦interval ¦interval (¦cast(¦try_cast(',
  'a as ¦as ¦and ¦a and ¦a or ¦or ¦a between ¦between ¦a in ¦in (¦is ¦a is null ¦a is distinct from ',
  "f(¦f(a,¦f(distinct ¦f(a order by ¦sum(x) over (¦sum(x) over (partition by ¦a(b)(¦trim(both 'x' from ",
  'x -> ¦x, y -> ¦(x, y) -> ¦(x, ¦lambda x: ¦lambda ¦-> ¦a ? ¦a ? b : ¦a ?? ¦?? ¦a?.¦?.¦a?.[',
  "a.¦a.1¦a[¦a[1:¦[a, ¦{a: ¦{a} ¦f'¦f'{¦f'a{b}¦f'\\{¦'a'¦''¦'\\n¦\\'¦\"a\"¦\"\"¦`a`",
  'a::¦a::int¦::¦a, ¦a ¦1 ¦1.¦1e¦1e5¦0x¦0xf¦0b1¦9¦99999999 ¦.5¦-1¦--¦-- \n¦//¦/*¦/* */¦#1',
  'from ¦from a ¦select 1 from a join b ¦join ¦on ¦using (¦left ¦array join ¦order by ¦group by ¦limit ¦offset ',
  'limit 1 by ¦limit 1 by a ¦limit 1 with ties ¦with fill ¦with fill from 1 to 2 step ¦qualify ¦sample ¦sample 1/¦sample 1/2 offset ',
  'group by rollup(¦group by cube(a, ¦group by grouping sets (¦(a), ¦from numbers(¦from numbers(1) ¦exists (select ¦in cohort ',
  '\n¦\t¦\u00a0¦\u2028¦\ufeff¦\u0001¦\u007f¦é¦😀¦\u0301¦\ud800¦\u0000¦\u200b¦𝒜¦ﷺ¦window w as (',
].flatMap((row) => row.split('¦'))

// Some 40,000 texts, several of 64 KB: 10 s of CPU, more on a busy machine.
const PATIENCE = { timeout: 120_000 }

describe('a part repeated', PATIENCE, () => {
  it.each([2, 130, 1000])('%i times', (count) => {
    expect(complaints(PARTS.map((part) => part.repeat(count)))).toEqual([])
  })

  it('until the text is full', () => {
    expect(
      complaints(PARTS.map((part) => part.repeat(Math.floor(TEXT_LENGTH / Buffer.byteLength(part))))),
    ).toEqual([])
  })

  it('and too often', () => {
    expect(complaints(PARTS.map((part) => part.repeat(TEXT_LENGTH)))).toEqual([])
  })

  it('with something before and after it', () => {
    const texts = PARTS.flatMap((part) => [
      `select ${part.repeat(500)} from events`,
      `a = ${part.repeat(500)}b)]}'`,
    ])
    expect(complaints(texts)).toEqual([])
  })
})

describe('two parts in turn', PATIENCE, () => {
  it('400 pairs', () => {
    const next = random(17)
    const texts = Array.from({ length: 400 }, () => {
      const pair = PARTS[next(PARTS.length)]! + PARTS[next(PARTS.length)]!
      return pair.repeat(1 + next(1200))
    })
    expect(complaints(texts)).toEqual([])
  })
})

describe('parts in any order', () => {
  it('800 texts', () => {
    const next = random(42)
    const texts = Array.from({ length: 800 }, () =>
      Array.from({ length: 1 + next(40) }, () => PARTS[next(PARTS.length)]!).join(''),
    )
    expect(complaints(texts)).toEqual([])
  })
})

describe('the corpus', PATIENCE, () => {
  it('cut off at every place', () => {
    const texts = corpus().flatMap((text) => Array.from(text, (_, length) => text.slice(0, length)))
    expect(texts.length).toBeGreaterThan(2000)
    expect(complaints(texts)).toEqual([])
  })

  it('with pieces left out, doubled, swapped and put in', () => {
    const next = random(7)
    const texts = corpus()
    const mutated = texts.flatMap((text) => {
      const from = next(text.length + 1)
      const to = from + next(6)
      const other = texts[next(texts.length)]!
      return [
        text.slice(0, from) + text.slice(to),
        text.slice(0, to) + text.slice(from),
        text.slice(0, from) + PARTS[next(PARTS.length)]! + text.slice(from),
        text.slice(0, from) + other + text.slice(to),
      ]
    })
    expect(complaints(mutated)).toEqual([])
  })
})

describe('the deepest trees', () => {
  /** Every operator opens its weaker neighbour's right side before the bracket does: the most recursion a level can hold. */
  const LADDER = 'a or a and a between a and a ?? a is distinct from a = a + a * '

  it.each(['(', 'f(', '(select ', 'a[', 'case when '])('%s under every operator', (open) => {
    expect(complaints([(LADDER + open).repeat(120), `${(LADDER + open).repeat(28)}a`])).toEqual([])
  })

  it('leave room on the stack for those who call', () => {
    const below = (frames: number): string | null =>
      frames === 0 ? complaint(`${`${LADDER}(`.repeat(120)}a`) : below(frames - 1)
    expect(below(4000)).toBeNull()
  })
})
