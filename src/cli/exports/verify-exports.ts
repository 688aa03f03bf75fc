// Exports verified now, in this process or by the server that is running: either way the results are in the database.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ExportRow } from '../../features/batch-exports/rows.ts'
import { listByIds } from '../../features/batch-exports/verification/read-queries.ts'
import { enqueueRequest } from '../../features/batch-exports/verification/request.ts'
import { EVERYTHING, type VerificationRow } from '../../features/batch-exports/verification/rows.ts'
import { Verifier } from '../../features/batch-exports/verification/verifier.ts'
import type { Db } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import { UserError } from '../command.ts'

const LOOK_EVERY_MS = 200

/** Without services a server does it. Each result is told as soon as it is there. */
export async function verifyExports(
  db: Db,
  services: Services | null,
  rows: readonly ExportRow[],
  signal: AbortSignal,
  tell: (row: ExportRow, result: VerificationRow) => void,
): Promise<void> {
  const waiting = new Map<string, ExportRow>()
  for (const row of rows) {
    waiting.set((await enqueueRequest(db, row, EVERYTHING, new Date())).id, row)
  }
  const verifier = services && new Verifier(services, { only: [...waiting.keys()] })
  await verifier?.start({ takes_over: true })
  try {
    while (waiting.size > 0) {
      if (signal.aborted) throw new UserError('stopped before the end')
      await sleep(LOOK_EVERY_MS)
      for (const result of await listByIds(db, [...waiting.keys()])) {
        if (result.finished_at === null) continue
        tell(waiting.get(result.id)!, result)
        waiting.delete(result.id)
      }
    }
  } finally {
    await verifier?.close()
  }
}
