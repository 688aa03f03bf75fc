// ClickHouse's HTTP interface over chdb, which is ClickHouse's engine as a library: for suites that want the real thing.
// Runs as a program of its own, started by scripts/clickhouse/with-chdb.sh, because chdb has one data folder per process
// and, on arm64, another processor. One statement at a time; one whose client has hung up is killed.
//   node chdb-front.js <folder of node_modules with chdb> <data folder> <port> <user> <password>
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const [modules, folder, port, user, password] = process.argv.slice(2)
const require = createRequire(join(modules, 'package.json'))
// Clients have written the values of parameters as the engine reads them.
require(join(modules, 'node_modules/chdb/dist/serialize.js')).formatParamValue = String
const { Session } = require('chdb')
const session = new Session(join(folder, 'data'))
/** For what must not wait until the statement at work has ended. */
const besides = new Session(join(folder, 'data'))
const uploads = mkdtempSync(join(folder, 'uploads-'))

/** About the answer and not about the statement; `readonly` could not be taken back. */
const OF_HTTP = new Set([
  'query',
  'query_id',
  'default_format',
  'wait_end_of_query',
  'database',
  'readonly',
  'enable_http_compression',
  'role',
])
const STATUSES = { 60: 404, 81: 404, 159: 408, 516: 403 }
/** `http_max_field_value_size`, as a server has it unless told otherwise. */
const MAX_FIELD_BYTES = 131_072
const TOO_LONG = 'Poco::Exception. Code: 1000, e.code() = 0, HTML Form Exception: Field value too long'
const NO_LOGIN =
  'Code: 516. DB::Exception: Authentication failed: password is incorrect. (AUTHENTICATION_FAILED)'

const server = createServer((request, response) => {
  answer(request, response)
    .then(({ bytes, format }) => {
      const isPacked = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '') && isAskedToPack(request)
      const headers = { 'x-clickhouse-format': format, ...(isPacked ? { 'content-encoding': 'gzip' } : {}) }
      response.writeHead(200, headers).end(isPacked ? gzipSync(bytes) : bytes)
    })
    .catch((error) => {
      const message = String(error.message).replace(/^Query failed: /, '')
      const code = Number(/^Code: (\d+)\./.exec(message)?.[1] ?? 1002)
      const headers = { 'x-clickhouse-exception-code': String(code) }
      response.writeHead(STATUSES[code] ?? 500, headers).end(`${message} (version ${VERSION})\n`)
    })
})

const isAskedToPack = (request) => askedBy(request).get('enable_http_compression') === '1'
const askedBy = (request) => new URL(request.url, 'http://front').searchParams

async function answer(request, response) {
  if (request.url === '/ping') return { bytes: Buffer.from('Ok.\n'), format: 'TabSeparated' }
  let body = await read(request)
  const given = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  if (request.headers.authorization !== given) throw new Error(NO_LOGIN)
  const asked = askedBy(request)
  const type = request.headers['content-type'] ?? ''
  if (type.startsWith('multipart/form-data')) {
    const form = await new Response(body, { headers: { 'content-type': type } }).formData()
    for (const [name, value] of form) {
      if (Buffer.byteLength(value) > MAX_FIELD_BYTES) throw new Error(TOO_LONG)
      if (name !== 'query') asked.append(name, value)
    }
    body = Buffer.from(form.get('query'))
  }
  const id = asked.get('query_id') || crypto.randomUUID()
  const killed = /^\s*KILL QUERY\s+WHERE\s+query_id\s*=\s*'([^']+)'/i.exec(body.toString('utf8', 0, 500))?.[1]
  if (killed !== undefined) {
    await kill(killed)
    return { bytes: Buffer.alloc(0), format: 'TabSeparated' }
  }
  // Not of the request, which is closed as soon as it has been read.
  response.once('close', () => response.writableFinished || void kill(id))
  return inTurn(id, () => carryOut(id, asked, body))
}

async function carryOut(id, asked, body) {
  const before = asked.get('query')
  const settings = [...asked].filter(([name]) => !OF_HTTP.has(name) && !name.startsWith('param_'))
  const values = [...asked].filter(([name]) => name.startsWith('param_'))
  const parameters = Object.fromEntries(values.map(([name, value]) => [name.slice('param_'.length), value]))
  const format = asked.get('default_format') ?? 'TabSeparated'
  applySettings(settings)
  useDatabase(asked.get('database') ?? 'default')
  const statement =
    before === null || body.length === 0 ? (before ?? body.toString()) : uploaded(before, body)
  const result = await session
    .queryBindAsync(`/* ${id} */ ${statement}`, parameters, { format })
    .catch((error) => {
      // What a failed statement had written already would come before the next answer.
      session.query('SELECT 1')
      throw error
    })
  const [, own_format] = /\bFORMAT\s+(\w+)\s*;?\s*$/.exec(statement) ?? []
  return { bytes: Buffer.from(result.bytes()), format: own_format ?? format }
}

async function read(request) {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

let last = Promise.resolve()
let at_work
const given_up = new Set()

function inTurn(id, work) {
  const result = last.then(async () => {
    if (given_up.delete(id))
      throw new Error('Code: 394. DB::Exception: Query was cancelled. (QUERY_WAS_CANCELLED)')
    at_work = id
    try {
      return await work()
    } finally {
      at_work = undefined
      given_up.delete(id)
    }
  })
  last = result.catch(() => undefined)
  return result
}

/** One that waits is passed over; one at work is found by its first words. It may not have begun yet, so it is asked again. */
async function kill(id) {
  given_up.add(id)
  while (at_work === id) {
    await besides.queryAsync(`KILL QUERY WHERE startsWith(query, '/* ${id} */') ASYNC`).catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** They stay in the session until a request has others: setting them anew each time would double the statements. */
let applied = new Map()

function applySettings(settings) {
  const asked = new Map(settings)
  const forgotten = [...applied.keys()].filter((name) => !asked.has(name)).map((name) => `${name} = DEFAULT`)
  const changed = [...asked].filter(([name, value]) => applied.get(name) !== value)
  const assigned = changed.map(
    ([name, value]) => `${name} = '${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`,
  )
  if (forgotten.length + assigned.length > 0) session.query(`SET ${[...forgotten, ...assigned].join(', ')}`)
  applied = asked
}

let database = 'default'

function useDatabase(name) {
  if (name === database) return
  session.query(`USE \`${name}\``)
  database = name
}

/** The data comes from a file instead of the request. */
function uploaded(statement, data) {
  const path = join(uploads, 'data')
  writeFileSync(path, data)
  const [, into, format] = /^(.+)\sFORMAT\s+(\w+)\s*$/s.exec(statement)
  return `${into} FROM INFILE '${path}' FORMAT ${format}`
}

const VERSION = session.query('SELECT version()', 'TabSeparated').trim()
server.listen(Number(port), '127.0.0.1')
process.on('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
  rmSync(uploads, { recursive: true, force: true })
  session.close()
  besides.close()
  // A statement that cannot be ended would keep it alive.
  process.exit()
})
