#!/usr/bin/env node
// Runs the built program; in a checkout it is built first when the sources, or the packages they are built with, are newer
// than the build.
const { start, giveUp } = require('./start.cjs')
const { spawnSync } = require('node:child_process')
const { existsSync, readdirSync, statSync } = require('node:fs')
const { join } = require('node:path')

const root = join(__dirname, '..')
const bundle = join(root, 'dist/longshore.js')

if (isCheckout() && isStale()) build()
if (!existsSync(bundle))
  giveUp(`${join(root, 'dist')} is missing: install the package again, or make it with npm run pack`)
start(bundle)

function isCheckout() {
  return existsSync(join(root, 'src')) && existsSync(join(root, 'scripts/build.js'))
}

function isStale() {
  if (!existsSync(bundle)) return true
  const built = statSync(bundle).mtimeMs
  const files = ['src', 'types', 'web']
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  const alone = ['package.json', 'docs/openapi.json'].map((name) => join(root, name))
  return [...alone, ...files].some((file) => statSync(file).mtimeMs > built)
}

function build() {
  if (!existsSync(join(root, 'node_modules/rolldown'))) {
    // A release brings its build along, and unpacking may give its sources a newer date.
    if (existsSync(bundle)) return
    giveUp('this checkout is not built, and what builds it is not installed: run npm ci, without --omit=dev')
  }
  process.stderr.write('building longshore …\n')
  const built = spawnSync(process.execPath, [join(root, 'scripts/build.js')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (built.signal !== null) process.exit(130)
  if (built.status !== 0) giveUp('the build failed: see above')
}
