// Lets every other thread of the machine go first.
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

const NICENESS = 15

/** Only Linux has priorities by thread, under the number that this link ends with. Elsewhere all are equal. */
export function standBack(): void {
  try {
    const thread_id = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    setPriority(thread_id, NICENESS)
  } catch {
    // It goes on as it is.
  }
}
