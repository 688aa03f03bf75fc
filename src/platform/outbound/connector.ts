// undici's connector behind the gate. Literal addresses are checked before dialling, because Node looks up names
// only; names are checked in the lookup of the very connection, so that nothing can change between check and use.
import type { LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import { buildConnector } from 'undici'
import { canonicalHost } from './address.ts'
import { OutboundRefused } from './errors.ts'
import type { Gate } from './gate.ts'

const CONNECT_LIMIT_MS = 10_000

export function gatedConnector(gate: Gate): buildConnector.connector {
  const dial = buildConnector({
    lookup: gatedLookup(gate),
    timeout: CONNECT_LIMIT_MS,
    // Said aloud because NODE_TLS_REJECT_UNAUTHORIZED=0 would turn the default off.
    rejectUnauthorized: true,
  })
  return (options, callback) => {
    const host = canonicalHost(options.hostname)
    if (host?.kind === 'name') return dial(options, callback)
    let hostname: string
    try {
      if (!host) throw new OutboundRefused()
      hostname = gate.checkIp(host.ip).address
    } catch (error) {
      return queueMicrotask(() => callback(error as Error, null))
    }
    dial({ ...options, hostname }, callback)
  }
}

export function gatedLookup(gate: Gate): LookupFunction {
  const check = callbackify((hostname: string) => gate.check(canonicalHost(hostname)))
  return (hostname, options, callback) =>
    check(hostname, (error, addresses) => {
      if (error) callback(error, '', 0)
      else if (options.all) callback(null, addresses)
      else callback(null, addresses[0]!.address, addresses[0]!.family)
    })
}
