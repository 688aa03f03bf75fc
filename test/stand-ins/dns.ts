// A name server on loopback, UDP and TCP on one port, with the answers a test sets: addresses, TXT, CNAME, and the ways
// in which a name server fails. Called by the tests of TXT lookups and of domain verification, and by the attacks.
import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, isIPv6, type AddressInfo, type Server, type Socket } from 'node:net'
import * as dnsPacket from 'dns-packet'

export type DnsFailure = 'NXDOMAIN' | 'NODATA' | 'SERVFAIL' | 'REFUSED' | 'SILENT'

export type DnsStandIn = {
  /** `127.0.0.1:port`, as in DNS_SERVERS. */
  address: string
  /** One record per value; a list of strings is one record in several parts. Ends a failure set before. */
  setTxt(name: string, values: (string | string[])[]): void
  /** One list for each time it is asked; the last one stays. */
  setAddresses(name: string, ...answers: string[][]): void
  setCname(name: string, target: string): void
  setFailure(name: string, failure: DnsFailure): void
  /** Over UDP this name gets an empty answer marked as cut off, so that the client must ask over TCP. */
  setTruncated(name: string): void
  /** Every question so far, as `udp TXT name` or `tcp TXT name` with the name in lower case. */
  queries: string[]
  close(): Promise<void>
}

type Zone = {
  txt: Map<string, Buffer[][]>
  cname: Map<string, string>
  addresses: Map<string, string[][]>
  failures: Map<string, DnsFailure>
  truncated: Set<string>
}

const RCODES = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5 } as const
const UDP_SIZE_WITHOUT_EDNS = 512

export async function startDnsServer(): Promise<DnsStandIn> {
  const zone: Zone = {
    txt: new Map(),
    cname: new Map(),
    addresses: new Map(),
    failures: new Map(),
    truncated: new Set(),
  }
  const queries: string[] = []
  const { udp, tcp, port } = await listenOnOnePort()
  const open = new Set<Socket>()

  udp.on('message', (message: Buffer, client: RemoteInfo) => {
    const answer = answerTo(dnsPacket.decode(message), 'udp', zone, queries)
    if (answer) udp.send(answer, client.port, client.address)
  })
  tcp.on('connection', (socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => socket.destroy())
    serveTcp(socket, (query) => answerTo(query, 'tcp', zone, queries))
  })

  return {
    address: `127.0.0.1:${port}`,
    queries,
    setTxt: (name, values) => {
      zone.failures.delete(canonical(name))
      zone.txt.set(canonical(name), values.map(toParts))
    },
    setAddresses: (name, ...answers) => {
      zone.addresses.set(canonical(name), answers)
    },
    setCname: (name, target) => {
      zone.failures.delete(canonical(name))
      zone.cname.set(canonical(name), canonical(target))
    },
    setFailure: (name, failure) => {
      zone.failures.set(canonical(name), failure)
    },
    setTruncated: (name) => {
      zone.truncated.add(canonical(name))
    },
    async close() {
      for (const socket of open) socket.destroy()
      await Promise.all([
        new Promise<void>((resolve) => udp.close(() => resolve())),
        new Promise<void>((resolve) => tcp.close(() => resolve())),
      ])
    },
  }
}

/** TCP picks the port; another process may hold it for UDP, so a few tries. */
async function listenOnOnePort(): Promise<{ udp: UdpSocket; tcp: Server; port: number }> {
  for (let tries_left = 5; ; tries_left -= 1) {
    const tcp = createServer().listen(0, '127.0.0.1')
    await once(tcp, 'listening')
    const { port } = tcp.address() as AddressInfo
    const udp = createSocket('udp4').bind(port, '127.0.0.1')
    try {
      await once(udp, 'listening')
      return { udp, tcp, port }
    } catch (error) {
      tcp.close()
      if (tries_left === 0) throw error
    }
  }
}

function serveTcp(socket: Socket, answer: (query: dnsPacket.DecodedPacket) => Buffer | null): void {
  let received = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
      const end = 2 + received.readUInt16BE(0)
      const reply = answer(dnsPacket.decode(received.subarray(2, end)))
      received = received.subarray(end)
      if (!reply) continue
      const length = Buffer.alloc(2)
      length.writeUInt16BE(reply.length)
      socket.write(Buffer.concat([length, reply]))
    }
  })
}

function answerTo(
  query: dnsPacket.DecodedPacket,
  transport: 'udp' | 'tcp',
  zone: Zone,
  queries: string[],
): Buffer | null {
  const question = query.questions?.[0]
  if (!question) return null
  const name = canonical(question.name)
  queries.push(`${transport} ${question.type} ${name}`)

  const failure = failureFor(name, zone)
  if (failure === 'SILENT') return null
  const rcode = failure && failure !== 'NODATA' ? RCODES[failure] : 0
  const answers = failure ? [] : recordsFor(question, zone)
  const whole = encode(query, dnsPacket.AUTHORITATIVE_ANSWER | rcode, answers)
  if (transport === 'tcp' || (!zone.truncated.has(name) && whole.length <= udpSizeOf(query))) return whole
  return encode(query, dnsPacket.AUTHORITATIVE_ANSWER | dnsPacket.TRUNCATED_RESPONSE, [])
}

function failureFor(name: string, zone: Zone): DnsFailure | null {
  const set = zone.failures.get(name)
  if (set) return set
  return [zone.txt, zone.cname, zone.addresses].some((known) => known.has(name)) ? null : 'NXDOMAIN'
}

function recordsFor({ type, name }: dnsPacket.Question, zone: Zone): dnsPacket.Answer[] {
  if (type === 'TXT') return recordsOf(name, zone)
  if (type !== 'A' && type !== 'AAAA') return []
  const given = zone.addresses.get(canonical(name)) ?? []
  const wanted = (given[0] ?? []).filter((address) => (isIPv6(address) ? 'AAAA' : 'A') === type)
  // Both kinds are asked for at a time: the second of them is what moves on.
  if (type === 'AAAA' && given.length > 1) given.shift()
  return wanted.map((data) => ({ type, name, ttl: 0, data }))
}

/** The alias and what it leads to in one answer, as a real server does when it knows both. */
function recordsOf(asked: string, zone: Zone): dnsPacket.Answer[] {
  const answers: dnsPacket.Answer[] = []
  let owner = asked
  // A loop of aliases would never end; no test needs more than a few steps.
  for (let steps = 0; steps < 8; steps += 1) {
    const target = zone.cname.get(canonical(owner))
    if (target === undefined) break
    answers.push({ type: 'CNAME', name: owner, ttl: 0, data: target })
    owner = target
  }
  for (const parts of zone.txt.get(canonical(owner)) ?? []) {
    answers.push({ type: 'TXT', name: owner, ttl: 0, data: parts })
  }
  return answers
}

function encode(query: dnsPacket.DecodedPacket, flags: number, answers: dnsPacket.Answer[]): Buffer {
  return dnsPacket.encode({ type: 'response', id: query.id, flags, questions: query.questions, answers })
}

function udpSizeOf(query: dnsPacket.DecodedPacket): number {
  const edns = query.additionals?.find((record) => record.type === 'OPT')
  return edns?.type === 'OPT' ? Math.max(edns.udpPayloadSize, UDP_SIZE_WITHOUT_EDNS) : UDP_SIZE_WITHOUT_EDNS
}

/** A TXT record is made of strings of at most 255 bytes. */
function toParts(value: string | string[]): Buffer[] {
  if (Array.isArray(value)) return value.map((part) => Buffer.from(part))
  const bytes = Buffer.from(value)
  const parts: Buffer[] = []
  for (let start = 0; start < bytes.length || start === 0; start += 255) {
    parts.push(bytes.subarray(start, start + 255))
  }
  return parts
}

function canonical(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}
