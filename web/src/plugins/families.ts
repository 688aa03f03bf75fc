// Apps by what they do, in the order in which an event meets them; and how their order changes. No requests here.
import type { Config } from './queries'

export type Family = Exclude<Config['families'][number], 'plugins'> | 'undecided'

export const FAMILIES: readonly { family: Family; title: string; what: string }[] = [
  {
    family: 'pipeline_transformations',
    title: 'Transformations',
    what: 'change or drop events before they are stored, one after the other in this order',
  },
  {
    family: 'pipeline_destinations',
    title: 'Destinations',
    what: 'get every stored event and carry it elsewhere',
  },
  { family: 'pipeline_import_apps', title: 'Imports', what: 'run by the clock and capture what they find' },
  { family: 'pipeline_frontend_apps', title: 'Web pages', what: 'run in the web pages of your visitors' },
  { family: 'undecided', title: 'Not decided yet', what: 'have no code that says what they do' },
]

/** The family that lists an app; of several the first, which is what it does first. */
export function familyOf({ families }: Pick<Config, 'families'>): Family {
  return (
    FAMILIES.map(({ family }) => family).find((family) => (families as readonly string[]).includes(family)) ??
    'undecided'
  )
}

export function byFamily<App extends Pick<Config, 'families'>>(
  apps: readonly App[],
): ReadonlyMap<Family, readonly App[]> {
  const groups = new Map<Family, App[]>()
  for (const { family } of FAMILIES) {
    const own = apps.filter((app) => familyOf(app) === family)
    if (own.length > 0) groups.set(family, own)
  }
  return groups
}

/** The list with one of it at another place; places beyond the ends are the ends. */
export function moved<Item>(items: readonly Item[], from: number, to: number): readonly Item[] {
  const place = Math.max(0, Math.min(items.length - 1, to))
  if (from === place || items[from] === undefined) return items
  const rest = items.toSpliced(from, 1)
  return rest.toSpliced(place, 0, items[from])
}

/** The orders to send for this sequence: only what changes. The orders that are taken stay taken, in a new sequence. */
export function ordersFor(sequence: readonly Pick<Config, 'id' | 'order'>[]): Record<string, number> {
  const taken = sequence.map(({ order }) => order).toSorted((one, other) => one - other)
  const orders: Record<string, number> = {}
  let last = -Infinity
  sequence.forEach(({ id, order }, index) => {
    last = Math.max(taken[index]!, last + 1)
    if (last !== order) orders[String(id)] = last
  })
  return orders
}
