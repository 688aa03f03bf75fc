// Priorities of threads: answering requests comes first, longer work second, and work that nobody waits for last.
import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

const STEPS = { work: 5, background: 15 }
const LAST = 19

export type Priority = keyof typeof STEPS

/**
 * Lowers the priority of the calling thread and of those that it starts. Only Linux has priorities by thread; elsewhere
 * all threads stay equal.
 */
export function lowerPriority(priority: Priority): void {
  try {
    // The link ends with the thread's id.
    const thread_id = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    setPriority(thread_id, Math.min(LAST, getPriority(thread_id) + STEPS[priority]))
  } catch {
    // The thread keeps its priority.
  }
}
