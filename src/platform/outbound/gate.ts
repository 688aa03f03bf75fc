// Which address stands behind a host, and whether it may be dialled. Called at connect time, for every hop, by
// the HTTP dispatcher, and by the TCP clients of destinations through `checkedAddress`.
import { withTimeout } from '../../lib/with-timeout.ts'
import { lookup as systemLookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { canonicalIp, isPublic, type Host, type Ip } from './address.ts'
import type { AllowList } from './allow-list.ts'
import { OutboundRefused, OutboundUnresolved } from './errors.ts'

export type CheckedAddress = { address: string; family: 4 | 6 }

/** All addresses of a name; rejects or answers with none if there are none. */
export type Lookup = (name: string) => Promise<{ address: string }[]>

export type Gate = {
  /**
   * The addresses that may be dialled for this host, at least one. Throws OutboundRefused otherwise: as
   * OutboundUnresolved when there is no address.
   */
  check(host: Host | null): Promise<CheckedAddress[]>
  /** The same for a literal address, which needs no lookup. */
  checkIp(ip: Ip): CheckedAddress
}

/** getaddrinfo alone may take half a minute with dead name servers, and `checkedAddress` has no other limit. */
const LOOKUP_LIMIT_MS = 5000

export const lookupBySystem: Lookup = (name) => systemLookup(name, { all: true })

export function openGate(allow: AllowList, lookup: Lookup): Gate {
  const checkIp = (ip: Ip) => {
    if (!isPublic(ip) && !allow.allowsAddress(ip)) throw new OutboundRefused()
    return toChecked(ip)
  }
  return {
    checkIp,
    async check(host) {
      if (!host) throw new OutboundRefused()
      if (host.kind === 'address') return [checkIp(host.ip)]
      const ips = await resolve(host.name, lookup)
      // One inner address among public ones refuses the name: it would be a matter of luck which one is dialled.
      return ips.map(allow.allowsName(host.name) ? toChecked : checkIp)
    },
  }
}

async function resolve(name: string, lookup: Lookup): Promise<Ip[]> {
  const found = await withTimeout(lookup(name), LOOKUP_LIMIT_MS, () => []).catch(() => [])
  if (found.length === 0) throw new OutboundUnresolved()
  if (!found.every(({ address }) => isIP(address))) throw new OutboundRefused()
  return found.map(({ address }) => canonicalIp(address))
}

function toChecked(ip: Ip): CheckedAddress {
  return { address: ip.toString(), family: ip.kind() === 'ipv4' ? 4 : 6 }
}
