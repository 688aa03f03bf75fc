// Questions to BigQuery's stand-in: their parameters, and answers page by page.
import { randomUUID } from 'node:crypto'
import type { Reply } from '../warehouse/cuttable-server.ts'
import { textOf, type Tables, type Values } from '../warehouse/tables.ts'
import { DATASET, failed, PROJECT } from './place.ts'
import { toDuckDb } from './sql.ts'

export type Query = {
  query: string
  useLegacySql: boolean
  parameterMode: string
  queryParameters: { name: string; parameterType: { type: string }; parameterValue: { value: string } }[]
}

type Cells = { f: { v: string | null }[] }

/** Few, so that tests come to the second page. */
const ROWS_OF_A_PAGE = 50

export function startQueries(tables: Tables) {
  const answers = new Map<string, Cells[]>()
  const pageOf = (jobId: string, from: number): Reply => {
    const rows = answers.get(jobId)!
    const next = from + ROWS_OF_A_PAGE
    const jobReference = { projectId: PROJECT, jobId, location: 'EU' }
    const page = { jobComplete: true, jobReference, rows: rows.slice(from, next) }
    return { status: 200, body: next < rows.length ? { ...page, pageToken: `from ${next}` } : page }
  }
  return {
    async ask(query: Query & { location?: string }): Promise<Reply> {
      if (query.useLegacySql || query.location !== 'EU') return failed(400, 'invalid', 'Invalid query')
      try {
        const rows = await tables.run(toDuckDb(query.query, `${PROJECT}.${DATASET}`), valuesOf(query))
        const job_id = randomUUID()
        answers.set(
          job_id,
          rows.map((row) => ({ f: Object.values(row).map((value) => ({ v: textOf(value) })) })),
        )
        return pageOf(job_id, 0)
      } catch (error) {
        return failed(400, 'invalidQuery', String(error))
      }
    },
    nextPage(job_id: string, { searchParams }: URL): Reply {
      const from = /^from (\d+)$/.exec(searchParams.get('pageToken') ?? '')?.[1]
      const is_known = searchParams.get('location') === 'EU' && answers.has(job_id) && from !== undefined
      return is_known ? pageOf(job_id, Number(from)) : failed(404, 'notFound', 'Not found: Job')
    },
  }
}

export function valuesOf({ parameterMode, queryParameters }: Query): Values {
  if (parameterMode !== 'NAMED') throw new Error('Parameters have no names')
  return Object.fromEntries(
    queryParameters.map(({ name, parameterType, parameterValue: { value } }) => [
      name,
      parameterType.type === 'INT64' ? BigInt(value) : value,
    ]),
  )
}
