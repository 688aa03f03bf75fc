// "Did you mean …?" for names that do not exist.
import type { Span } from '../ast.ts'
import { HogqlError } from '../errors.ts'

/** Steps from one word to the other: letters put in, taken out or changed. */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (const [i, letter] of [...left].entries()) {
    const next = [i + 1]
    for (let j = 1; j <= right.length; j++) {
      const change = (row[j - 1] ?? 0) + (right[j - 1] === letter ? 0 : 1)
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, change))
    }
    row = next
  }
  return row[right.length] ?? 0
}

/** The nearest name, or null when none is near. Long names are not looked at: they were no slip. */
function nearestTo(name: string, known: Iterable<string>): string | null {
  if (name.length > 40) return null
  const nearest = [...known]
    .map((candidate) => ({ candidate, steps: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .toSorted((a, b) => a.steps - b.steps)[0]
  return nearest && nearest.steps <= Math.ceil(name.length / 3) ? nearest.candidate : null
}

export function unknownName(
  what: 'field' | 'function' | 'table' | 'window',
  name: string,
  known: Iterable<string>,
  span: Span,
): HogqlError {
  const nearest = nearestTo(name, known)
  const advice = nearest === null ? null : `Did you mean '${nearest}'?`
  return new HogqlError('query', `Unknown ${what} '${name}'`, span, { did_you_mean: nearest, advice })
}
