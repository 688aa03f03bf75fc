// Events that are there already: sent again by a client that had no answer, or twice in one batch. A uuid counts once
// within a day of its time.
import { join } from 'node:path'
import { isKnown, mayBeNear, remember, type KnownIds } from '../../known-ids.ts'
import type { Manifest } from '../segments/manifest.ts'
import { idsThatMayBe, readsFor } from './id-filter.ts'
import { bufferOf, idAt, timeAt, type EncodedIds } from './section.ts'

/** Events that files may have, by their places in the write of their project. */
export type Suspects = { project_id: number; places: readonly number[] }

/** An event at this place. */
export type Candidate = { place: number; id: string; time: bigint }

/** What is known of a project without a look into its files. */
export type Known = {
  isStored(id: string, time: bigint): boolean
  /** It was looked for in files, and none has it. */
  isAbsent(id: string, time: bigint): boolean
}

/** `repeats` are places of events that are there already; `rest` is what only the files can tell of. */
export function findRepeats(ids: EncodedIds, known: Known): { repeats: number[]; rest: Candidate[] } {
  const in_batch: KnownIds = new Map()
  const repeats: number[] = []
  const rest: Candidate[] = []
  for (const candidate of candidatesIn(ids)) {
    const { place, id, time } = candidate
    if (isKnown(in_batch, id, time) || known.isStored(id, time)) {
      repeats.push(place)
      continue
    }
    remember(in_batch, id, time)
    if (!known.isAbsent(id, time)) rest.push(candidate)
  }
  return { repeats, rest }
}

export function candidatesIn(ids: EncodedIds): Candidate[] {
  const section = bufferOf(ids)
  return Array.from({ length: ids.count }, (_, place) => ({
    place,
    id: idAt(section, place),
    time: timeAt(section, ids.count, place),
  }))
}

/** So often filters are read while a write waits, and everybody behind it: a millisecond or two. */
const MOST_READS = 512

/** Those that the files of the project may have, by the filters beside them; all where these cannot be asked in a moment. */
export function suspectsAmong(
  folder: string,
  { segments }: Manifest,
  events: readonly Candidate[],
): readonly Candidate[] {
  const asked: { file: string; filter_bytes: number; near: readonly Candidate[] }[] = []
  let reads = 0
  for (const { file, first_time, last_time, filter_bytes } of segments) {
    const near = eventsNear(events, BigInt(first_time), BigInt(last_time))
    reads += readsFor(filter_bytes, near.length)
    if (reads > MOST_READS) return events
    if (near.length > 0) asked.push({ file, filter_bytes, near })
  }
  const suspects = asked.flatMap(({ file, filter_bytes, near }) =>
    idsThatMayBe(join(folder, `${file}.ids`), filter_bytes, near),
  )
  return [...new Set(suspects)]
}

/** Those that may be within a day of these times. */
export function eventsNear<Event extends { time: bigint }>(
  events: readonly Event[],
  first: bigint,
  last: bigint,
): Event[] {
  return events.filter(({ time }) => mayBeNear(time, first, last))
}
