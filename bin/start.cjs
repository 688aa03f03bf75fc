// Starts a bundled program as it is meant to run: `node bin/start.cjs <bundle> …`. CommonJS, because modules of the other
// kind are loaded on the thread pool, and its size and priority must be settled before.

// As the first process of a container we are ended by no signal that we do not listen for, however early it comes. Whoever
// listens too, later, has something to close, and ends the process itself.
for (const [signal, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
])
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(128 + number)
  })

const { dirname, join, resolve } = require('node:path')
const { pathToFileURL } = require('node:url')
const { Worker } = require('node:worker_threads')
const { engines } = require('../package.json')

const [NEEDED_MAJOR, NEEDED_MINOR] = engines.node.replace('>=', '').split('.').map(Number)

// Every query holds one of them, and four would leave none for files, DNS and compression.
process.env.UV_THREADPOOL_SIZE ??= '16'
// The SDK for S3 says on every first use that it will leave this version of Node behind one day.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
// The one for Snowflake asks the machine's metadata address who it is, as soon as it is loaded.
process.env.SNOWFLAKE_DISABLE_PLATFORM_DETECTION ??= 'true'
process.env.SF_TELEMETRY_DISABLE_CONNECTION_SHAPE ??= 'true'

module.exports = { start, giveUp }

if (require.main === module) {
  // The program finds its own name where it would be without us.
  process.argv.splice(1, 1)
  start(process.argv[1])
}

function start(bundle) {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < NEEDED_MAJOR || (major === NEEDED_MAJOR && minor < NEEDED_MINOR))
    giveUp(`Node ${NEEDED_MAJOR}.${NEEDED_MINOR} or newer is needed, and this is ${process.versions.node}`)
  const pool = new Worker(join(dirname(bundle), 'threads/thread-pool.cjs'))
  pool.once('exit', () => void import(pathToFileURL(resolve(bundle)).href).catch(explain))
}

/** What npm has left out is said in one line; everything else is a fault of the program. */
function explain(error) {
  const missing = /^Cannot find (?:package|module) '((?:@[^/']+\/)?[^./'][^/']*)/.exec(error?.message)?.[1]
  if (missing === undefined) throw error
  const system = `${process.platform} on ${process.arch}`
  giveUp(`the package ${missing} is not installed (this is ${system}): run npm ci or npm install again`)
}

function giveUp(reason) {
  process.stderr.write(`longshore: ${reason}\n`)
  process.exit(1)
}
