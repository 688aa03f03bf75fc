// Writes zip archives, well-formed ones and, on demand, ones that lie.
import { crc32, deflateRawSync } from 'node:zlib'

export type ZipEntry = {
  name: string
  content?: string | Buffer
  /** Unix mode with file type, as in 0o120777 for a link. */
  mode?: number
  /** What the entry says of its size instead of the truth. */
  claimed_size?: number
  is_encrypted?: boolean
}

const FILE_MODE = 0o100644

export function zipFile(entries: readonly ZipEntry[]): Buffer {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    const name = Buffer.from(entry.name)
    const content = Buffer.from(entry.content ?? '')
    const packed = deflateRawSync(content)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    // Bit 0: encrypted; bit 11: the name is UTF-8.
    common.writeUInt16LE(0x800 | (entry.is_encrypted ? 1 : 0), 2)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(entry.claimed_size ?? content.length, 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([signature(0x04034b50), common, name, packed])
    const placed = Buffer.alloc(14)
    placed.writeUInt32LE(((entry.mode ?? FILE_MODE) << 16) >>> 0, 6)
    placed.writeUInt32LE(offset, 10)
    // Written by Unix, so that the mode counts.
    directory.push(signature(0x02014b50), Buffer.from([20, 3]), common, placed, name)
    bodies.push(local)
    offset += local.length
  }
  const listing = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(entries.length, 4)
  end.writeUInt16LE(entries.length, 6)
  end.writeUInt32LE(listing.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...bodies, listing, signature(0x06054b50), end])
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
