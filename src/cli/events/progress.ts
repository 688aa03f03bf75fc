// How far events have got on their way in, in words.
import { inDigits, perSecond, showProgress } from '../terminal/progress.ts'

export type EventsSoFar = {
  /** Between 0 and 1. */
  share: number
  events: number
  kept_aside: number
}

export function showEventProgress(label: string): { update(so_far: EventsSoFar): void; stop(): void } {
  const started = Date.now()
  const display = showProgress(label)
  return {
    update({ share, events, kept_aside }) {
      const aside = kept_aside === 0 ? '' : `, ${inDigits(kept_aside)} kept aside`
      display.update(share, `${inDigits(events)} events, ${inDigits(perSecond(events, started))}/s${aside}`)
    },
    stop: () => display.stop(),
  }
}
