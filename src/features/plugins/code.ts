// From files to what is stored of them: scripts, and what the code offers. Reading code takes a compiler and a sandbox,
// so it is done before any transaction.
import { storableText } from '../../lib/storable-text.ts'
import type { Db } from '../../platform/db/database.ts'
import { AppFault, type Offer, type Sandbox } from '../../platform/sandbox/sandbox.ts'
import { deleteFiles, writeFile, type StoredFile } from './file-queries.ts'
import type { PluginColumns } from './queries.ts'
import { removesWhenTried } from './removal.ts'
import { loadError, storableErrors, writeErrors, type SourceError } from './source-errors.ts'
import { isForPages, transpileFile } from './transpile.ts'
import { uncalledErrors } from './uncalled-code.ts'

export const CODE_FILE = 'index.ts'
const MAX_NAME_BYTES = 200
const NOTHING_OFFERED = { capabilities: {}, metrics: {} }

type CodeColumns = Partial<Pick<PluginColumns, 'capabilities' | 'metrics' | 'errors' | 'removes'>>
export type ReadCode = { files: StoredFile[]; columns: CodeColumns }

/** `stored` are the files as they were: what is the same need not be translated again. */
export async function readCode(
  sandbox: Sandbox,
  sources: ReadonlyMap<string, string>,
  stored: readonly StoredFile[] = [],
): Promise<ReadCode> {
  const known = new Map(stored.map((file) => [file.filename, file]))
  const files: StoredFile[] = []
  const errors: SourceError[] = []
  for (const [filename, source] of sources) {
    const old = known.get(filename)
    // A file with errors is translated again: the place of each is not kept with it.
    const isKnown = old?.source === source && old.status !== 'ERROR'
    files.push(isKnown ? old : await translate(filename, source, errors))
  }
  const code = files.find(({ filename }) => filename === CODE_FILE)
  const hadCode = known.has(CODE_FILE)
  const hasPages = files.some(({ filename }) => isForPages(filename))
  const columns = code ? await inspect(sandbox, code, { hadCode, hasPages }, errors) : withoutCode(hadCode)
  return { files, columns: { ...columns, errors: storableErrors(errors) } }
}

async function translate(filename: string, source: string, errors: SourceError[]): Promise<StoredFile> {
  const result = await transpileFile(filename, source)
  const found = result.status === 'ERROR' ? storableErrors(result.errors) : []
  errors.push(...found)
  return {
    filename,
    source,
    status: result.status,
    transpiled: result.status === 'TRANSPILED' ? result.transpiled : null,
    mappings: result.status === 'TRANSPILED' ? result.mappings : null,
    error: result.status === 'ERROR' ? writeErrors(found) : null,
  }
}

/** Code that does not load leaves standing what is known of its predecessor, and nothing where it has none. */
async function inspect(
  sandbox: Sandbox,
  { transpiled, mappings }: StoredFile,
  { hadCode, hasPages }: { hadCode: boolean; hasPages: boolean },
  errors: SourceError[],
): Promise<CodeColumns> {
  const asBefore = hadCode ? {} : NOTHING_OFFERED
  if (transpiled === null) return asBefore
  try {
    const offer = await sandbox.inspect(transpiled, mappings)
    errors.push(...uncalledErrors(CODE_FILE, offer, hasPages))
    return { ...storableOffer(offer), removes: await removesWhenTried(sandbox, offer, transpiled) }
  } catch (fault) {
    if (!(fault instanceof AppFault)) throw fault
    errors.push(loadError(CODE_FILE, fault))
    return asBefore
  }
}

/** Names come from the code, and may hold what the database does not take. */
function storableOffer({ capabilities, metrics }: Offer): CodeColumns {
  const names = (list: readonly string[]) => list.map((name) => storableText(name, MAX_NAME_BYTES))
  return {
    capabilities: {
      scheduled_tasks: names(capabilities.scheduled_tasks),
      jobs: names(capabilities.jobs),
      methods: capabilities.methods,
    },
    metrics: Object.fromEntries(
      Object.entries(metrics).map(([name, kind]) => [storableText(name, MAX_NAME_BYTES), kind]),
    ),
  }
}

/** Without code a plugin offers what its owner says; what the code said goes with it. */
function withoutCode(hadCode: boolean): CodeColumns {
  return hadCode ? { ...NOTHING_OFFERED, removes: false } : {}
}

/** Names of the files that differ, gone ones included. */
export function changedFiles(before: readonly StoredFile[], after: readonly StoredFile[]): string[] {
  const old = new Map(before.map(({ filename, source }) => [filename, source]))
  const kept = new Set(after.map(({ filename }) => filename))
  return [
    ...after.filter(({ filename, source }) => old.get(filename) !== source).map(({ filename }) => filename),
    ...[...old.keys()].filter((filename) => !kept.has(filename)),
  ]
}

export async function storeFiles(
  tx: Db,
  plugin_id: number,
  before: readonly StoredFile[],
  after: readonly StoredFile[],
  now: Date,
): Promise<void> {
  const changed = new Set(changedFiles(before, after))
  for (const file of after.filter(({ filename }) => changed.delete(filename))) {
    await writeFile(tx, plugin_id, file, now)
  }
  if (changed.size > 0) await deleteFiles(tx, plugin_id, [...changed])
}
