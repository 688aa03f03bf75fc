// The state of the whole, from those of its parts.
import type { Schema } from '../api/client'
import type { StatusKind } from '../ui/Status'

export type Instance = Schema<'InstanceStatus'>
export type Part<Name extends keyof Instance> = Instance[Name]

export const STATES: Readonly<Record<'ok' | 'note' | 'wrong', StatusKind>> = {
  ok: 'delivered',
  note: 'held',
  wrong: 'failed',
}

export function healthOf({ stores, failed }: Pick<Instance, 'stores' | 'failed'>): {
  kind: StatusKind
  text: string
} {
  const wrong = [
    ...(stores ?? []).filter(({ state }) => state === 'wrong').map(({ what }) => what),
    ...failed.map(({ part }) => part),
  ]
  if (wrong.length > 0) return { kind: 'failed', text: `not well: ${wrong.join(', ')}` }
  const notes = (stores ?? []).filter(({ state }) => state === 'note')
  if (notes.length > 0) return { kind: 'held', text: notes.map(({ detail }) => detail).join(', ') }
  return { kind: 'delivered', text: 'everything answers' }
}

/** Entries of a queue that hold something, longest first. */
export function busyQueues(queues: Readonly<Record<string, unknown>>): [name: string, count: number][] {
  return Object.entries(queues)
    .map(([name, count]): [string, number] => [name, Number(count)])
    .filter(([, count]) => count > 0)
    .sort(([, one], [, other]) => other - one)
}
