// A process that answers one question at a time. What users ask runs here, where it can be killed without harm: it holds
// nothing that is not in files, knows no secrets, and has only so much memory.
import { setPriority } from 'node:os'
import type { StoreAnswer } from '../../event-store.ts'
import { serveCalls, type Handlers } from '../calls.ts'
import { openInstance } from '../database.ts'
import { faultOf } from '../faults.ts'
import { Interrupts } from '../interrupts.ts'
import { projectFolder, projectsFolder } from '../segments/manifest.ts'
import { rewriteSegment } from '../segments/rewrite.ts'
import { Views } from '../segments/views.ts'
import { explainSources } from './explain-sources.ts'
import type { Part, QueryCalls, QueryOptions } from './messages.ts'
import { readAnswer } from './read.ts'

const ROWS_PER_PART = 500

async function open({ folder, timeout_ms, ...options }: QueryOptions): Promise<Handlers<QueryCalls>> {
  const instance = await openInstance({ ...options, folders: [projectsFolder(folder)] })
  const connection = await instance.connect()
  const views = new Views(connection)
  let rest: StoreAnswer['rows'] = []
  const nextPart = (rows: StoreAnswer['rows']): Part => {
    rest = rows.slice(ROWS_PER_PART)
    return { rows: rows.slice(0, ROWS_PER_PART), rest: rest.length > 0 ? 1 : null }
  }
  return {
    async query(query, manifest, signal) {
      const { project_id } = query
      const files = projectFolder(folder, project_id)
      if (manifest) await views.show(files, project_id, manifest)
      const { properties = [], isExplained } = query
      if (properties.length > 0) {
        await views.ask(files, project_id, properties).catch((error: unknown) => {
          throw faultOf(error, false) ?? error
        })
      }
      const { columns, rows } = await readAnswer(connection, query, timeout_ms, signal)
      const sources = isExplained
        ? { sources: await explainSources(connection, files, views.manifest(project_id), properties) }
        : {}
      return { columns, ...sources, ...nextPart(rows) }
    },
    more: () => nextPart(rest),
    async rewrite(project_id, order, signal) {
      const interrupts = new Interrupts(connection, signal)
      try {
        return await rewriteSegment(connection, projectFolder(folder, project_id), order)
      } finally {
        interrupts.end()
      }
    },
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

/** The server is gone: whatever is at work here, nobody wants it. */
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
const options = JSON.parse(process.argv[2]!) as QueryOptions
// Where priorities are not for us to set, all are equal.
try {
  setPriority(options.priority)
} catch {
  // It goes on as it is.
}

await serveCalls<QueryCalls>(
  {
    post: (message) => void process.send!(message),
    onMessage: (take) => void process.on('message', take),
    end: () => process.disconnect(),
  },
  () => open(options),
)
