// Takes whatever comes and drops it. A run of it shows that schedules, filters and encoding work, and delivers nothing.
import type { Destination } from '../destination.ts'
import type { NoOpConfig } from './kind.ts'

export const noOp: Destination<NoOpConfig> = {
  encoding: () => ({ format: 'JSONLines', compression: null, max_bytes: null, max_rows: null }),
  steps: [],
  open: async () => ({
    write: async () => {},
    finish: async () => ({ rows: 0, files: [] }),
    abort: async () => {},
  }),
  inspect: null,
}
