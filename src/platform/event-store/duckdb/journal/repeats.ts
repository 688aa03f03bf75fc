// Events that are there already: sent again by a client that had no answer, or twice in one batch. A uuid counts once
// within a day of its time.
import { join } from 'node:path'
import { isKnown, mayBeNear, remember, type KnownIds } from '../../known-ids.ts'
import type { Manifest } from '../segments/manifest.ts'
import { idsThatMayBe } from './id-filter.ts'
import { idAt, timeAt, uuidAt } from './section.ts'
import type { Tail } from './tail.ts'

/** An event that a file may have. */
export type Suspect = { project_id: number; uuid: string; time: bigint }

/** What files were found to have of suspects. */
export type StoredIds = readonly Suspect[]

/** Places in each section of events that are there already. */
export type Repeats = readonly (readonly number[])[]

/**
 * What is to be known before a batch is written that has suspects. What was waiting then may lie in a file by now, where
 * nobody has looked for it, so its repeats are kept from then.
 */
export type Suspicion = { suspects: Suspect[]; repeats: Repeats }
export type Cleared = { stored: StoredIds; repeats: Repeats }

/** An event that is neither earlier in the batch nor waiting. */
export type Candidate = { id: string; uuid: string; time: bigint }

const fileKey = (project_id: number, uuid: string) => `${project_id}/${uuid}`

export function idsInFiles(stored: StoredIds): KnownIds {
  const ids: KnownIds = new Map()
  for (const { project_id, uuid, time } of stored) remember(ids, fileKey(project_id, uuid), time)
  return ids
}

type Section = { project_id: number; count: number; section: Buffer }

/** `repeats` are places in the section; `rest` is to be looked for in files, unless that was done. */
export function findRepeats(
  { project_id, count, section }: Section,
  tail: Tail | undefined,
  in_files: KnownIds | null,
  before: readonly number[] = [],
): { repeats: number[]; rest: Candidate[] } {
  const in_batch: KnownIds = new Map()
  const known = new Set(before)
  const repeats: number[] = []
  const rest: Candidate[] = []
  for (let index = 0; index < count; index++) {
    const [id, uuid, time] = [idAt(section, index), uuidAt(section, index), timeAt(section, count, index)]
    const isStored = in_files !== null && isKnown(in_files, fileKey(project_id, uuid), time)
    if (known.has(index) || isStored || isKnown(in_batch, id, time) || tail?.has(id, time)) {
      repeats.push(index)
      continue
    }
    remember(in_batch, id, time)
    rest.push({ id, uuid, time })
  }
  return { repeats, rest }
}

/** Those that the files of the project may have, by the filters beside them. */
export function suspectsAmong(
  folder: string,
  { segments }: Manifest,
  events: readonly Candidate[],
): readonly Candidate[] {
  const suspects = new Set<Candidate>()
  for (const { file, first_time, last_time, filter_bytes } of segments) {
    const [first, last] = [BigInt(first_time), BigInt(last_time)]
    const near = events.filter(({ time }) => mayBeNear(time, first, last))
    if (near.length === 0) continue
    for (const event of idsThatMayBe(join(folder, `${file}.ids`), filter_bytes, near)) suspects.add(event)
  }
  return [...suspects]
}
