// Apps have no timers. Buffers need one all the same, so that what they hold is not held for ever.
import { ask } from './host.ts'

const alarms = new Map<number, () => void>()
let last_alarm = 0

/** Call the answer to take it back. */
export function setAlarm(delay_ms: number, ring: () => void): () => void {
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
