// The internet on loopback: `https://<host>/…` goes to the server that a test gives for this host, by the real gate, so
// that limits of size and time are the real ones. Only names and TLS are not.
import { openOutbound, type Outbound } from '../../src/platform/outbound/outbound.ts'

/** Base addresses by host, for `services.outbound`. Other hosts are looked up as ever. */
export function mapHosts(servers: Record<string, string>): Outbound {
  const gate = openOutbound({ allow: ['127.0.0.1'] })
  return {
    ...gate,
    checkedAddress: (host) => gate.checkedAddress(host in servers ? '127.0.0.1' : host),
    fetch(address, init = {}) {
      const { protocol, host, pathname, search } = new URL(address)
      const server = protocol === 'https:' ? servers[host] : undefined
      if (server === undefined) return gate.fetch(address, init)
      const headers = { ...init.headers, 'x-forwarded-proto': 'https', 'x-forwarded-host': host }
      return gate.fetch(`${server}${pathname}${search}`, { ...init, headers })
    },
  }
}
