// The files that are made from the code and committed, so that a change of API, errors or tables shows in a diff.
// test/house-rules.test.ts holds that they are fresh.
import type { Database } from '../../src/platform/db/database.ts'
import { apiDocument } from '../../src/app/document.ts'
import { errorsPage } from '../../src/platform/http/openapi-errors.ts'
import { consoleTypes } from './console-types.ts'
import { describeSchema } from './schema.ts'
import { securityTable } from './security.ts'

/** `before` is the file as it stands: text written by hand is kept. */
type Make = (db: Database, before: string) => Promise<string> | string

export const generatedFiles: Record<string, Make> = {
  'docs/openapi.json': () => `${JSON.stringify(apiDocument(), null, 2)}\n`,
  'docs/errors.md': (_db, before) => belowText(before, errorsPage()),
  'docs/security.md': (_db, before) => belowText(before, securityTable()),
  'web/src/api/schema.d.ts': () => consoleTypes(apiDocument()),
  'src/platform/db/schema.sql': (db) => describeSchema(db),
}

/** The words above the table are written by hand. */
function belowText(before: string, table: string): string {
  return `${before.split('\n|', 1)[0]!.trimEnd()}\n\n${table}\n`
}
