// DuckDB: `windowFunnel` as ClickHouse counts it. The list holds `{t: micros, k: [numbers of the conditions met]}`; an
// event that meets several conditions counts for each of them, and at one instant the lower numbers go first.

/** As ClickHouse documents them; `strict_once` is the one under which an event counts for one step only. */
export const FUNNEL_MODES = ['strict_deduplication', 'strict_order', 'strict_increase'] as const
export type FunnelMode = (typeof FUNNEL_MODES)[number]

type WindowFunnel = {
  steps: number
  /** In microseconds. */
  window: bigint
  modes: ReadonlySet<FunnelMode>
}

const NOTHING = 'CAST(NULL AS BIGINT)'

/**
 * `a` is the state: `s1` … are when the newest way to each step began, `l1` … when it got there, `done` whether a strict
 * mode ended the search.
 */
export function windowFunnelLevel(list: string, { steps, window, modes }: WindowFunnel): string {
  const places = Array.from({ length: steps }, (_, index) => index + 1)
  const later = places.slice(1)
  const increases = modes.has('strict_increase')
  const reaches = (step: number) => {
    const isThis = `x.k = ${step} AND NOT a.done`
    if (step === 1) return isThis
    return [
      `${isThis} AND x.t - a.s${step - 1} <= ${window}`,
      ...(increases ? [`a.l${step - 1} < x.t`] : []),
      ...(modes.has('strict_deduplication') ? [`a.s${step} IS NULL`] : []),
    ].join(' AND ')
  }
  const stops = [
    'a.done',
    ...(modes.has('strict_deduplication')
      ? later.map((step) => `(x.k = ${step} AND a.s${step} IS NOT NULL)`)
      : []),
    ...(modes.has('strict_order')
      ? [
          '(x.k = 0 AND a.s1 IS NOT NULL)',
          ...later.map((step) => `(x.k = ${step} AND a.s1 IS NOT NULL AND a.s${step - 1} IS NULL)`),
        ]
      : []),
  ]
  const next = [
    `'t': x.t, 'k': x.k`,
    ...places.map(
      (step) =>
        `'s${step}': CASE WHEN ${reaches(step)} THEN ${step === 1 ? 'x.t' : `a.s${step - 1}`} ELSE a.s${step} END`,
    ),
    ...(increases
      ? places.map((step) => `'l${step}': CASE WHEN ${reaches(step)} THEN x.t ELSE a.l${step} END`)
      : []),
    `'done': ${stops.join(' OR ')}`,
  ]
  const empty = [
    ...places.map((step) => `'s${step}': ${NOTHING}`),
    ...(increases ? places.map((step) => `'l${step}': ${NOTHING}`) : []),
    `'done': false`,
  ].join(', ')
  const met = 'list_filter(e.k, lambda k: k IS NOT NULL)'
  const numbers = modes.has('strict_order') ? `CASE WHEN len(${met}) = 0 THEN [0] ELSE ${met} END` : met
  const pairs = `flatten(list_transform(coalesce(${list}, []), lambda e: list_transform(${numbers}, lambda k: {'t': e.t, 'k': k})))`
  const all = `list_transform(list_sort(${pairs}), lambda x: {'t': x.t, 'k': x.k, ${empty}})`
  const start = `{'t': CAST(0 AS BIGINT), 'k': CAST(0 AS INTEGER), ${empty}}`
  const end = `list_reduce(list_prepend(${start}, ${all}), lambda a, x: {${next.join(', ')}})`
  const levels = places.toReversed().map((step) => `WHEN it.s${step} IS NOT NULL THEN ${step}`)
  return `list_transform([${end}], lambda it: CASE ${levels.join(' ')} ELSE 0 END)[1]`
}
