// Holds what is stored of a project against what its senders know to be acknowledged.
import { FIELD, UNWANTED, type GuardedProject } from './apps.ts'

export type StoredRow = { uuid: string; event: string; properties: Record<string, unknown> }
type Sent = { uuid: string; event: string }

/** `dropped`: acknowledged and not stored, which only a project that drops may have. */
export function checkProject(
  { on_failure }: Pick<GuardedProject, 'on_failure'>,
  acknowledged: readonly Sent[],
  stored: readonly StoredRow[],
): { faults: string[]; dropped: number } {
  const there = new Set(stored.map(({ uuid }) => uuid))
  const missing = acknowledged.filter(({ uuid, event }) => event !== UNWANTED && !there.has(uuid)).length
  const counts = {
    'carry the field': stored.filter(({ properties }) => FIELD in properties).length,
    'were stored without an app': stored.filter(({ properties }) => '$plugins_failed' in properties).length,
    'should have been dropped': stored.filter(({ event }) => event === UNWANTED).length,
    'are there twice': stored.length - there.size,
    'are not as they were sent': stored.filter(({ properties }) => properties.kept !== true).length,
    'are lost': on_failure === 'hold' ? missing : 0,
  }
  const faults = Object.entries(counts).flatMap(([what, count]) =>
    count > 0 ? [`${on_failure}: ${count} events ${what}`] : [],
  )
  return { faults, dropped: on_failure === 'drop' ? missing : 0 }
}
