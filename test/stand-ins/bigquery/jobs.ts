// Jobs of BigQuery's stand-in: loads of uploaded files, scripts and queries. A job runs on after its call was answered,
// and its id is taken once.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Exchange, Reply } from '../warehouse/cuttable-server.ts'
import { DATASET, failed, PROJECT, type Field } from './place.ts'
import { startQueries, valuesOf, type Query } from './queries.ts'
import { toDuckDb } from './sql.ts'
import { quoted, type Tables } from '../warehouse/tables.ts'

type Job = {
  jobReference: { projectId: string; jobId: string; location: string }
  status: { state: 'RUNNING' | 'DONE'; errorResult?: { reason: string; message: string } }
  statistics: Record<string, unknown>
}
type Configuration = { load?: Load; query?: Query }
type Load = { destinationTable: { projectId: string; datasetId: string; tableId: string } } & Record<
  string,
  unknown
>

export function startJobs(tables: Tables, fieldsOf: (table: string) => Field[]) {
  const jobs = new Map<string, Job>()
  const ends = new Map<string, Promise<unknown>>()
  const asked_to_stop: string[] = []
  const queries = startQueries(tables)
  let still_running = 0
  let questions = 0

  const start = (
    reference: Partial<Job['jobReference']>,
    work: () => Promise<Record<string, unknown>>,
  ): Reply => {
    const { projectId, location, jobId = randomUUID() } = reference
    if (projectId !== PROJECT || location !== 'EU') return failed(400, 'invalid', 'Invalid job reference')
    if (jobs.has(jobId)) return failed(409, 'duplicate', `Already Exists: Job ${PROJECT}:EU.${jobId}`)
    const job: Job = {
      jobReference: { projectId, location, jobId },
      status: { state: 'RUNNING' },
      statistics: {},
    }
    jobs.set(jobId, job)
    const end = work()
      .then((statistics) => Object.assign(job, { statistics, status: { state: 'DONE' } }))
      .catch((error: unknown) => {
        job.status = { state: 'DONE', errorResult: { reason: 'invalidQuery', message: String(error) } }
      })
    ends.set(jobId, end)
    return { status: 200, body: job }
  }

  /** It may come too late, as here always. */
  const cancel = (job_id: string): Reply => {
    const found = jobs.get(job_id)
    if (found === undefined) return failed(404, 'notFound', 'Not found: Job')
    asked_to_stop.push(job_id)
    return { status: 200, body: { job: found } }
  }

  return {
    asked_to_stop,
    questions: () => questions,
    /** The next so many questions after a job hear that it is running. */
    dawdle(answers: number): void {
      still_running = answers
    },
    upload({ method, url, headers, body }: Exchange): Reply {
      if (method !== 'POST' || url.searchParams.get('uploadType') !== 'multipart') {
        return failed(400, 'invalid', 'Invalid upload')
      }
      const [job, file] = partsOfUpload(headers['content-type'] ?? '', body)
      const { jobReference, configuration } = JSON.parse(job.toString()) as {
        jobReference: Job['jobReference']
        configuration: Configuration
      }
      const load = configuration.load
      if (load === undefined || !isLoad(load)) return failed(400, 'invalid', 'Invalid load')
      const table = load.destinationTable.tableId
      return start(jobReference, async () => {
        const rows = await loadFile(tables, table, fieldsOf(table), file)
        return { load: { outputRows: String(rows) } }
      })
    },
    async call({ method, url, body }: Exchange, path: string): Promise<Reply> {
      const job = /^\/jobs\/([^/]+)$/.exec(path)?.[1]
      if (method === 'GET' && job !== undefined) {
        const found =
          url.searchParams.get('location') === 'EU' ? jobs.get(decodeURIComponent(job)) : undefined
        if (found === undefined) return failed(404, 'notFound', 'Not found: Job')
        questions += 1
        if (still_running > 0) {
          still_running -= 1
          return { status: 200, body: { ...found, status: { state: 'RUNNING' } } }
        }
        // Waiting here makes the number of exchanges the same every time, so that each can be cut.
        await ends.get(found.jobReference.jobId)
        return { status: 200, body: found }
      }
      const asked = /^\/queries\/([^/]+)$/.exec(path)?.[1]
      if (method === 'GET' && asked !== undefined) return queries.nextPage(decodeURIComponent(asked), url)
      if (method !== 'POST') return failed(405, 'invalid', 'Method not allowed')
      const cancelled = /^\/jobs\/([^/]+)\/cancel$/.exec(path)?.[1]
      if (cancelled !== undefined) return cancel(decodeURIComponent(cancelled))
      const sent = JSON.parse(body.toString()) as { configuration?: Configuration; location?: string } & Query
      if (path === '/queries') return await queries.ask(sent)
      const query = sent.configuration?.query
      if (path !== '/jobs' || query === undefined || query.useLegacySql)
        return failed(400, 'invalid', 'Invalid job')
      const reference = (sent as unknown as { jobReference: Job['jobReference'] }).jobReference
      return start(reference, async () => {
        await tables.run(toDuckDb(query.query, `${PROJECT}.${DATASET}`), valuesOf(query))
        return {}
      })
    },
  }
}

function isLoad({ destinationTable, sourceFormat, writeDisposition, createDisposition }: Load): boolean {
  return (
    destinationTable.projectId === PROJECT &&
    destinationTable.datasetId === DATASET &&
    sourceFormat === 'NEWLINE_DELIMITED_JSON' &&
    writeDisposition === 'WRITE_APPEND' &&
    createDisposition === 'CREATE_NEVER'
  )
}

/** multipart/related with exactly two parts, each with headers of its own. */
function partsOfUpload(type: string, body: Buffer): [Buffer, Buffer] {
  const boundary = /^multipart\/related; boundary=(\S+)$/.exec(type)?.[1]
  if (boundary === undefined) throw new Error('Not a multipart upload')
  const text = body.toString('latin1')
  const parts = text.split(`--${boundary}`)
  if (parts.length !== 4 || parts[0] !== '' || parts[3] !== '--\r\n') throw new Error('Bad multipart upload')
  const [job, file] = parts.slice(1, 3).map((part) => {
    const content = part.slice(part.indexOf('\r\n\r\n') + 4, -2)
    return Buffer.from(content, 'latin1')
  })
  return [job!, file!]
}

async function loadFile(tables: Tables, table: string, fields: Field[], file: Buffer): Promise<number> {
  if (fields.length === 0) throw new Error(`Not found: Table ${table}`)
  const lines = gunzipSync(file)
  const known = new Set(fields.map(({ name }) => name))
  for (const line of lines.toString().trimEnd().split('\n')) {
    const unknown = Object.keys(JSON.parse(line) as object).find((key) => !known.has(key))
    if (unknown !== undefined) throw new Error(`No such field: ${unknown}`)
  }
  const folder = await mkdtemp(join(tmpdir(), 'bigquery-stand-in-'))
  try {
    const path = join(folder, 'rows.jsonl')
    await writeFile(path, lines)
    const types: Record<string, string> = {
      STRING: 'VARCHAR',
      INT64: 'BIGINT',
      FLOAT64: 'DOUBLE',
      BOOL: 'BOOLEAN',
    }
    const columns = fields.map(
      ({ name, type }) => `'${name.replaceAll("'", "''")}': '${types[type] ?? type}'`,
    )
    const [inserted] = await tables.run([
      `INSERT INTO ${quoted(table)} SELECT * FROM read_json('${path}', format = 'newline_delimited', columns = {${columns.join(', ')}})`,
    ])
    return Number(inserted?.Count)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
