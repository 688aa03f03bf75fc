// The code that is tried: as it is saved, in the folder of a local plugin, or as it was sent to be tried.
import type { Db } from '../../../platform/db/database.ts'
import { invalid } from '../../../platform/http/errors.ts'
import { AppFault } from '../../../platform/sandbox/sandbox.ts'
import type { Services } from '../../../platform/services.ts'
import { CODE_FILE } from '../code.ts'
import { listFiles } from '../file-queries.ts'
import type { PluginRow } from '../rows.ts'
import { loadError, storableErrors, writeErrors, type SourceError } from '../source-errors.ts'
import { readLocalSource } from '../sources/local.ts'
import { isForPages, transpileFile } from '../transpile.ts'
import { uncalledErrors } from '../uncalled-code.ts'

export type Script = {
  code: string
  mappings: string | null
  methods: ReadonlySet<string>
  /** What is known to be wrong with it although it can be translated. */
  errors: readonly SourceError[]
}

/** Code that does not run, and where it is wrong if that is known. */
export class BrokenCode extends AppFault {
  constructor(
    message: string,
    readonly errors: readonly SourceError[],
    details: { name?: string; stack?: string } = { name: 'SyntaxError' },
  ) {
    super('load', message, details)
  }
}

/** Throws BrokenCode for code that cannot be translated. */
export async function readSavedScript({ settings }: Services, db: Db, plugin: PluginRow): Promise<Script> {
  const { id, plugin_type, url, capabilities, errors } = plugin
  const methods = new Set(capabilities.methods ?? [])
  if (plugin_type === 'local' && url !== null) {
    const source = (await readLocalSource(settings, url)).files.get(CODE_FILE)
    if (source === undefined) throw nothingToRun()
    // Stored errors are those of the folder as it was.
    return { ...(await translate(source)), methods, errors: [] }
  }
  const file = (await listFiles(db, id)).find(({ filename }) => filename === CODE_FILE)
  if (!file) throw nothingToRun()
  if (file.transpiled === null) throw new BrokenCode(file.error ?? '', errors)
  const ofCode = errors.filter((error) => error.file === CODE_FILE)
  return { code: file.transpiled, mappings: file.mappings, methods, errors: ofCode }
}

/** What was sent is translated and looked at as saving it would do, and then forgotten. */
export async function readSentScript(
  { sandbox }: Services,
  db: Db,
  plugin: PluginRow,
  source: string,
): Promise<Script> {
  const { code, mappings } = await translate(source)
  const hasPages = (await listFiles(db, plugin.id)).some(({ filename }) => isForPages(filename))
  try {
    const offer = await sandbox.inspect(code, mappings)
    const errors = storableErrors(uncalledErrors(CODE_FILE, offer, hasPages))
    return { code, mappings, methods: new Set(offer.capabilities.methods), errors }
  } catch (fault) {
    if (!(fault instanceof AppFault)) throw fault
    throw new BrokenCode(fault.message, storableErrors([loadError(CODE_FILE, fault)]), fault.error)
  }
}

async function translate(source: string): Promise<{ code: string; mappings: string | null }> {
  const result = await transpileFile(CODE_FILE, source)
  if (result.status === 'TRANSPILED') return { code: result.transpiled, mappings: result.mappings }
  const errors = result.status === 'ERROR' ? storableErrors(result.errors) : []
  throw new BrokenCode(writeErrors(errors), errors)
}

const nothingToRun = () => invalid(null, 'invalid_input', 'The plugin has no code to run.')
