// The module with which an app shows itself in the interface; where there is none to give, one that says why.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { SourceFileRow } from '../rows.ts'
import { CONFIGS, withFile } from '../versions/accepted.ts'

export const FRONTEND_TYPE = 'application/javascript'

export async function frontendModule(db: Db, project_id: number, config_id: number): Promise<string> {
  const file = await db.row<Pick<SourceFileRow, 'transpiled' | 'status' | 'error'>>(sql`
    SELECT f.transpiled, f.status, f.error FROM ${CONFIGS} ${withFile('frontend.tsx')}
    WHERE c.project_id = ${project_id} AND c.id = ${config_id}`)
  if (!file) return saying('{"no_frontend": true}')
  if (file.status === 'ERROR') return saying(`{"error": ${JSON.stringify(file.error ?? '')}}`)
  return file.transpiled ?? saying('{"transpiling": true}')
}

const saying = (what: string) => `export function getFrontendApp () { return ${what} }`
