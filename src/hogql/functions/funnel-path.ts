// DuckDB: the way of one person through the steps of a funnel, out of a list of their events. An event is
// `{t: micros, o: first step it meets, m: bits}`; the bits are the steps, then what excludes after each of them.

export type Path = {
  steps: number
  has_exclusions: boolean
  order: 'ordered' | 'strict' | 'unordered'
  /** In microseconds. */
  window: bigint
}

const NOTHING = 'CAST(NULL AS BIGINT[])'
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const has = (bit: number) => `x.m & ${2 ** bit} <> 0`
const sorted = (list: string) => `list_sort(coalesce(${list}, []))`
const instants = (micros: string) => `list_transform(${micros}, lambda micros: make_timestamp(micros))`

/**
 * `a` is the state: `p1` … are the newest ways to each step, told by the times of its steps, `b` is the longest way so
 * far, the first of those as long, and `out` whether something excluded was met. The newest way is the one with the most
 * time left, and of those that began at the same instant the first to get there is kept.
 */
export function pathInOrder(list: string, { steps, has_exclusions, order, window }: Path): string {
  const places = numbers(steps)
  const inTime = (step: number) => `x.t - a.p${step}[1] <= ${window}`
  const isNew = (step: number) => `a.p${step + 1}[1] IS DISTINCT FROM a.p${step}[1]`
  const reaches = (step: number) => {
    if (step === 1) return `(${has(0)})`
    const isFirst = order === 'strict' || step === steps ? '' : ` AND ${isNew(step - 1)}`
    return `(${has(step - 1)} AND ${inTime(step - 1)}${isFirst})`
  }
  const way = (step: number) => (step === 1 ? '[x.t]' : `list_append(a.p${step - 1}, x.t)`)
  const kept = places
    .slice(0, -1)
    .map(
      (step) =>
        `'p${step}': CASE WHEN ${reaches(step)} THEN ${way(step)} ELSE ${order === 'strict' ? NOTHING : `a.p${step}`} END`,
    )
  const longer = places
    .toReversed()
    .map((step) => `WHEN len(a.b) < ${step} AND ${reaches(step)} THEN ${way(step)}`)
  const excluded = places.slice(0, -1).map((step) => {
    const isOnTheWay = step + 1 === steps ? '' : ` AND ${isNew(step)}`
    return `(${has(steps + step - 1)} AND ${inTime(step)}${isOnTheWay})`
  })
  const isOut = has_exclusions
    ? `a.out OR (len(a.b) < ${steps} AND coalesce(${excluded.join(' OR ')}, false))`
    : 'false'
  const next = [
    `'t': x.t, 'o': x.o, 'm': x.m`,
    ...kept,
    `'b': CASE ${longer.join(' ')} ELSE a.b END`,
    `'out': ${isOut}`,
  ]
  const ways = places.slice(0, -1).map((step) => `'p${step}': ${NOTHING}`)
  const state = (t: string, o: string, m: string) =>
    `{'t': ${t}, 'o': ${o}, 'm': ${m}, ${[...ways, `'b': CAST([] AS BIGINT[])`, `'out': false`].join(', ')}}`
  const all = `list_transform(${sorted(list)}, lambda x: ${state('x.t', 'x.o', 'x.m')})`
  const start = state('CAST(0 AS BIGINT)', '0', 'CAST(0 AS BIGINT)')
  const end = `list_reduce(list_prepend(${start}, ${all}), lambda a, x: {${next.join(', ')}})`
  return `list_transform([${end}], lambda it: CASE WHEN NOT it.out THEN ${instants('it.b')} END)[1]`
}

/**
 * The most steps that lie within one window. `l` is when each step was last met: what counts is how many of those are
 * recent enough. An event that meets several steps stands for the one that was met longest ago.
 */
export function pathInAnyOrder(list: string, { steps, window }: Path): string {
  const waits = numbers(steps).map((step) => `CASE WHEN ${has(step - 1)} THEN coalesce(a.l[${step}], -1) END`)
  const place = `list_transform([[${waits.join(', ')}]], lambda w: list_position(w, list_min(w)))[1]`
  const times = `list_transform([${place}], lambda k: list_transform(a.l, lambda v, i: CASE WHEN i = k THEN x.t ELSE v END))[1]`
  const recent = (l: string) => `list_sort(list_filter(${l}, lambda v: x.t - v <= ${window}))`
  const next =
    `list_transform([${times}], lambda l: list_transform([${recent('l')}], lambda r:` +
    ` {'t': x.t, 'm': x.m, 'l': l, 'b': CASE WHEN len(r) > len(a.b) THEN r ELSE a.b END})[1])[1]`
  const none = `CAST([${numbers(steps)
    .map(() => 'NULL')
    .join(', ')}] AS BIGINT[])`
  const state = (t: string, m: string) => `{'t': ${t}, 'm': ${m}, 'l': ${none}, 'b': CAST([] AS BIGINT[])}`
  const all = `list_transform(${sorted(list)}, lambda x: ${state('x.t', 'x.m')})`
  const start = state('CAST(0 AS BIGINT)', 'CAST(0 AS BIGINT)')
  const end = `list_reduce(list_prepend(${start}, ${all}), lambda a, x: ${next})`
  return instants(`${end}.b`)
}
