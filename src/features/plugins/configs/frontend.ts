// The module with which an app shows itself in the interface; where there is none to give, one that says why.
import type { Db } from '../../../platform/db/database.ts'
import { listFiles } from '../file-queries.ts'

export const FRONTEND_TYPE = 'application/javascript'

export async function frontendModule(db: Db, plugin_id: number): Promise<string> {
  const file = (await listFiles(db, plugin_id)).find(({ filename }) => filename === 'frontend.tsx')
  if (!file) return saying('{"no_frontend": true}')
  if (file.status === 'ERROR') return saying(`{"error": ${JSON.stringify(file.error ?? '')}}`)
  return file.transpiled ?? saying('{"transpiling": true}')
}

const saying = (what: string) => `export function getFrontendApp () { return ${what} }`
