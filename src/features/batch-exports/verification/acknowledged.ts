// Destinations that nothing can be read back from, but that acknowledge what they take batch by batch: what was acknowledged
// against what was to be sent.
import { z } from 'zod'
import { planPieces } from '../formats/plan.ts'
import { readFrozen, selectionOf } from '../runs/frozen.ts'
import { repairAdvice } from './advice.ts'
import { eachDelivery, hasMoved, type DeliveryPlace } from './deliveries.ts'
import type { Verifying } from './verifying.ts'

const Acknowledged = z.object({ rows: z.int() })

export async function verifyAcknowledged(work: Verifying, place: DeliveryPlace): Promise<void> {
  const { services, row, subject, findings, signal } = work
  const { db, eventStore } = services
  for await (const run of eachDelivery(db, row, subject, place)) {
    const progress = Acknowledged.safeParse(run.progress)
    if (!progress.success) continue
    await work.giveWay()
    const { rows } = progress.data
    const selection = selectionOf(eventStore, await readFrozen(db, run))
    const plan = await planPieces(eventStore, selection.rows, signal)
    findings.read.runs++
    findings.read.rows += rows
    if (rows === plan.rows || (await hasMoved(db, run))) continue
    findings.add({
      kind: 'unacknowledged_batches',
      run: run.id,
      file: null,
      uuid: null,
      position: null,
      message: `The endpoint has acknowledged ${rows} of ${plan.rows} events.`,
      what_to_do: repairAdvice(row, run),
    })
  }
}
