// Node's own agents behind the gate, for the clients of object stores, which make their sockets themselves. Every
// connection is checked when it is made, also the one that a redirect leads to.
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Socket } from 'node:net'
import { canonicalHost } from './address.ts'
import { gatedLookup } from './connector.ts'
import { OutboundRefused } from './errors.ts'
import type { Gate } from './gate.ts'

export type GatedAgents = { http: HttpAgent; https: HttpsAgent; close(): void }

/** The clients have limits for a whole request at best, and those cannot tell a large file from a dead connection. */
type Limits = { connect_ms: number; idle_ms: number }
const LIMITS: Limits = { connect_ms: 10_000, idle_ms: 60_000 }

const MAX_CONNECTIONS = 16

export function gatedAgents(gate: Gate, limits: Limits = LIMITS): GatedAgents {
  const options = {
    keepAlive: true,
    maxSockets: MAX_CONNECTIONS,
    timeout: limits.idle_ms,
    lookup: gatedLookup(gate),
  }
  const http = guarded(new HttpAgent(options), gate, limits)
  // Said aloud because NODE_TLS_REJECT_UNAUTHORIZED=0 would turn the default off.
  const https = guarded(new HttpsAgent({ ...options, rejectUnauthorized: true }), gate, limits)
  return {
    http,
    https,
    close() {
      http.destroy()
      https.destroy()
    },
  }
}

type Dial = (
  options: { host?: string },
  callback: (error: Error | null, socket?: Socket) => void,
) => Socket | undefined

/** Node asks the lookup for names only, so addresses are checked before they are dialled. */
function guarded<A extends HttpAgent>(agent: A, gate: Gate, limits: Limits): A {
  // Part of Node's documented interface, though not of its types for version 20.
  const dialling = agent as unknown as { createConnection: Dial }
  const dial = dialling.createConnection.bind(agent)
  dialling.createConnection = (options, callback) => {
    try {
      const host = canonicalHost(options.host ?? '')
      if (!host) throw new OutboundRefused()
      const checked = host.kind === 'name' ? options : { ...options, host: gate.checkIp(host.ip).address }
      return limited(dial(checked, callback), limits)
    } catch (error) {
      queueMicrotask(() => callback(error as Error))
      return undefined
    }
  }
  return agent
}

function limited(socket: Socket | undefined, limits: Limits): Socket | undefined {
  socket?.setTimeout(limits.connect_ms)
  socket?.once('connect', () => socket.setTimeout(limits.idle_ms))
  socket?.on('timeout', () => {
    const code = socket.connecting ? 'ETIMEDOUT' : 'ESOCKETTIMEDOUT'
    socket.destroy(Object.assign(new Error('nothing came within the time limit'), { code }))
  })
  return socket
}
