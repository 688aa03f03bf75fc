// The bench's side of measured processes.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { startAgain } from '../../start-again.ts'
import type { Bucket } from './bare.ts'
import type { Destination, Exported, ExportOptions, Measured, Order } from './measured-process.ts'
import type { SampleStore } from './sample-store.ts'

/** Throws unless all events went out. */
export async function exportTo(
  store: SampleStore,
  destination: Destination,
  options: ExportOptions = {},
): Promise<Exported> {
  const { answer } = await start<Exported>({ kind: 'export', store, destination, ...options })
  const { rows, taken_before } = answer
  if (rows + taken_before !== store.events) throw new Error(`${rows} of ${store.events} events were exported`)
  return answer
}

export async function copy(order: Omit<Extract<Order, { kind: 'copy' }>, 'kind'>): Promise<Measured> {
  return (await start<Measured>({ kind: 'copy', ...order })).answer
}

export async function startS3(bucket_name: string): Promise<{ bucket: Bucket; stop(): Promise<void> }> {
  const { answer, child } = await start<Bucket>({ kind: 's3', bucket_name })
  return {
    bucket: answer,
    async stop() {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}

async function start<Answer>(order: Order): Promise<{ answer: Answer; child: ChildProcess }> {
  const child = startAgain({ BENCH_EXPORT_ORDER: JSON.stringify(order) })
  const left = once(child, 'disconnect').then(() => {
    throw new Error(`a measured process (${order.kind}) ended without an answer`)
  })
  // Also when it has answered it ends at some time.
  left.catch(() => undefined)
  const [answer] = (await Promise.race([once(child, 'message'), left])) as [Answer]
  if (order.kind !== 's3') await once(child, 'exit')
  return { answer, child }
}
