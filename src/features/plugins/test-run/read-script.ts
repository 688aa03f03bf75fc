// The script of a plugin, from the database or, of a local one, from its folder.
import type { Db } from '../../../platform/db/database.ts'
import { invalid } from '../../../platform/http/errors.ts'
import { AppFault } from '../../../platform/sandbox/sandbox.ts'
import type { Services } from '../../../platform/services.ts'
import { CODE_FILE } from '../code.ts'
import { listFiles } from '../file-queries.ts'
import type { PluginRow } from '../rows.ts'
import { writeErrors } from '../source-errors.ts'
import { readLocalSource } from '../sources/local.ts'
import { transpileFile } from '../transpile.ts'

export type Script = { code: string; mappings: string | null }

/** Throws AppFault for code that cannot be translated. */
export async function readScript({ settings }: Services, db: Db, plugin: PluginRow): Promise<Script> {
  const { id, plugin_type, url } = plugin
  if (plugin_type === 'local' && url !== null) {
    const source = (await readLocalSource(settings, url)).files.get(CODE_FILE)
    if (source === undefined) throw nothingToRun()
    const result = await transpileFile(CODE_FILE, source)
    if (result.status !== 'TRANSPILED')
      throw doesNotLoad(result.status === 'ERROR' ? writeErrors(result.errors) : '')
    return { code: result.transpiled, mappings: result.mappings }
  }
  const file = (await listFiles(db, id)).find(({ filename }) => filename === CODE_FILE)
  if (!file) throw nothingToRun()
  if (file.transpiled === null) throw doesNotLoad(file.error ?? '')
  return { code: file.transpiled, mappings: file.mappings }
}

const nothingToRun = () => invalid(null, 'invalid_input', 'The plugin has no code to run.')
const doesNotLoad = (error: string) => new AppFault('load', error, { name: 'SyntaxError' })
