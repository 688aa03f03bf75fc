// ClickHouse: the way of one person through the steps of a funnel, as funnel-path.ts finds it. An event is
// `(micros, first step it meets, bits)`. Arrays are never NULL there: no way is an empty one, and so is that of whoever is left out.
import type { Path } from './funnel-path.ts'

const NO_WAY = 'emptyArrayInt64()'
/** Further from any time than a window is long, on either side. */
const NEVER = '-4611686018427387904'
const NOT_MET = '4611686018427387904'

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const part = (tuple: string, place: number) => `tupleElement(${tuple}, ${place})`
const AT = part('x', 1)
const has = (bit: number) => `bitTest(${part('x', 3)}, ${bit})`
const fold = (next: readonly string[], list: string, start: string) =>
  `arrayFold((a, x) -> tuple(${next.join(', ')}), arraySort(${list}), ${start})`
const instants = (micros: string) => `arrayMap(t -> fromUnixTimestamp64Micro(t, 'UTC'), ${micros})`

/** The state: the newest ways to each step but the last, the longest way, and whether something excluded was met. */
export function clickhousePathInOrder(list: string, { steps, has_exclusions, order, window }: Path): string {
  const places = numbers(steps)
  const newest = (step: number) => part('a', step)
  const [longest, out] = [part('a', steps), part('a', steps + 1)]
  const inTime = (step: number) => `(notEmpty(${newest(step)}) AND ${AT} - ${newest(step)}[1] <= ${window})`
  const begin = (step: number) => `arraySlice(${newest(step)}, 1, 1)`
  const isNew = (step: number) => `${begin(step + 1)} != ${begin(step)}`
  const reaches = (step: number) => {
    if (step === 1) return has(0)
    const isFirst = order === 'strict' || step === steps ? '' : ` AND ${isNew(step - 1)}`
    return `(${has(step - 1)} AND ${inTime(step - 1)}${isFirst})`
  }
  const way = (step: number) => (step === 1 ? `[${AT}]` : `arrayPushBack(${newest(step - 1)}, ${AT})`)
  const otherwise = (step: number) => (order === 'strict' ? NO_WAY : newest(step))
  const kept = places.slice(0, -1).map((step) => `if(${reaches(step)}, ${way(step)}, ${otherwise(step)})`)
  const longer = places
    .toReversed()
    .map((step) => `length(${longest}) < ${step} AND ${reaches(step)}, ${way(step)}`)
  const excluded = places.slice(0, -1).map((step) => {
    const isOnTheWay = step + 1 === steps ? '' : ` AND ${isNew(step)}`
    return `(${has(steps + step - 1)} AND ${inTime(step)}${isOnTheWay})`
  })
  const isOut = has_exclusions
    ? `${out} OR (length(${longest}) < ${steps} AND (${excluded.join(' OR ')}))`
    : out
  const start = `tuple(${places.map(() => NO_WAY).join(', ')}, toUInt8(0))`
  const end = fold([...kept, `multiIf(${longer.join(', ')}, ${longest})`, `toUInt8(${isOut})`], list, start)
  return instants(`arrayMap(e -> if(${part('e', steps + 1)}, ${NO_WAY}, ${part('e', steps)}), [${end}])[1]`)
}

/** The state: when each step was last met, and the most of those that lay within one window. */
export function clickhousePathInAnyOrder(list: string, { steps, window }: Path): string {
  const [last, best] = [part('a', 1), part('a', 2)]
  const waits = numbers(steps).map((step) => `if(${has(step - 1)}, ${last}[${step}], ${NOT_MET})`)
  const place = `indexOf([${waits.join(', ')}], arrayMin([${waits.join(', ')}]))`
  const times = `arrayMap((v, i) -> if(i = ${place}, ${AT}, v), ${last}, arrayEnumerate(${last}))`
  const recent = `arraySort(arrayFilter(v -> ${AT} - v <= ${window}, ${times}))`
  const start = `tuple([${numbers(steps)
    .map(() => `toInt64(${NEVER})`)
    .join(', ')}], ${NO_WAY})`
  const next = [times, `if(length(${recent}) > length(${best}), ${recent}, ${best})`]
  return instants(part(fold(next, list, start), 2))
}
