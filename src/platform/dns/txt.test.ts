// TXT lookups against a real name server on loopback, in good and in bad days.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startDnsServer, type DnsStandIn } from '../../../test/stand-ins/dns.ts'
import { openTxtLookup, type TxtLookup } from './txt.ts'

let dns: DnsStandIn
let lookup: TxtLookup

beforeAll(async () => {
  dns = await startDnsServer()
  lookup = openTxtLookup({ servers: [dns.address], timeout_ms: 5000 })
})
afterAll(() => dns.close())

describe('values', () => {
  test('all records of a name', async () => {
    dns.setTxt('many.example', ['v=spf1 -all', 'challenge', ''])
    const { values, failure } = await lookup('many.example')
    expect(values.toSorted()).toEqual(['', 'challenge', 'v=spf1 -all'])
    expect(failure).toBeNull()
  })

  test('the name in upper case and with a trailing dot; the value keeps its case', async () => {
    dns.setTxt('_posthog-challenge.case.example', ['AbC'])
    const wanted = { values: ['AbC'], failure: null }
    expect(await lookup('_PostHog-Challenge.CASE.Example')).toEqual(wanted)
    expect(await lookup('_posthog-challenge.case.example.')).toEqual(wanted)
  })

  test('a name outside ASCII', async () => {
    dns.setTxt('xn--bcher-kva.example', ['books'])
    expect(await lookup('bücher.example')).toEqual({ values: ['books'], failure: null })
  })

  test('behind a CNAME', async () => {
    dns.setCname('alias.example', 'target.example')
    dns.setTxt('target.example', ['behind'])
    expect(await lookup('alias.example')).toEqual({ values: ['behind'], failure: null })
  })

  test('the parts of a record are joined without a separator, and records are kept apart', async () => {
    const long = 'x'.repeat(255) + 'y'.repeat(100)
    dns.setTxt('split.example', [['chall', 'en', 'ge'], long])
    const { values } = await lookup('split.example')
    expect(values.toSorted()).toEqual(['challenge', long])
  })

  test('an answer cut off over UDP is asked for again over TCP', async () => {
    dns.setTxt('cut.example', ['whole'])
    dns.setTruncated('cut.example')
    expect(await lookup('cut.example')).toEqual({ values: ['whole'], failure: null })
    expect(dns.queries.filter((query) => query.endsWith('cut.example'))).toEqual([
      'udp TXT cut.example',
      'tcp TXT cut.example',
    ])
  })

  test('an answer too large for UDP', async () => {
    const values = Array.from({ length: 40 }, (_, index) => `${index}-${'z'.repeat(240)}`)
    dns.setTxt('large.example', values)
    expect((await lookup('large.example')).values.toSorted()).toEqual(values.toSorted())
  })
})

describe('failures give no values and the code', () => {
  test.each([
    ['NXDOMAIN', 'ENOTFOUND'],
    ['NODATA', 'ENODATA'],
    ['SERVFAIL', 'ESERVFAIL'],
    ['REFUSED', 'EREFUSED'],
  ] as const)('%s is %s', async (failure, code) => {
    const name = `${failure.toLowerCase()}.example`
    dns.setTxt(name, ['not to be seen'])
    dns.setFailure(name, failure)
    expect(await lookup(name)).toEqual({ values: [], failure: code })
    expect(dns.queries).toContain(`udp TXT ${name}`)
  })

  test('a name nobody set is NXDOMAIN', async () => {
    expect(await lookup('unknown.example')).toEqual({ values: [], failure: 'ENOTFOUND' })
  })

  test.each([
    ['a label over 63', `${'a'.repeat(64)}.example`],
    ['an empty label', 'a..example'],
  ])('%s is EBADNAME and is never asked for', async (_what, name) => {
    const before = dns.queries.length
    expect(await lookup(name)).toEqual({ values: [], failure: 'EBADNAME' })
    expect(dns.queries).toHaveLength(before)
  })

  test('a dead server', async () => {
    const dead = await startDnsServer()
    await dead.close()
    const answer = await openTxtLookup({ servers: [dead.address], timeout_ms: 5000 })('a.example')
    expect(answer).toEqual({ values: [], failure: 'ECONNREFUSED' })
  })

  test('a server that is no address', async () => {
    const answer = await openTxtLookup({ servers: ['not an address'], timeout_ms: 5000 })('a.example')
    expect(answer).toEqual({ values: [], failure: 'ERR_INVALID_IP_ADDRESS' })
  })

  test('a silent server ends at the time limit, however many are to be tried', async () => {
    const others = [await startDnsServer(), await startDnsServer(), await startDnsServer()]
    for (const server of others) server.setFailure('silent.example', 'SILENT')
    try {
      const servers = others.map(({ address }) => address)
      const began = Date.now()
      const answer = await openTxtLookup({ servers, timeout_ms: 400 })('silent.example')
      expect(answer).toEqual({ values: [], failure: 'ETIMEOUT' })
      expect(Date.now() - began).toBeLessThan(1500)
      expect(others.flatMap(({ queries }) => queries)).toContain('udp TXT silent.example')
    } finally {
      await Promise.all(others.map((server) => server.close()))
    }
  })

  test('one lookup running out of time leaves the others alone', async () => {
    dns.setFailure('hangs.example', 'SILENT')
    dns.setTxt('fine.example', ['fine'])
    const hasty = openTxtLookup({ servers: [dns.address], timeout_ms: 300 })
    const hanging = hasty('hangs.example')
    expect(await hasty('fine.example')).toEqual({ values: ['fine'], failure: null })
    expect(await hanging).toEqual({ values: [], failure: 'ETIMEOUT' })
  })
})
