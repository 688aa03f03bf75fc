// Every answer that must not let anybody in.
import { FORGED, HOSTILE_XML } from './forged.ts'
import type { HostileAnswer } from './hostile-answer.ts'
import { MISDIRECTED } from './misdirected.ts'
import { WRAPPED } from './wrapped.ts'

export const HOSTILE_ANSWERS: readonly HostileAnswer[] = [
  ...WRAPPED,
  ...FORGED,
  ...HOSTILE_XML,
  ...MISDIRECTED,
]
