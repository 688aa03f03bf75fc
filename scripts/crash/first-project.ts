// The project that a first start makes, asked from outside.
import { openDatabase } from '../../src/platform/db/database.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { connectionOf } from '../../test/end-to-end/program.ts'

/** For BOOTSTRAP_API_KEY. */
export const KEY = `phx_${'crash0'.repeat(6)}`

export async function call(
  url: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as Record<string, unknown>
  if (!response.ok)
    throw new Error(`${method} ${path} answered ${response.status}: ${JSON.stringify(answer)}`)
  return answer
}

/** Rows of a HogQL query. */
export async function ask(
  url: string,
  query: string,
  project: number | '@current' = '@current',
): Promise<unknown[][]> {
  const path = `/api/projects/${project}/query/`
  const { results } = await call(url, 'POST', path, { query: { kind: 'HogQLQuery', query } })
  return results as unknown[][]
}

export async function firstToken(dataDir: string): Promise<string> {
  const db = openDatabase({ ...connectionOf(dataDir), max: 1 })
  const { api_token } = await db.only<{ api_token: string }>(sql`SELECT api_token FROM project`)
  await db.close()
  return api_token
}
