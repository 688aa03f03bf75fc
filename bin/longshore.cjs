#!/usr/bin/env node
// Runs the built program; in a checkout it is built first when the sources, or the packages they are built with, are newer
// than the build.
const { execFileSync } = require('node:child_process')
const { existsSync, readdirSync, statSync } = require('node:fs')
const { join } = require('node:path')
const { start } = require('./start.cjs')

const root = join(__dirname, '..')
const bundle = join(root, 'dist/longshore.js')

if (isStale()) {
  process.stderr.write('building longshore …\n')
  execFileSync(process.execPath, [join(root, 'scripts/build.js')], { stdio: ['ignore', 'ignore', 'inherit'] })
}

start(bundle)

function isStale() {
  const sources = join(root, 'src')
  if (!existsSync(sources)) return false
  if (!existsSync(bundle)) return true
  const built = statSync(bundle).mtimeMs
  const files = readdirSync(sources, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  return [join(root, 'package.json'), ...files].some((file) => statSync(file).mtimeMs > built)
}
