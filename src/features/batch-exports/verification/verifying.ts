// One verification at work, as its steps see it, and what they share.
import { rm } from 'node:fs/promises'
import type { ExportRows } from '../../../platform/event-store/export-rows.ts'
import type { Services } from '../../../platform/services.ts'
import { joinBlocks, MAX_PIECE_ROWS, planPieces } from '../formats/plan.ts'
import type { ExportRow } from '../rows.ts'
import type { Findings } from './findings.ts'
import type { PlaceReader } from './reader/destination-reader.ts'
import type { Subject } from './rows.ts'

export type Verifying = {
  services: Services
  row: ExportRow
  subject: Subject
  findings: Findings
  reader: PlaceReader
  /** For files that are needed for a while; whoever began the verification removes it. */
  folder: string
  signal: AbortSignal
  /** Called between steps: waits while runs wait, and throws when the verification was stopped. */
  giveWay(): Promise<void>
}

/** Rows of one or two short columns: some ten megabytes. */
export const NARROW_ROWS = 250_000

type Reading = { kind: 'json-lines' | 'copy-text'; max_rows?: number }

/** The rows as files, one after the other, each gone when it was used. How many rows there are. */
export async function forEachPiece(
  { services, signal, giveWay }: Verifying,
  rows: ExportRows,
  { kind, max_rows = MAX_PIECE_ROWS }: Reading,
  use: (path: string) => Promise<void>,
): Promise<number> {
  const { eventStore } = services
  const plan = await planPieces(eventStore, rows, signal)
  for (const piece of joinBlocks(plan.pieces, max_rows)) {
    await giveWay()
    const { path } = await eventStore.exportRows(rows, piece, { kind }, signal)
    try {
      await use(path)
    } finally {
      await rm(path, { force: true })
    }
  }
  return plan.rows
}
