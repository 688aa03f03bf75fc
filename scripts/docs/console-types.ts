// The console's types of the API, made from the OpenAPI document. Paths that the console does not use (those of
// environments, and of apps by family) are left out: each would be there several times.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const OTHER_DOORS = /\/environments\/|\/pipeline_|\/api\/plugin_config\//
// It brings a TypeScript of its own: version 7 has no interface for programs.
const TOOL = join(process.cwd(), 'scripts/api-types/node_modules/openapi-typescript/bin/cli.js')

export function consoleTypes(document: Readonly<Record<string, unknown>>): string {
  const paths = Object.fromEntries(
    Object.entries(document.paths as object).filter(([path]) => !OTHER_DOORS.test(path)),
  )
  const made = spawnSync(process.execPath, [TOOL], {
    input: JSON.stringify({ ...document, paths }),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (made.status !== 0) throw new Error(made.stderr)
  return made.stdout
}
