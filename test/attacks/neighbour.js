// The neighbour of an attack, on a thread of its own: what it waits for is the server, not an attacker that is busy making
// a bomb. It calls one thing after the other, from when it is told to begin until it is told to end, and once at least.
import { request } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

const { port, address, token, pause_ms } = workerData
const EVENT = JSON.stringify({ api_key: token, event: 'neighbour', distinct_id: 'ada' })

let isOver = true
/** Ends a pause. */
let wake = () => {}

/** Gives the slowest of each kind of call. Throws when one is refused. */
async function callOn() {
  const pace = { livez_ms: 0, capture_ms: 0 }
  do {
    pace.livez_ms = Math.max(pace.livez_ms, await timed('GET', '/_livez'))
    pace.capture_ms = Math.max(pace.capture_ms, await timed('POST', '/capture/', EVENT))
    if (!isOver) await pause()
  } while (!isOver)
  return pace
}

function pause() {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, pause_ms)
    wake = () => {
      clearTimeout(timer)
      resolve()
    }
  })
}

async function timed(method, path, body) {
  const start = performance.now()
  const status = await statusOf(method, path, body)
  if (status !== 200) throw new Error(`${method} ${path} of the neighbour was answered with ${status}`)
  return performance.now() - start
}

/** Over a connection of its own. */
function statusOf(method, path, body) {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const sent = request({
      host: '127.0.0.1',
      port,
      method,
      path,
      agent: false,
      localAddress: address,
      headers,
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      response.on('error', reject)
      response.on('end', () => resolve(response.statusCode))
      response.resume()
    })
    sent.end(body)
  })
}

parentPort.on('message', (message) => {
  isOver = message === 'end'
  if (isOver) return wake()
  callOn().then(
    (pace) => parentPort.postMessage(pace),
    (error) => parentPort.postMessage({ error: String(error) }),
  )
})
