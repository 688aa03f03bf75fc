// Decides where a body is read: small ones here and now, those that would hold up the main thread in another.
import { LargeBodies } from './large-bodies.ts'
import { readCapture, type CaptureBody, type Reading } from './read-capture.ts'
import { Refusal } from './refusal.ts'

export type Reader = {
  /** Throws a Refusal or StoreBusy. */
  read(body: CaptureBody): Promise<Reading>
  close(): Promise<void>
}

const MAX_UNPACKED = 20 * 1024 * 1024
/** Parsing this much JSON takes about four milliseconds. */
export const MAX_HERE = 512 * 1024
// Forms and LZ-string cost several times as much as JSON of the same size.
const MAX_COSTLY_HERE = 64 * 1024

export function openReader(): Reader {
  const large = new LargeBodies()
  return {
    async read(body) {
      if (body.bytes.length > (isCostly(body) ? MAX_COSTLY_HERE : MAX_HERE))
        return large.read(body, MAX_UNPACKED)
      try {
        return await readCapture(body, MAX_HERE)
      } catch (error) {
        // Small on the wire, large when unpacked, perhaps without end.
        if (error instanceof Refusal && error.fault.code === 'payload_too_large')
          return large.read(body, MAX_UNPACKED)
        throw error
      }
    },
    close: () => large.close(),
  }
}

function isCostly({ content_type = '', compression = '' }: CaptureBody): boolean {
  return /form/i.test(content_type) || /lz64/i.test(compression)
}
