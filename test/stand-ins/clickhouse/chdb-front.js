// ClickHouse's HTTP interface over chdb, which is ClickHouse's engine as a library: for suites that want the real thing.
// Runs as a program of its own, started by scripts/clickhouse/with-chdb.sh, because chdb has one data folder per process
// and, on arm64, another processor. One statement at a time.
//   node chdb-front.js <folder of node_modules with chdb> <data folder> <port> <user> <password>
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const [modules, folder, port, user, password] = process.argv.slice(2)
const { Session } = createRequire(join(modules, 'package.json'))('chdb')
const session = new Session(join(folder, 'data'))
const uploads = mkdtempSync(join(folder, 'uploads-'))

/** About the answer and not about the statement. */
const OF_HTTP = new Set(['query', 'default_format', 'wait_end_of_query', 'database'])
const STATUSES = { 60: 404, 81: 404, 159: 408, 516: 403 }

const server = createServer((request, response) => {
  answer(request)
    .then((text) => response.writeHead(200, { 'x-clickhouse-format': 'JSONCompactEachRow' }).end(text))
    .catch((error) => {
      const message = String(error.message).replace(/^Query failed: /, '')
      const code = Number(/^Code: (\d+)\./.exec(message)?.[1] ?? 1002)
      const headers = { 'x-clickhouse-exception-code': String(code) }
      response.writeHead(STATUSES[code] ?? 500, headers).end(`${message} (version ${VERSION})\n`)
    })
})

async function answer(request) {
  const body = await read(request)
  const given = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  if (request.headers.authorization !== given) {
    throw new Error(
      'Code: 516. DB::Exception: Authentication failed: password is incorrect. (AUTHENTICATION_FAILED)',
    )
  }
  const asked = new URL(request.url, 'http://front').searchParams
  const before = asked.get('query')
  if (asked.has('database')) use(asked.get('database'))
  const settings = [...asked].filter(([name]) => !OF_HTTP.has(name) && !name.startsWith('param_'))
  const values = [...asked].filter(([name]) => name.startsWith('param_'))
  const parameters = Object.fromEntries(
    values.map(([name, value]) => [name.slice('param_'.length), unescaped(value)]),
  )
  return before === null
    ? withSettings(settings, () => run(body.toString(), parameters, asked.get('default_format')))
    : withSettings(settings, () => insert(before, body))
}

/** Parameters are written as fields of a file with tabs. */
const ESCAPES = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', 0: '\0' }
const unescaped = (text) => text.replaceAll(/\\(.)/gs, (_, letter) => ESCAPES[letter] ?? letter)

async function read(request) {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** They stay in the session until a request has others: setting them anew each time would double the statements. */
let applied = new Map()

function withSettings(settings, work) {
  const asked = new Map(settings)
  for (const name of applied.keys()) if (!asked.has(name)) session.query(`SET ${name} = DEFAULT`)
  for (const [name, value] of asked) {
    if (applied.get(name) !== value) session.query(`SET ${name} = '${value.replaceAll("'", "\\'")}'`)
  }
  applied = asked
  return work()
}

let database = 'default'

function use(name) {
  if (name !== database) session.query(`USE "${name}"`)
  database = name
}

function run(statement, parameters, format) {
  return Object.keys(parameters).length === 0
    ? session.query(statement, format ?? 'TabSeparated')
    : session.queryBind(statement, parameters, format ?? 'TabSeparated')
}

/** The data comes from a file instead of the request. */
function insert(statement, data) {
  const path = join(uploads, 'data')
  writeFileSync(path, data)
  const [, into, format] = /^(.+) FORMAT (\w+)$/s.exec(statement)
  return session.query(`${into} FROM INFILE '${path}' FORMAT ${format}`)
}

const VERSION = session.query('SELECT version()', 'TabSeparated').trim()
server.listen(Number(port), '127.0.0.1')
process.on('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
  rmSync(uploads, { recursive: true, force: true })
  session.close()
})
