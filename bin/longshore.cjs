#!/usr/bin/env node
// Runs the built program; in a checkout it is built first when the sources are newer than the build.
// CommonJS, because modules of the other kind are loaded on the thread pool, whose size must be settled before: every
// query holds one of its threads, and four would leave none for files, DNS and compression.
process.env.UV_THREADPOOL_SIZE ??= '16'
// The SDK for S3 says on every first use that it will leave this version of Node behind one day.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
// The one for Snowflake asks the machine's metadata address who it is, as soon as it is loaded.
process.env.SNOWFLAKE_DISABLE_PLATFORM_DETECTION ??= 'true'
process.env.SF_TELEMETRY_DISABLE_CONNECTION_SHAPE ??= 'true'

const { execFileSync } = require('node:child_process')
const { existsSync, readdirSync, statSync } = require('node:fs')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { Worker } = require('node:worker_threads')

const root = join(__dirname, '..')
const folder = join(root, 'dist')
const bundle = join(folder, 'longshore.js')

if (isStale()) {
  process.stderr.write('building longshore …\n')
  execFileSync(process.execPath, [join(root, 'scripts/build.js')], { stdio: ['ignore', 'ignore', 'inherit'] })
}

// The pool must have been started by then.
new Worker(join(folder, 'threads/thread-pool.cjs')).once(
  'exit',
  () => void import(pathToFileURL(bundle).href),
)

function isStale() {
  const sources = join(root, 'src')
  if (!existsSync(sources)) return false
  if (!existsSync(bundle)) return true
  const built = statSync(bundle).mtimeMs
  return readdirSync(sources, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .some((entry) => statSync(join(entry.parentPath ?? entry.path, entry.name)).mtimeMs > built)
}
