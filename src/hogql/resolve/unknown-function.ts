// What is said of a function that is not there.
import type { Call } from '../ast.ts'
import { HogqlError, queryError } from '../errors.ts'
import { aggregates, scalarFunctions, windowFunctions } from '../functions/catalogue.ts'
import { isAboutMaps, nearestFunction } from '../functions/instead.ts'
import { unknownName } from './suggest.ts'

/** In no catalogue, because it makes rows. */
export const ARRAY_JOIN = { name: 'arrayJoin', args: [1, 1] } as const

const WITHOUT_ACTIONS =
  `Write the action's steps as conditions instead,` +
  ` such as event = '$pageview' AND properties.$current_url ILIKE '%/pricing%'.`

const WITHOUT_MAPS = `Write an array of tuples instead, such as [('a', 1), ('b', 2)].`

export function unknownFunction(call: Call) {
  if (call.name.toLowerCase() === 'matchesaction')
    return queryError('There are no actions here', call, WITHOUT_ACTIONS)
  if (Object.hasOwn(windowFunctions, call.name.toLowerCase())) {
    return queryError(`'${call.name}' needs an OVER clause`, call)
  }
  const entries = [ARRAY_JOIN, ...Object.values(scalarFunctions), ...Object.values(aggregates)]
  const known = entries.map((entry) => entry.name)
  const { name, start } = call
  // The name alone, not what stands between its brackets.
  const span = start === undefined ? {} : { start, end: start + name.length }
  if (isAboutMaps(name))
    return queryError(`'${name}' is not supported, because there are no maps here`, span, WITHOUT_MAPS)
  const nearest = nearestFunction(name)
  if (nearest === undefined) return unknownName('function', name, known, span)
  const advice = `The nearest is '${nearest}'.`
  return new HogqlError('query', `'${name}' is not supported`, span, { did_you_mean: nearest, advice })
}
