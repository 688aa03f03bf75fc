// Our HogQL parser beside PostHog's own.
import { measureParseSpeed } from './parse-speed.ts'

const GOAL = 500

export async function benchHogql(): Promise<boolean> {
  const { ours_per_s, package_per_s, ratio, checked } = await measureParseSpeed()
  if (!checked) throw new Error('the two parsers gave different trees')
  console.log(
    `a SELECT of the usual size, parsed per CPU second: ours ${Math.round(ours_per_s)}, package ${Math.round(package_per_s)}`,
  )
  console.log(
    `same tree; ratio ${Math.round(ratio)}; goal: at least ${GOAL}: ${ratio >= GOAL ? 'met' : 'NOT met'}`,
  )
  return ratio >= GOAL
}
