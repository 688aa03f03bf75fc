// Host names and addresses in one spelling, and which addresses are public. Pure; called by the gate and by the
// reader of the allow-list, so that both compare the same spellings.
import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

export type Ip = ipaddr.IPv4 | ipaddr.IPv6

export type Host = { kind: 'address'; ip: Ip } | { kind: 'name'; name: string }

const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR('2000::/3')

/** Azure's metadata and agent service: the one such address that lies in a public range. */
const PUBLIC_LOOKING_METADATA = ipaddr.IPv4.parse('168.63.129.16')

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/

/** The host in its one spelling, or null for what cannot be one. Takes IPv6 with and without brackets. */
export function canonicalHost(host: string): Host | null {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
  if (isIPv6(bare)) return { kind: 'address', ip: canonicalIp(bare) }
  // What would end the host inside a URL must not let its rest go unchecked.
  if (/[\s/\\?#@:[\]%\p{Cc}]/u.test(host)) return null
  // The URL parser knows every spelling a connecting library may know: 2130706433, 0x7f.1, 0177.0.0.1, 127.1,
  // full-width digits and IDN.
  const url = `http://${host}/`
  if (!URL.canParse(url)) return null
  const parsed = new URL(url).hostname.replace(/\.$/, '')
  if (ipaddr.IPv4.isValidFourPartDecimal(parsed)) return { kind: 'address', ip: canonicalIp(parsed) }
  return isHostName(parsed) ? { kind: 'name', name: parsed } : null
}

/** IPv4 inside IPv6 (`::ffff:10.0.0.1`) becomes the IPv4 address that the system would dial. */
export function canonicalIp(address: string): Ip {
  return ipaddr.process(address)
}

/**
 * Whether anybody on the internet could be behind the address. An allow-list: everything else, NAT64 (64:ff9b::/96),
 * 6to4, IPv4-compatible (`::127.0.0.1`) and what is yet to be assigned, counts as inner.
 */
export function isPublic(ip: Ip): boolean {
  if (ip.range() !== 'unicast') return false
  if (ip.kind() === 'ipv6') return ip.match(GLOBAL_UNICAST_V6)
  return !ip.match(PUBLIC_LOOKING_METADATA, 32)
}

function isHostName(name: string): boolean {
  return name.length <= 253 && name.split('.').every((label) => LABEL.test(label))
}
