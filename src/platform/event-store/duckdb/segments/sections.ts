// What the journal has of a project, read from its files.
import { closeSync, openSync, readSync } from 'node:fs'
import type { Copies } from '../../event-store.ts'
import type { ToFold } from '../journal/journal.ts'
import { decodeSection, type EventColumns } from '../journal/section.ts'
import type { PlacedEvents } from './events.ts'

export type Gathered = {
  /** The last record of the journal that is in it; null when none is. */
  upto: number | null
  events: PlacedEvents
  copies: { copies: Copies; changed_at: bigint }[]
}

type Section = ToFold['sections'][number]

export function readSections({ upto, sections }: ToFold | { upto: null; sections: [] }): Gathered {
  const decoded = withFiles(sections, (section, bytes) => ({
    section,
    ...decodeSection(bytes, section.count),
    kept: keptOf(section),
  }))
  const all = <Value>(column: (events: EventColumns) => readonly Value[]) =>
    decoded.flatMap(({ events, kept }) => kept.map((at) => column(events)[at]!))
  const times = (column: (each: (typeof decoded)[number], at: number) => bigint) =>
    BigInt64Array.from(decoded.flatMap((each) => each.kept.map((at) => column(each, at))))
  const hot_count = decoded.reduce((most, { events }) => Math.max(most, events.hot.length), 0)
  return {
    upto,
    events: {
      seq: decoded.flatMap(({ section, kept }) => kept.map((_, index) => section.seq_from + 1 + index)),
      inserted_at: times(({ section }) => section.inserted_at),
      uuid: all(({ uuid }) => uuid),
      event: all(({ event }) => event),
      distinct_id: all(({ distinct_id }) => distinct_id),
      timestamp: times(({ events }, at) => events.timestamp[at]!),
      created_at: times(({ events }, at) => events.created_at[at]!),
      elements_chain: all(({ elements_chain }) => elements_chain),
      person_mode: all(({ person_mode }) => person_mode),
      person_id: all(({ person_id }) => person_id),
      person_properties: all(({ person_properties }) => person_properties),
      properties: all(({ properties }) => properties),
      hot: Array.from({ length: hot_count }, (_, index) => all(({ hot }) => hot[index]!)),
    },
    copies: decoded.map(({ section, copies }) => ({ copies, changed_at: section.inserted_at })),
  }
}

function keptOf({ count, repeats }: Section): number[] {
  const left_out = new Set(repeats)
  return Array.from({ length: count }, (_, index) => index).filter((index) => !left_out.has(index))
}

/** Each file is opened once: sections come in the order of their files. */
function withFiles<Result>(
  sections: readonly Section[],
  work: (section: Section, bytes: Buffer) => Result,
): Result[] {
  let opened: { path: string; descriptor: number } | null = null
  try {
    return sections.map((section) => {
      if (opened?.path !== section.path) {
        if (opened) closeSync(opened.descriptor)
        opened = { path: section.path, descriptor: openSync(section.path, 'r') }
      }
      const bytes = Buffer.alloc(section.bytes)
      readSync(opened.descriptor, bytes, 0, section.bytes, section.offset)
      return work(section, bytes)
    })
  } finally {
    // The closure hides from the compiler that it may have been set.
    const last = opened as { descriptor: number } | null
    if (last) closeSync(last.descriptor)
  }
}
