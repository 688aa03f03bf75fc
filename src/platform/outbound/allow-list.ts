// OUTBOUND_ALLOW: the hosts and CIDRs that may be called although they are private or loopback. Read by the
// settings reader (for its faults) and by the gate.
import ipaddr from 'ipaddr.js'
import { canonicalHost, type Ip } from './address.ts'

export type AllowList = {
  allowsName(name: string): boolean
  allowsAddress(ip: Ip): boolean
}

type Entry = { kind: 'name'; name: string } | { kind: 'range'; base: Ip; bits: number }

/** The entries that are neither a host name, an address nor a CIDR, for one report at start. */
export function findFaultyAllowEntries(entries: readonly string[]): string[] {
  return entries.filter((entry) => parseEntry(entry) === null)
}

/** Throws on a faulty entry: leaving it out would silently close, or open, more than was meant. */
export function parseAllowList(entries: readonly string[]): AllowList {
  const names = new Set<string>()
  const ranges: [Ip, number][] = []
  for (const text of entries) {
    const entry = parseEntry(text)
    if (!entry) throw new Error(`not a host, an address or a CIDR: ${text}`)
    if (entry.kind === 'name') names.add(entry.name)
    else ranges.push([entry.base, entry.bits])
  }
  return {
    allowsName: (name) => names.has(name),
    allowsAddress: (ip) => ranges.some(([base, bits]) => base.kind() === ip.kind() && ip.match(base, bits)),
  }
}

function parseEntry(text: string): Entry | null {
  if (text.includes('/')) return parseCidr(text)
  const host = canonicalHost(text)
  if (host?.kind === 'name') return host
  if (!host || !isPlainAddress(text)) return null
  return { kind: 'range', base: host.ip, bits: host.ip.kind() === 'ipv4' ? 32 : 128 }
}

function parseCidr(text: string): Entry | null {
  if (!ipaddr.IPv4.isValidCIDRFourPartDecimal(text) && !ipaddr.IPv6.isValidCIDR(text)) return null
  const [base, bits] = ipaddr.parseCIDR(text)
  if (base instanceof ipaddr.IPv4) return { kind: 'range', base, bits }
  if (base.zoneId) return null
  // Addresses are compared as IPv4 once unwrapped, so a range of wrapped ones must be unwrapped too.
  if (base.isIPv4MappedAddress() && bits >= 96) {
    return { kind: 'range', base: base.toIPv4Address(), bits: bits - 96 }
  }
  return { kind: 'range', base, bits }
}

/** `10.0.0` or `010.0.0.1` is read by the URL parser, but in a setting it is a slip of the pen. */
function isPlainAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || text.includes(':')
}
