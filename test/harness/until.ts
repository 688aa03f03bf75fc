// Waits for what other processes, threads and timers do. The limit is against what hangs: a busy machine takes its time.
import { vi } from 'vitest'

const PATIENCE = { timeout: 60_000, interval: 20 }

/** Until it throws no longer; what it gives then. */
export const until = <Found>(check: () => Found | Promise<Found>): Promise<Found> =>
  vi.waitFor(check, PATIENCE)

export const untilTrue = (check: () => boolean | Promise<boolean>): Promise<boolean> =>
  vi.waitUntil(check, PATIENCE)
