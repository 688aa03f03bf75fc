// How fast our HogQL parser is beside PostHog's own, on a query of the usual size. Both must give the same tree.
import { isDeepStrictEqual } from 'node:util'
import createPackageParser from '@posthog/hogql-parser'
import { parseSelect } from '../../src/hogql/parser.ts'

const QUERY =
  'select properties.$browser as browser, count() as total from events ' +
  "where event = '$pageview' and timestamp > now() - interval 7 day group by browser"

type ParseSpeed = {
  ours_per_s: number
  package_per_s: number
  ratio: number
  /** Whether the trees of this run agree. */
  checked: boolean
}

export async function measureParseSpeed(): Promise<ParseSpeed> {
  const packageParser = await createPackageParser()
  const byPackage = (): unknown => JSON.parse(packageParser.parseSelect(QUERY, true))
  const byUs = () => parseSelect(QUERY)
  const checked = isDeepStrictEqual(bare(byUs()), bare(byPackage()))
  // Warm on both sides.
  perCpuSecond(byUs, 500)
  perCpuSecond(byPackage, 500)
  const ours_per_s = perCpuSecond(byUs, 1000)
  const package_per_s = perCpuSecond(byPackage, 1000)
  return { ours_per_s, package_per_s, ratio: ours_per_s / package_per_s, checked }
}

/** Runs for about `budget_ms` of CPU time, in batches, so that reading the clock costs nothing. */
function perCpuSecond(run: () => unknown, budget_ms: number): number {
  let runs = 0
  let used_ms = 0
  let batch = 1
  const started = process.cpuUsage()
  while (used_ms < budget_ms) {
    for (let left = batch; left > 0; left--) run()
    runs += batch
    batch = Math.min(batch * 2, 1024)
    const { user, system } = process.cpuUsage(started)
    used_ms = (user + system) / 1000
  }
  return runs / (used_ms / 1000)
}

/** A tree without positions and absent fields. */
function bare(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(bare)
  if (tree === null || typeof tree !== 'object') return tree
  const isPresent = ([name, value]: [string, unknown]) =>
    name !== 'start' && name !== 'end' && value !== null && value !== false
  return Object.fromEntries(
    Object.entries(tree)
      .filter(isPresent)
      .map(([name, value]) => [name, bare(value)]),
  )
}
