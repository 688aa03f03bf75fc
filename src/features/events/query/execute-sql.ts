// mcp_tools/execute_sql/: HogQL for agents, which read a table of text.
import { z } from 'zod'
import { ok, route } from '../../../platform/http/route.ts'
import { ToolAnswer, toolAnswer } from '../tool-answer.ts'
import { QUERY_LIMIT } from './routes.ts'
import { runHogql } from './run.ts'

type Base = '/api/projects/:project_id' | '/api/environments/:project_id'
type Row = readonly unknown[]

/** An agent pays for each character, and gets lost in more. */
const MAX_CELL_LENGTH = 500
const MAX_LENGTH = 64_000

const ExecuteSql = z.object({
  args: z.looseObject({
    query: z.string().min(1).meta({ description: 'One SELECT statement in HogQL.' }),
    truncate: z.boolean().optional().meta({ description: 'False: long values are given whole.' }),
  }),
})

export const executeSqlRoutes = [
  executeSqlRoute('/api/projects/:project_id'),
  executeSqlRoute('/api/environments/:project_id'),
]

function executeSqlRoute(base: Base) {
  return route({
    method: 'POST',
    path: `${base}/mcp_tools/execute_sql/`,
    summary: 'Run a HogQL query, for agents',
    scope: 'query:read',
    level: 'member',
    key_limit: QUERY_LIMIT,
    may_time_out: true,
    body: ExecuteSql,
    examples: { 'Events by name': { args: { query: 'select event, count() from events group by event' } } },
    answers: { 200: ToolAnswer },
    async handle({ services, project, body: { args }, request }) {
      const answer = await toolAnswer(async () => {
        const { columns, results, hasMore } = await runHogql(
          services,
          project,
          { kind: 'HogQLQuery', query: args.query },
          'args',
          request.signal,
        )
        return tableText(columns, results, hasMore, args.truncate === false ? Infinity : MAX_CELL_LENGTH)
      })
      return ok(answer)
    },
  })
}

function tableText(
  columns: readonly string[],
  rows: readonly Row[],
  hasMore: boolean,
  max_cell: number,
): string {
  const lines = [columns.join('|')]
  let length = lines[0]!.length
  for (const row of rows) {
    const line = row.map((cell) => cellText(cell, max_cell)).join('|')
    length += line.length + 1
    if (length > MAX_LENGTH) {
      const shown = lines.length - 1
      return `${lines.join('\n')}\n\nOnly the first ${shown} of ${rows.length} rows are shown: select fewer columns, aggregate, or use LIMIT and OFFSET.`
    }
    lines.push(line)
  }
  const more = hasMore ? '\n\nThere are more rows: use LIMIT and OFFSET.' : ''
  return `${lines.join('\n')}${more}`
}

function cellText(cell: unknown, max: number): string {
  const text = cell === null ? '(null)' : typeof cell === 'string' ? cell : JSON.stringify(cell)
  return text.length > max ? `${text.slice(0, max).toWellFormed()}...truncated` : text
}
