// The thread that answers requests goes before all that work at something longer, and those before what nobody waits for.
import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

const STEPS = { work: 5, leftovers: 15 }
const LAST = 19

export type Priority = keyof typeof STEPS

/** Of the calling thread and those that it starts. Only Linux has priorities by thread: elsewhere all are equal. */
export function standBack(priority: Priority): void {
  try {
    // The link ends with the number of the thread.
    const thread_id = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    setPriority(thread_id, Math.min(LAST, getPriority(thread_id) + STEPS[priority]))
  } catch {
    // It goes on as it is.
  }
}
