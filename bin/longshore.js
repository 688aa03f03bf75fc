#!/usr/bin/env node
// Runs the built program; in a checkout it is built first when the sources are newer than the build.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'

const root = new URL('..', import.meta.url)
const bundle = new URL('dist/longshore.js', root)

if (isStale()) {
  process.stderr.write('building longshore …\n')
  execFileSync(process.execPath, [new URL('scripts/build.js', root).pathname], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

await import(bundle.href)

function isStale() {
  const sources = new URL('src', root)
  if (!existsSync(sources)) return false
  if (!existsSync(bundle)) return true
  const built = statSync(bundle).mtimeMs
  return readdirSync(sources, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .some((entry) => statSync(`${entry.parentPath ?? entry.path}/${entry.name}`).mtimeMs > built)
}
