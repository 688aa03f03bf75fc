// Aggregates over what one person did in the order of time: each collects the few events that matter into a list, sorts
// it once, and goes through it once. Joining events with themselves would read them again for every step.
import { queryError } from '../errors.ts'
import type { Printing, Value } from '../value.ts'
import { arrayOf, call, DATETIME, INTEGER, type Named, nth, read } from './define.ts'
import { clickhousePathInAnyOrder, clickhousePathInOrder } from './funnel-path-clickhouse.ts'
import { pathInAnyOrder, pathInOrder, type Path } from './funnel-path.ts'
import type { Aggregate } from './function.ts'
import { FUNNEL_MODES, type FunnelMode, windowFunnelLevel } from './window-funnel.ts'

type NamedAggregate = Named<Aggregate>

const MOST_CONDITIONS = 32
const ONCE = 'strict_once'
/** Steps of `funnelPath`: those and what lies between them are bits of one number. */
const MOST_STEPS = 20
/** 100 years: longer ones would leave the range of instants. */
const LONGEST_WINDOW_S = 3_155_760_000

const windowOf = (value: Value): number => {
  const { constant } = value
  if (typeof constant !== 'number' || !(constant >= 0 && constant <= LONGEST_WINDOW_S))
    throw queryError(`The window of a funnel is a constant of 0 to ${LONGEST_WINDOW_S} seconds.`)
  return constant
}
const micros = (seconds: number) => BigInt(Math.round(seconds * 1_000_000))

const MODES = [...FUNNEL_MODES, ONCE] as const
type Mode = (typeof MODES)[number]

const modesOf = (params: readonly Value[]): ReadonlySet<Mode> => {
  const modes = params.map(({ constant }) => {
    const mode = MODES.find((each) => each === constant)
    if (!mode) throw queryError(`The modes of windowFunnel are ${MODES.join(', ')}.`)
    return mode
  })
  if (modes.includes(ONCE) && modes.length > 1) throw queryError(`${ONCE} cannot be used with other modes.`)
  return new Set(modes)
}
const isMode = (mode: Mode): mode is FunnelMode => mode !== ONCE

const instantOf = (value: Value, printing: Printing) => `epoch_us(${read('datetime', value, printing)})`
const conditionsOf = (values: readonly Value[], printing: Printing) =>
  values.map((value) => `coalesce(${printing.boolean(value)}, false)`)
const anyOf = (conditions: readonly string[]) => `(${conditions.join(' OR ')})`

/** Bit 0 for the first. */
const bits = (conditions: readonly string[]) =>
  conditions.map((sql, index) => `CASE WHEN ${sql} THEN ${2 ** index} ELSE 0 END`).join(' + ')

/** Events as `pathInOrder` takes them; the steps come first among the conditions. */
const collected = (time: Value, conditions: readonly string[], steps: number, printing: Printing) => {
  const first = conditions.slice(0, steps).map((sql, index) => `WHEN ${sql} THEN ${index}`)
  const order = `CASE ${first.join(' ')} ELSE ${steps} END`
  const list = `list({'t': ${instantOf(time, printing)}, 'o': ${order}, 'm': CAST(${bits(conditions)} AS BIGINT)})`
  return `${list} FILTER (WHERE ${anyOf(conditions)})`
}

/** How many of the conditions were met one after the other, the last at most `window` seconds after the first. */
const windowFunnel: NamedAggregate = {
  name: 'windowFunnel',
  args: [2, MOST_CONDITIONS + 1],
  params: [1, 1 + FUNNEL_MODES.length],
  type: INTEGER,
  duckdb: ([time, ...steps], printing, [, ...params]) => {
    const modes = modesOf(params)
    const conditions = conditionsOf(steps, printing)
    if (modes.has(ONCE)) return collected(time!, conditions, steps.length, printing)
    const met = conditions.map((sql, index) => `CASE WHEN ${sql} THEN ${index + 1} END`)
    const list = `list({'t': ${instantOf(time!, printing)}, 'k': [${met.join(', ')}]})`
    // Whatever stands between the steps breaks a strict order.
    return modes.has('strict_order') ? list : `${list} FILTER (WHERE ${anyOf(conditions)})`
  },
  finish: (sql, args, [given, ...params]) => {
    const modes = modesOf(params)
    const [steps, window] = [args.length - 1, micros(windowOf(given!))]
    if (!modes.has(ONCE))
      return windowFunnelLevel(sql, { steps, window, modes: new Set([...modes].filter(isMode)) })
    return call('len', [pathInOrder(sql, { steps, window, has_exclusions: false, order: 'ordered' })])
  },
  clickhouse: ([time, ...conditions], printing, [window, ...params]) => {
    const modes = [...modesOf(params)].map((mode) => `'${mode}'`)
    const texts = conditions.map((value) => `ifNull(${printing.boolean(value)}, false)`)
    const instant = `toDateTime(${read('datetime', time!, printing)})`
    return `${call('windowFunnel', [String(windowOf(window!)), ...modes])}${call('', [instant, ...texts])}`
  },
}

const ORDERS = ['ordered', 'strict', 'unordered'] as const

const pathOf = (args: readonly Value[], [window, order, count]: readonly Value[]): Path => {
  const found = ORDERS.find((each) => each === order?.constant)
  if (!found) throw queryError(`The order of a funnel is one of ${ORDERS.join(', ')}.`)
  const steps = count?.constant
  if (typeof steps !== 'number' || !Number.isInteger(steps) || steps < 1 || steps > MOST_STEPS)
    throw queryError(`A funnel has 1 to ${MOST_STEPS} steps.`)
  const between = args.length - 1 - steps
  if (between !== 0 && between !== steps - 1)
    throw queryError(`funnelPath takes a time, ${steps} steps, and what excludes between each two of them.`)
  if (between > 0 && found === 'unordered')
    throw queryError('Steps in any order have nothing between them that could exclude.')
  return { steps, has_exclusions: between > 0, order: found, window: micros(windowOf(window!)) }
}

/**
 * `funnelPath(window, order, n)(time, step 1 … step n[, exclusion after step 1 … after step n − 1])`: when the person
 * reached each step, as far as they came; NULL for whoever did something excluded on the way, on ClickHouse an empty array. An
 * event counts for one step of a path. Of events at the same instant the one for the earlier step goes first.
 */
const funnelPath: NamedAggregate = {
  name: 'funnelPath',
  args: [2, 2 * MOST_STEPS],
  params: [3, 3],
  type: arrayOf(DATETIME),
  duckdb: (args, printing, params) => {
    const { steps, order } = pathOf(args, params)
    const conditions = conditionsOf(args.slice(1), printing)
    // In a strict order whatever lies between the steps counts.
    return collected(nth(args, 0), order === 'strict' ? [...conditions, 'true'] : conditions, steps, printing)
  },
  finish: (sql, args, params) => {
    const path = pathOf(args, params)
    return path.order === 'unordered' ? pathInAnyOrder(sql, path) : pathInOrder(sql, path)
  },
  clickhouse: (args, printing, params) => {
    const { steps, order } = pathOf(args, params)
    const texts = args.slice(1).map((value) => `ifNull(${printing.boolean(value)}, false)`)
    const conditions = order === 'strict' ? [...texts, 'true'] : texts
    const first = texts.slice(0, steps).map((sql, index) => `${sql}, ${index}`)
    const time = read('datetime', nth(args, 0), printing)
    const met = texts.map((sql, index) => `toInt64(${sql}) * ${2 ** index}`).join(' + ')
    const event = call('tuple', [
      `toUnixTimestamp64Micro(toDateTime64(assumeNotNull(${time}), 6, 'UTC'))`,
      call('multiIf', [...first, String(steps)]),
      met,
    ])
    return `groupArray(${event}) FILTER (WHERE ${anyOf(conditions)} AND isNotNull(${time}))`
  },
  clickhouse_finish: (sql, args, params) => {
    const path = pathOf(args, params)
    return path.order === 'unordered' ? clickhousePathInAnyOrder(sql, path) : clickhousePathInOrder(sql, path)
  },
}

/** `[1, 0, 1]`: whether the first condition was ever met, and for each other whether it was met as well. */
const retention: NamedAggregate = {
  name: 'retention',
  args: [1, MOST_CONDITIONS],
  type: arrayOf(INTEGER),
  duckdb: (args, printing) => `bit_or(CAST(${bits(conditionsOf(args, printing))} AS BIGINT))`,
  finish: (sql, args) =>
    `list_transform([coalesce(${sql}, 0)], lambda met: list_transform(range(${args.length}),` +
    ` lambda place: CAST(met & 1 = 1 AND (met >> place) & 1 = 1 AS INTEGER)))[1]`,
  clickhouse: (args, printing) =>
    call(
      'retention',
      args.map((value) => `ifNull(${printing.boolean(value)}, false)`),
    ),
}

export const funnelFunctions: readonly NamedAggregate[] = [windowFunnel, funnelPath, retention]
