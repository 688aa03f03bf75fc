// Starts a bundled program as it is meant to run: `node bin/start.cjs <bundle> …`. CommonJS, because modules of the other
// kind are loaded on the thread pool, and its size and priority must be settled before.
const { dirname, join, resolve } = require('node:path')
const { pathToFileURL } = require('node:url')
const { Worker } = require('node:worker_threads')

// Every query holds one of them, and four would leave none for files, DNS and compression.
process.env.UV_THREADPOOL_SIZE ??= '16'
// The SDK for S3 says on every first use that it will leave this version of Node behind one day.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
// The one for Snowflake asks the machine's metadata address who it is, as soon as it is loaded.
process.env.SNOWFLAKE_DISABLE_PLATFORM_DETECTION ??= 'true'
process.env.SF_TELEMETRY_DISABLE_CONNECTION_SHAPE ??= 'true'

module.exports = { start }

if (require.main === module) {
  // The program finds its own name where it would be without us.
  process.argv.splice(1, 1)
  start(process.argv[1])
}

function start(bundle) {
  // As the first process of a container we are ended by no signal that we do not listen for, however early it comes.
  for (const [signal, number] of [
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ])
    process.on(signal, () => process.exit(128 + number))
  const pool = new Worker(join(dirname(bundle), 'threads/thread-pool.cjs'))
  pool.once('exit', () => void import(pathToFileURL(resolve(bundle)).href))
}
