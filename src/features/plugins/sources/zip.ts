// Zip archives, from memory. Sizes that entries claim are held against what is read.
import { fromBufferPromise, getFileNameLowLevel, type Entry, type ZipFile } from 'yauzl'
import { ApiError } from '../../../platform/http/errors.ts'
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
import { badSource } from './faults.ts'

const FILE_TYPE = 0o170000
const SYMLINK = 0o120000

export async function openZip(bytes: Buffer): Promise<Files> {
  // Names are decoded here: yauzl would refuse the whole archive for one that leads out of it.
  const zip = await readable(() =>
    fromBufferPromise(bytes, { decodeStrings: false, validateEntrySizes: true }),
  )
  const files = belowTopFolder(await readable(() => listEntries(zip)))
  let left = MAX_UNPACKED_BYTES
  return {
    async read(path) {
      const entry = files.get(path)
      if (!entry) return null
      if (entry.isEncrypted()) throw badSource(`${path} in the archive is encrypted.`)
      if (entry.uncompressedSize > left) throw tooLarge()
      const content = await readable(() => readEntry(zip, entry, left))
      left -= content.length
      return toText(path, content)
    },
  }
}

async function listEntries(zip: ZipFile): Promise<[string, Entry][]> {
  if (zip.entryCount > MAX_ENTRIES) throw tooMany()
  const entries: [string, Entry][] = []
  for await (const entry of zip.eachEntry()) {
    if (((entry.externalFileAttributes >>> 16) & FILE_TYPE) === SYMLINK) continue
    entries.push([
      getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, false),
      entry,
    ])
  }
  return entries
}

async function readEntry(zip: ZipFile, entry: Entry, max_bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of await zip.openReadStreamPromise(entry)) {
    bytes += (chunk as Buffer).length
    if (bytes > max_bytes) throw tooLarge()
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

/** yauzl's own errors speak of offsets and signatures. */
async function readable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ApiError ? error : unreadable()
  }
}
