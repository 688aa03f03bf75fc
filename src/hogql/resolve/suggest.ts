// "Did you mean …?" for names that do not exist.
import type { Span } from '../ast.ts'
import { HogqlError } from '../errors.ts'
import { nearestTo } from '../nearest.ts'

export function unknownName(
  what: 'field' | 'function' | 'table' | 'window',
  name: string,
  known: Iterable<string>,
  span: Span,
): HogqlError {
  const nearest = nearestTo(name, known, Math.ceil(name.length / 3))
  const advice = nearest === null ? null : `Did you mean '${nearest}'?`
  return new HogqlError('query', `Unknown ${what} '${name}'`, span, { did_you_mean: nearest, advice })
}
