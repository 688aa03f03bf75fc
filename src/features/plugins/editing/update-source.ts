// Files of a plugin that is written here: named ones are replaced or deleted, the others stay.
import { invalid } from '../../../platform/http/errors.ts'
import type { PluginChange } from '../change.ts'
import { CODE_FILE, readCode } from '../code.ts'
import { besideCode, fieldColumns, manifestColumns } from '../columns.ts'
import type { StoredFile } from '../file-queries.ts'
import { ManifestFault, readManifestFields, type Manifest } from '../manifest.ts'
import type { PluginRow } from '../rows.ts'
import { PluginUpdate, type PluginFields, type SourceUpdate } from '../schema.ts'
import { MAX_SOURCE_BYTES } from '../transpile.ts'
import { replaceCode, type PluginWithFiles } from './replace-code.ts'

export const MANIFEST = 'plugin.json'
const MAX_FILES = 100
const MAX_FILENAME = 200

export async function updateSource(
  change: PluginChange,
  { id, url }: PluginRow,
  body: SourceUpdate,
): Promise<PluginWithFiles> {
  const edits = readEdits(body)
  const given = fieldColumns(fieldsOf(body))
  if (url !== null) {
    throw invalid(
      null,
      'invalid_input',
      'An installed plugin cannot be edited: the next upgrade would undo it.',
    )
  }
  return replaceCode(change, id, 'source_updated', async ({ files }) => {
    const sources = edited(files, edits)
    const manifest = sources.get(MANIFEST)
    const said = manifest === undefined ? {} : manifestColumns(readManifestFile(manifest))
    const code = await readCode(change.services.sandbox, sources, files)
    const fields = sources.has(CODE_FILE) ? besideCode(given) : given
    return { columns: { ...fields, ...said, ...code.columns }, files: code.files }
  })
}

type Edits = ReadonlyMap<string, string | null>

function readEdits(body: SourceUpdate): Edits {
  const edits = new Map<string, string | null>()
  for (const [name, value] of Object.entries(body)) {
    if (!name.includes('.')) continue
    if (Array.from(name).length > MAX_FILENAME) {
      throw invalid(null, 'max_length', `A file name can have ${MAX_FILENAME} characters at most.`)
    }
    if (typeof value !== 'string' && value !== null) {
      throw invalid(name, 'invalid_input', 'A file is a text, or null to delete it.')
    }
    edits.set(name, value)
  }
  return edits
}

function fieldsOf(body: SourceUpdate): PluginFields {
  return PluginUpdate.strip().parse(body)
}

function edited(files: readonly StoredFile[], edits: Edits): Map<string, string> {
  const sources = new Map(files.map(({ filename, source }) => [filename, source]))
  for (const [filename, source] of edits) {
    if (source === null) sources.delete(filename)
    else sources.set(filename, source)
  }
  if (sources.size > MAX_FILES) {
    throw invalid(null, 'invalid_input', `A plugin can have ${MAX_FILES} files at most.`)
  }
  const sizes = [...sources].map(([filename, source]) => ({ filename, bytes: Buffer.byteLength(source) }))
  if (sizes.reduce((sum, { bytes }) => sum + bytes, 0) > MAX_SOURCE_BYTES) {
    const largest = sizes.reduce((one, other) => (other.bytes > one.bytes ? other : one))
    throw invalid(largest.filename, 'max_length', 'All files together can have 5 MB at most.')
  }
  return sources
}

/** 400 for what is no manifest. */
export function readManifestFile(text: string): Partial<Manifest> {
  try {
    return readManifestFields(text)
  } catch (fault) {
    if (fault instanceof ManifestFault) throw invalid(MANIFEST, 'invalid_input', fault.message)
    throw fault
  }
}
