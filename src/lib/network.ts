// Whom an address stands for. A household or a rented machine gets a whole /64 of IPv6, so single addresses of it count
// for nothing.
import { isIPv6 } from 'node:net'

const MAPPED_IPV4 = /^::ffff:(?=\d+\.)/i

/** The address itself for IPv4, also where a socket writes it as IPv6; the first half of others. */
export function networkOf(address: string): string {
  const plain = plainAddress(address)
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.split('%', 1)[0]!.toLowerCase().split('::')
  const first = groups(head)
  const last = tail === undefined ? [] : groups(tail)
  const zeros = Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0')
  return [...first, ...zeros, ...last]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}

/** IPv4 as such, however the socket writes it. */
export function plainAddress(address: string): string {
  return address.replace(MAPPED_IPV4, '')
}

/** IPv4 at the end takes the room of two, and is never in the first half that is read. */
function groups(part: string): string[] {
  return part === '' ? [] : part.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]))
}
