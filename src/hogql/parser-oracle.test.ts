// Our parser beside PostHog's own, over the corpus: the same trees, and the same texts refused.
// @module-tag slow
import createOracle, { type HogQLParser } from '@posthog/hogql-parser'
import { beforeAll, describe, expect, it } from 'vitest'
import { HogqlError } from './errors.ts'
import {
  comparisonsLikeTags,
  keptOrder,
  notSupported,
  sameTree,
  wrong,
  type Sample,
} from './fixture/corpus.ts'
import { parseExpression, parseOrder, parseSelect } from './parser.ts'

let oracle: HogQLParser

beforeAll(async () => {
  oracle = await createOracle()
})

const OURS = { expression: parseExpression, query: parseSelect, order: parseOrder }
const THEIRS = { expression: 'parseExpr', query: 'parseSelect', order: 'parseOrderExpr' } as const

/** The oracle's tree, or null where it refuses. A trap would make every later answer wrong, so it fails the test. */
function oracleTree({ rule, text }: Sample): unknown {
  const answer = JSON.parse(oracle[THEIRS[rule]](text, true)) as { error?: true }
  return answer.error ? null : comparable(answer)
}

function ourTree({ rule, text }: Sample): unknown {
  return comparable(OURS[rule](text))
}

function ourError({ rule, text }: Sample): HogqlError | null {
  try {
    OURS[rule](text)
    return null
  } catch (error) {
    if (error instanceof HogqlError) return error
    throw error
  }
}

/** Without positions and absent fields. Numbers a double cannot hold are compared as the double nearest to them. */
function comparable(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(comparable)
  if (tree === null || typeof tree !== 'object') return tree
  const fields = tree as Record<string, unknown>
  if (fields['node'] === 'Constant')
    return fields['value_type'] === 'number' || typeof fields['value'] === 'number'
      ? { number: String(Number(fields['value'])) }
      : { constant: fields['value'] }
  const isCompared = ([name, value]: [string, unknown]) =>
    name !== 'start' && name !== 'end' && value !== null && value !== false && value !== undefined
  return Object.fromEntries(
    Object.entries(fields)
      .filter(isCompared)
      .map(([name, value]) => [name, comparable(value)]),
  )
}

function byGroup(samples: Sample[]): { name: string; texts: Sample[] }[] {
  const groups = new Map<string, Sample[]>()
  for (const sample of samples) {
    const name = `${sample.rule}: ${sample.group}`
    groups.set(name, [...(groups.get(name) ?? []), sample])
  }
  return [...groups].map(([name, texts]) => ({ name, texts }))
}

// The oracle takes 50 ms for a longer query; on a busy machine a group of them takes its time.
const PATIENCE = { timeout: 120_000 }

describe('the same tree as PostHog', PATIENCE, () => {
  it.each(byGroup(sameTree()))('$name', ({ texts }) => {
    for (const sample of texts) {
      const expected = oracleTree(sample)
      expect(expected, sample.text).not.toBeNull()
      expect(ourTree(sample), sample.text).toEqual(expected)
    }
  })

  it('over a corpus that covers the language', () => {
    expect(sameTree().length).toBeGreaterThan(450)
  })
})

describe('read by PostHog, refused by us with the place and the reason', () => {
  it.each(byGroup(notSupported()))('$name', ({ texts }) => {
    for (const sample of texts) {
      expect(oracleTree(sample), sample.text).not.toBeNull()
      const error = ourError(sample)
      expect(error, sample.text).toMatchObject({
        kind: 'query',
        message: expect.stringMatching(/ is not supported($|\. )/),
      })
      expect(error?.start, sample.text).toBeGreaterThanOrEqual(0)
      expect(error?.start, sample.text).toBeLessThanOrEqual(sample.text.length)
    }
  })
})

describe('refused by both', () => {
  it.each(byGroup(wrong()))('$name', ({ texts }) => {
    for (const sample of texts) {
      expect(oracleTree(sample), sample.text).toBeNull()
      const error = ourError(sample)
      expect(error, sample.text).toBeInstanceOf(HogqlError)
      expect(error?.start, sample.text).toBeGreaterThanOrEqual(0)
      expect(error?.end, sample.text).toBeGreaterThanOrEqual(error!.start!)
    }
  })
})

describe('where we differ on purpose', () => {
  it.each(keptOrder())('$text keeps its order', (sample) => {
    const { order_by, ...rest } = ourTree(sample) as { order_by?: unknown }
    expect(order_by).toHaveLength(1)
    expect(rest).toEqual(oracleTree(sample))
  })

  it.each(comparisonsLikeTags())('$text is a comparison', (sample) => {
    expect(oracleTree(sample)).toBeNull()
    expect(ourError(sample)).toBeNull()
  })
})
