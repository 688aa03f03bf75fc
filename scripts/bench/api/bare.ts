// The yardstick: a plain fastify server that runs the same statements with pg and shapes the same answers, and does
// nothing else: no credentials, no rights, no validation, no limits, no log.
import fastify, { type FastifyInstance } from 'fastify'
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { presentInvite } from '../../../src/features/invites/present.ts'
import type { ListedInvite } from '../../../src/features/invites/schema.ts'
import { presentMember } from '../../../src/features/members/present.ts'
import type { MemberRow } from '../../../src/features/members/schema.ts'
import { presentOrganization } from '../../../src/features/organizations/present.ts'
import type { OrganizationFacts, OrganizationRow } from '../../../src/features/organizations/queries.ts'
import { LEVELS } from '../../../src/platform/http/caller.ts'
import type { BenchCase } from './cases.ts'
import type { Recorded } from './statements.ts'
import type { BenchWorkspace } from './workspace.ts'

export type RecordedCase = { benchCase: BenchCase; statements: Recorded[] }

export function buildBareServer(
  pool: pg.Pool,
  workspace: BenchWorkspace,
  recorded: readonly RecordedCase[],
): FastifyInstance {
  const app = fastify({ logger: false })
  for (const { benchCase, statements } of recorded) {
    app.route({
      method: benchCase.method,
      url: benchCase.path(workspace),
      handler: async (request, reply) => {
        const results = benchCase.body
          ? await runInOneConnection(
              pool,
              withNewValues(statements, (request.body as { target_email: string }).target_email),
            )
          : await runAll(pool, statements)
        return reply
          .code(benchCase.status)
          .header('content-type', 'application/json; charset=utf-8')
          .send(JSON.stringify(shape(benchCase, results)))
      },
    })
  }
  return app
}

async function runAll(
  on: Pick<pg.Pool, 'query'>,
  statements: readonly Recorded[],
): Promise<pg.QueryResult[]> {
  const results: pg.QueryResult[] = []
  for (const statement of statements) results.push(await on.query(statement as pg.QueryConfig))
  return results
}

/** What ran before BEGIN ran on the pool, as in the original. */
async function runInOneConnection(pool: pg.Pool, statements: readonly Recorded[]): Promise<pg.QueryResult[]> {
  const begin = statements.findIndex((statement) => statement.text === 'BEGIN')
  const before = await runAll(pool, statements.slice(0, begin))
  const client = await pool.connect()
  try {
    return [...before, ...(await runAll(client, statements.slice(begin)))]
  } finally {
    client.release()
  }
}

/** New ids and the address of this request in place of the recorded ones. */
function withNewValues(statements: readonly Recorded[], email: string): Recorded[] {
  const insert = statements.find((statement) => statement.text.includes('INSERT INTO invite'))!
  const entry = statements.find((statement) => statement.text.includes('INSERT INTO activity_log'))!
  const replaced = new Map<unknown, unknown>([
    [insert.values![0], randomUUID()],
    [insert.values![2], email],
    [entry.values![0], randomUUID()],
  ])
  return statements.map(
    (statement) =>
      ({ ...statement, values: statement.values?.map((value) => replaced.get(value) ?? value) }) as Recorded,
  )
}

function shape(benchCase: BenchCase, results: readonly pg.QueryResult[]): unknown {
  const rowsOf = <Row>(index: number) => results.at(index)!.rows as Row[]
  switch (benchCase.name) {
    case 'get organization':
      return presentOrganization(
        { plugins_min_write_level: LEVELS.member },
        rowsOf<OrganizationRow>(1)[0]!,
        LEVELS.owner,
        rowsOf<OrganizationFacts>(2)[0]!,
      )
    case 'list 100 members':
      return {
        count: rowsOf<{ count: number }>(3)[0]!.count,
        next: null,
        previous: null,
        results: rowsOf<MemberRow>(2).map(presentMember),
      }
    case 'post invite':
      // The last statement is COMMIT, the one before reads the invite with its maker.
      return presentInvite(rowsOf<ListedInvite>(-2)[0]!, LEVELS.owner, new Date())
  }
}
