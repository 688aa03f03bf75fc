// Times of events by their ids. An id may come again after more than a day, and somebody may give the same one to any number of
// events: what lies near a time is found without a look at all of them.

const DAY = 86_400_000_000n

/** Nearly every id has one time. */
export type KnownIds = Map<string, bigint | ByDay>
type ByDay = Map<bigint, bigint[]>

export function remember(ids: KnownIds, id: string, time: bigint): void {
  const known = ids.get(id)
  if (known === undefined) ids.set(id, time)
  else if (typeof known !== 'bigint') put(known, time)
  else {
    const by_day: ByDay = new Map()
    put(by_day, known)
    put(by_day, time)
    ids.set(id, by_day)
  }
}

export function rememberAll(ids: KnownIds, others: KnownIds): void {
  for (const [id, known] of others) {
    if (typeof known === 'bigint') remember(ids, id, known)
    else for (const times of known.values()) for (const time of times) remember(ids, id, time)
  }
}

/** Whether the id has a time within a day of this one. */
export function isKnown(ids: KnownIds, id: string, time: bigint): boolean {
  const known = ids.get(id)
  if (known === undefined) return false
  if (typeof known === 'bigint') return isNear(known, time)
  const day = dayOf(time)
  return [day - 1n, day, day + 1n].some((each) => known.get(each)?.some((other) => isNear(time, other)))
}

/** The first of those that are one event. */
export function withoutRepeats<E extends { uuid: string; timestamp: bigint }>(events: readonly E[]): E[] {
  const known: KnownIds = new Map()
  return events.filter(({ uuid, timestamp }) => {
    if (isKnown(known, uuid, timestamp)) return false
    remember(known, uuid, timestamp)
    return true
  })
}

/** Whether something between these two times may lie within a day of this one. */
export function mayBeNear(time: bigint, first: bigint, last: bigint): boolean {
  return time >= first - DAY && time <= last + DAY
}

function put(by_day: ByDay, time: bigint): void {
  const day = dayOf(time)
  const times = by_day.get(day)
  if (times) times.push(time)
  else by_day.set(day, [time])
}

/** Times that are near each other are on the same day, or on two that follow each other. */
const dayOf = (time: bigint) => time / DAY

function isNear(one: bigint, other: bigint): boolean {
  return (one > other ? one - other : other - one) <= DAY
}
