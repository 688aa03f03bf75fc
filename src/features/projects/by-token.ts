// The project that a token belongs to. Every captured request asks for one, so those of one moment ask together.
import { AskedTogether } from '../../lib/asked-together.ts'
import type { Database } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import type { ProjectRow } from './schema.ts'

const MOST_TOGETHER = 500
const asking = new WeakMap<Database, AskedTogether<string, ProjectRow>>()

export function findProjectByToken(db: Database, token: string): Promise<ProjectRow | undefined> {
  const together = asking.get(db) ?? new AskedTogether((tokens) => findProjects(db, tokens), MOST_TOGETHER)
  asking.set(db, together)
  return together.find(token)
}

async function findProjects(db: Database, tokens: readonly string[]): Promise<Map<string, ProjectRow>> {
  const rows = await db.rows<ProjectRow>(sql`SELECT * FROM project WHERE api_token = ANY(${tokens})`)
  return new Map(rows.map((row) => [row.api_token, row]))
}
