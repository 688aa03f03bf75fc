// The only way to call an address that a user gave us: webhooks, plugin fetches and export destinations. Every
// connection goes through the gate when it is made, so a check at save time cannot grow stale.
import { Agent } from 'undici'
import { canonicalHost } from './address.ts'
import { gatedAgents, type GatedAgents } from './agents.ts'
import { parseAllowList } from './allow-list.ts'
import { call, type OutboundAnswer, type OutboundInit } from './call.ts'
import { gatedConnector } from './connector.ts'
import { lookupBySystem, openGate, type CheckedAddress, type Lookup } from './gate.ts'

export type Outbound = {
  /** Throws OutboundRefused when the gate says no, OutboundFailed when the call fails on the way. */
  fetch(url: string, init?: OutboundInit): Promise<OutboundAnswer>
  /** For TCP clients of destinations: connect to the address returned, never to the name again. */
  checkedAddress(host: string): Promise<CheckedAddress>
  /** For HTTP clients that others wrote: what they dial through these is checked. To be closed by the caller. */
  agents(): GatedAgents
  close(): Promise<void>
}

/**
 * To one host, by everybody together: more than export runs and apps have under way. With fewer, calls of one tenant that
 * hang would keep those of others to the same host waiting.
 */
const CONNECTIONS_PER_HOST = 256

export function openOutbound(options: { allow: readonly string[]; lookup?: Lookup }): Outbound {
  const gate = openGate(parseAllowList(options.allow), options.lookup ?? lookupBySystem)
  const agent = new Agent({
    connect: gatedConnector(gate),
    connections: CONNECTIONS_PER_HOST,
    keepAliveMaxTimeout: 10_000,
    // The call's own limit covers both, over all hops.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  return {
    fetch: (url, init = {}) => call(agent, url, init),
    async checkedAddress(host) {
      const [first] = await gate.check(canonicalHost(host))
      return first!
    },
    agents: () => gatedAgents(gate),
    close: () => agent.close(),
  }
}
