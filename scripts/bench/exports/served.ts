// The built program with an export that is asked for over HTTP, as its users meet it.
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import type { Program } from '../../../test/end-to-end/program.ts'
import type { Destination } from './measured-process.ts'
import { KEY, settingsOf, type SampleStore } from './sample-store.ts'

const EXPORTS = '/api/projects/@current/batch_exports/'
const LOOK_EVERY_MS = 100

type Json = Record<string, unknown>
type Run = { status: string; records_completed: number; files: { name: string; bytes: number }[] }

export type Served = {
  pid: number
  get(path: string): Promise<Json>
  /** One run over all events. Throws unless all of them are in the file. */
  exportAll(config: Destination['config']): Promise<void>
  stop(): Promise<void>
}

export async function serve(
  program: Program,
  store: SampleStore,
  settings: Record<string, string> = {},
): Promise<Served> {
  const server = program.serve({ ...settingsOf(store.folder), ...settings })
  const pool = new Pool(await server.url, { connections: 8 })
  const ask = async (method: 'GET' | 'POST', path: string, body?: Json): Promise<Json> => {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
    const answer = await pool.request({
      method,
      path,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await answer.body.text()
    if (answer.statusCode >= 300) throw new Error(`${path} answered ${answer.statusCode}: ${text}`)
    return JSON.parse(text) as Json
  }
  return {
    pid: server.pid,
    get: (path) => ask('GET', path),
    async exportAll(config) {
      const destination = { type: 'File', config: { prefix: 'bench/{export_id}', ...config } }
      const made = await ask('POST', EXPORTS, { name: 'Bench', interval: 'week', paused: true, destination })
      const path = `${EXPORTS}${String(made.id)}/`
      await ask('POST', `${path}backfills/`, { start_at: store.start_at, end_at: store.end_at })
      await checkFile(store, await finishedRun(() => ask('GET', path)))
    },
    async stop() {
      await pool.close()
      server.kill('SIGTERM')
      await server.ended
    },
  }
}

async function finishedRun(look: () => Promise<Json>): Promise<Run> {
  for (;;) {
    const [run] = (await look()).latest_runs as Run[]
    if (run && !['Starting', 'Running'].includes(run.status)) return run
    await sleep(LOOK_EVERY_MS)
  }
}

async function checkFile({ folder, project_id, events }: SampleStore, run: Run): Promise<void> {
  const [file] = run.files
  if (run.status !== 'Completed' || run.records_completed !== events || !file) {
    throw new Error(`the run ended as ${run.status} with ${run.records_completed} of ${events} events`)
  }
  const path = join(folder, 'exports', String(project_id), file.name)
  if ((await stat(path)).size !== file.bytes) throw new Error(`${file.name} is not as long as the run says`)
  await rm(path)
}
