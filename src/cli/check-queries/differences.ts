// What answers otherwise than PostHog does: names of functions, and clauses, that a query uses.
import { isObject } from '../../lib/json-object.ts'

const named = (names: string, what: string) =>
  Object.fromEntries(names.split(' ').map((name) => [name.toLowerCase(), what]))

const FUNCTIONS: Readonly<Record<string, string>> = {
  ...named('uniq uniqCombined uniqCombined64 uniqHLL12 uniqTheta', 'counts exactly; PostHog estimates'),
  ...named('quantile quantiles median', 'is exact; PostHog takes a sample of large groups'),
}

/** By what a node of the tree has. */
function differenceOf(node: Record<string, unknown>): string[] {
  const { op, group_by_mode: mode } = node
  return [
    ...(node.node === 'Call' || node.node === 'WindowFunction' ? ofFunction(String(node.name)) : []),
    ...(node.node === 'SampleExpr' ? ['SAMPLE takes a share as large, of other people'] : []),
    ...(node.node === 'WithFillExpr' ? ['WITH FILL puts 0 where PostHog may have NULL'] : []),
    ...(op === 'in cohort' || op === 'not in cohort' ? ['there are no cohorts: nobody is in one'] : []),
    ...(typeof mode === 'string' && mode !== 'all' ? ['keys that a grouping leaves out are NULL'] : []),
  ]
}

function ofFunction(name: string): string[] {
  const key = name.toLowerCase()
  const known = [key, key.replace(/if$/, '')].find((other) => Object.hasOwn(FUNCTIONS, other))
  return known === undefined ? [] : [`${name} ${FUNCTIONS[known]}`]
}

/** Each once, in the order in which they are met. */
export function differencesIn(tree: unknown): string[] {
  const found = new Set<string>()
  const visit = (part: unknown): void => {
    if (Array.isArray(part)) part.forEach(visit)
    else if (isObject(part)) {
      differenceOf(part).forEach((difference) => found.add(difference))
      Object.values(part).forEach(visit)
    }
  }
  visit(tree)
  return [...found]
}
