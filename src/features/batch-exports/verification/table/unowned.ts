// Rows of a table that say no project. No run has delivered them where every run says whose its rows are; but another export
// may bring rows that do not say it.
import type { DeliveryPlace } from '../deliveries.ts'
import { listTableNeighbours } from '../neighbours.ts'
import type { Verifying } from '../verifying.ts'

/** Called once the table's digests are there, which have `rows` of them. */
export async function passOverStrays(work: Verifying, place: DeliveryPlace, rows: number): Promise<void> {
  const { services, row, findings, reader } = work
  if (rows === 0 || (await listTableNeighbours(services.db, row, place)).length === 0) return
  await reader.passOverUnowned()
  findings.note('Rows without a team_id were not compared: another export goes to the same table.')
}
