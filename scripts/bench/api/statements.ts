// The very statements a request of ours runs, recorded from one real request, so that the bare server repeats them.
import type { FastifyInstance } from 'fastify'
import pg from 'pg'
import type { BenchCase } from './cases.ts'
import type { BenchWorkspace } from './workspace.ts'

export type Recorded = { text: string; values?: unknown[]; name?: string }

export async function recordStatements(
  http: FastifyInstance,
  workspace: BenchWorkspace,
  benchCase: BenchCase,
): Promise<Recorded[]> {
  const url = benchCase.path(workspace)
  const request = (n: number) =>
    http.inject({
      method: benchCase.method,
      url,
      headers: { authorization: `Bearer ${workspace.key}` },
      ...(benchCase.body ? { payload: benchCase.body(n) } : {}),
    })
  // The first request also notes that the key was used, which later ones do not.
  await request(-1)
  const recorded: Recorded[] = []
  const { query } = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown }
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const statement = typeof args[0] === 'string' ? { text: args[0] } : (args[0] as Recorded)
    if (!statement.text.includes('pgboss')) recorded.push({ ...statement })
    return query.apply(this, args)
  } as typeof pg.Client.prototype.query
  try {
    const answer = await request(-2)
    if (answer.statusCode !== benchCase.status)
      throw new Error(`recording ${benchCase.name} answered ${answer.statusCode}`)
  } finally {
    pg.Client.prototype.query = query as typeof pg.Client.prototype.query
  }
  return recorded
}
