// Decides where a body is read: small ones here, in turns, and those that would hold up the main thread in another.
import { LoopTurns } from '../../../lib/loop-turns.ts'
import { LargeBodies } from './large-bodies.ts'
import { MAX_VALUES } from './parse-json.ts'
import { readCapture, readValue, type CaptureBody, type Reading, type ReadLimits } from './read-capture.ts'
import { Refusal } from './refusal.ts'
import type { Packed } from './unpack.ts'

/** Senders are told apart by their network: what one sends does not hold up the others. */
export type Reader = {
  /** Throws a Refusal or StoreBusy. */
  read(body: CaptureBody, sender: string): Promise<Reading>
  /** For bodies that are always small: the value as it is, and the token beside it. Throws a Refusal. */
  readSmall(packed: Packed, sender: string): Promise<{ value: unknown; outer_token: unknown }>
  close(): Promise<void>
}

const KB = 1024
const ELSEWHERE: ReadLimits = { bytes: 20 * KB * KB, costly_bytes: 20 * KB * KB, values: MAX_VALUES }
/** Whatever keeps these takes some ten milliseconds at worst, and a batch of a hundred events keeps them. */
const HERE: ReadLimits = { bytes: 256 * KB, costly_bytes: 16 * KB, values: 5_000 }

export function openReader(): Reader {
  const large = new LargeBodies()
  const turns = new LoopTurns()
  const turnOf =
    ({ bytes }: Packed, sender: string) =>
    () =>
      turns.take(sender, bytes.length)
  return {
    async read(body, sender) {
      if (body.bytes.length > HERE.bytes) return large.read(body, ELSEWHERE, sender)
      try {
        return await readCapture(body, HERE, turnOf(body, sender))
      } catch (error) {
        // Small on the wire, large when unpacked, perhaps without end.
        if (error instanceof Refusal && error.fault.code === 'payload_too_large')
          return large.read(body, ELSEWHERE, sender)
        throw error
      }
    },
    readSmall: (packed, sender) => readValue(packed, HERE, turnOf(packed, sender)),
    close: () => large.close(),
  }
}
