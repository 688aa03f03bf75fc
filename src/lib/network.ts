// Where a request comes from, as limits and fair queues see it.
import ipaddr from 'ipaddr.js'

export type Origin = {
  /** One subscriber: an IPv4 address, or the /64 that a single IPv6 host picks its addresses from. */
  address: string
  /** Who may hold many of them: a /24 of IPv4, a /48 of IPv6. */
  network: string
}

/** All that is no address is one place: a proxy that passes such text on must not hand out a place per text. */
const UNKNOWN: Origin = { address: 'unknown address', network: 'unknown network' }

/** Reading an address costs as much as routing its request, and most come again and again. */
const known = new Map<string, Origin>()
const MOST_KNOWN = 1_000

export function originOf(ip: string): Origin {
  const found = known.get(ip)
  if (found) return found
  if (known.size >= MOST_KNOWN) known.clear()
  const origin = readOrigin(ip)
  known.set(ip, origin)
  return origin
}

function readOrigin(ip: string): Origin {
  if (!ipaddr.isValid(ip)) return UNKNOWN
  // 192.0.2.1 and ::ffff:192.0.2.1 are one host.
  const address = ipaddr.process(ip)
  const [host, network] = address.kind() === 'ipv4' ? [32, 24] : [64, 48]
  return { address: prefix(address, host), network: prefix(address, network) }
}

/** IPv4 as such, however the socket writes it. */
export function plainAddress(ip: string): string {
  return ip.replace(/^::ffff:(?=\d+\.)/i, '')
}

function prefix(address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): string {
  const bytes = address.toByteArray().slice(0, bits / 8)
  return `${Buffer.from(bytes).toString('hex')}/${bits}`
}
