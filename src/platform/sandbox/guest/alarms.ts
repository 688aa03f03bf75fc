// Apps have no timers. Buffers need one all the same, so that what they hold is not held for ever.
import { ask } from './host.ts'

const alarms = new Map<number, () => unknown>()
let last_alarm = 0

/** Call the answer to take it back. */
export function setAlarm(delay_ms: number, ring: () => unknown): () => void {
  const id = ++last_alarm
  ask('setAlarm', id, delay_ms)
  alarms.set(id, ring)
  return () => {
    if (alarms.delete(id)) ask('clearAlarm', id)
  }
}

export function fireAlarm(id: number): void {
  const ring = alarms.get(id)
  alarms.delete(id)
  ring?.()
}

/** Resolves when everything that was waiting for its time has been done now. */
export async function ringAll(): Promise<void> {
  const rings = [...alarms.values()]
  await Promise.all(rings.map(async (ring) => ring()))
}
