// Compressed tar archives, as npm keeps packages. Only what npm's and git's tar write is understood: plain files, long
// names by prefix, by pax record or by GNU entry. Links and everything else are passed over.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { errorCode } from '../../../lib/error-code.ts'
import {
  belowTopFolder,
  MAX_ENTRIES,
  MAX_UNPACKED_BYTES,
  tooLarge,
  tooMany,
  toText,
  unreadable,
  type Files,
} from './archive.ts'

const BLOCK = 512

export async function openTarGz(bytes: Buffer): Promise<Files> {
  const files = belowTopFolder(listFiles(await unpack(bytes)))
  return {
    async read(path) {
      const content = files.get(path)
      return content === undefined ? null : toText(path, content)
    },
  }
}

async function unpack(bytes: Buffer): Promise<Buffer> {
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: MAX_UNPACKED_BYTES })
  } catch (error) {
    throw errorCode(error) === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : unreadable()
  }
}

function* listFiles(tar: Buffer): Generator<[string, Buffer]> {
  let long_name: string | null = null
  let entries = 0
  let offset = 0
  while (offset + BLOCK <= tar.length && tar[offset] !== 0) {
    const header = tar.subarray(offset, offset + BLOCK)
    const size = readHeader(header, tar.length - offset - BLOCK)
    const content = tar.subarray(offset + BLOCK, offset + BLOCK + size)
    offset += BLOCK + Math.ceil(size / BLOCK) * BLOCK
    entries += 1
    if (entries > MAX_ENTRIES) throw tooMany()
    switch (textAt(header, 156, 1)) {
      case 'x':
        long_name = paxPath(content) ?? long_name
        break
      case 'L':
        long_name = textAt(content, 0, content.length)
        break
      case 'g':
        break
      case '':
      case '0':
        yield [long_name ?? nameOf(header), content]
        long_name = null
        break
      default:
        long_name = null
    }
  }
  if (entries === 0) throw unreadable()
}

/** The size of the entry, once the header has proved to be one. */
function readHeader(header: Buffer, bytes_left: number): number {
  let sum = 0
  header.forEach((byte, index) => (sum += index >= 148 && index < 156 ? 0x20 : byte))
  const size = octalAt(header, 124, 12)
  if (octalAt(header, 148, 8) !== sum || size === null || size > bytes_left) throw unreadable()
  return size
}

function octalAt(header: Buffer, offset: number, length: number): number | null {
  const text = textAt(header, offset, length).trim()
  return /^[0-7]{1,11}$/.test(text) ? Number.parseInt(text, 8) : null
}

function textAt(bytes: Buffer, offset: number, length: number): string {
  const field = bytes.subarray(offset, offset + length)
  const end = field.indexOf(0)
  return field.subarray(0, end === -1 ? field.length : end).toString()
}

function nameOf(header: Buffer): string {
  // GNU's own format ("ustar " with blanks) keeps times where the prefix would be.
  const prefix = header.toString('latin1', 257, 263) === 'ustar\0' ? textAt(header, 345, 155) : ''
  const name = textAt(header, 0, 100)
  return prefix === '' ? name : `${prefix}/${name}`
}

/** Records are `<length of the record> <key>=<value>\n`. */
function paxPath(content: Buffer): string | null {
  let path: string | null = null
  for (let offset = 0; offset < content.length;) {
    const blank = content.indexOf(0x20, offset)
    const length = blank === -1 ? NaN : Number(content.toString('latin1', offset, blank))
    if (!Number.isInteger(length) || length <= blank - offset || offset + length > content.length)
      throw unreadable()
    const record = content.toString('utf8', blank + 1, offset + length - 1)
    if (record.startsWith('path=')) path = record.slice('path='.length)
    offset += length
  }
  return path
}
