// Spellings of inner addresses, each as the host of a database and in an address of HTTP.
import { expect } from 'vitest'
import { withHost } from '../../src/features/batch-exports/fixture/every-kind.ts'
import { attackEach, type Attack } from './attack.ts'
import { assertNobodyCalled, exportTo, withExport } from './s01-s02-outbound.ts'
import { CONFIGS, NOWHERE, type Scene } from './scene.ts'

const SPELLINGS = [
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7F.1',
  '0177.0.0.1',
  '017700000001',
  '127.0.0.1.',
  '１２７.０.０.１',
  '127。0。0。1',
  '①②⑦.0.0.1',
  '0',
  '0.0.0.0',
  '10.0.0.1',
  '192.168.1.1',
  '172.16.0.1',
  '172.31.255.254',
  '100.64.0.1',
  '100.100.100.200',
  '169.254.169.254',
  '2852039166',
  '168.63.129.16',
  '198.18.0.1',
  '192.0.2.1',
  '255.255.255.255',
  '224.0.0.1',
  'localhost',
  'LOCALHOST.',
  'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
  'metadata.google.internal',
  'nowhere.example',
  'inner.example',
  'some-inner.example',
  'a..b',
  'x'.repeat(300),
]

const IN_IPV6 = [
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:0:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2002:a9fe:a9fe::]',
  '[2001:0:7f00:1::]',
  '[2001:db8::1]',
  '[fe80::1]',
  '[fec0::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[ff02::1]',
]

/** Kinds that name their host in different ways: alone, and within an address. */
const KINDS = ['Postgres', 'HTTP']

function refuses(scene: Scene, host: string): Promise<void> {
  const { call, dns, exports, home, inner } = scene
  for (const name of ['inner.example', 'metadata.google.internal']) dns.setAddresses(name, ['127.0.0.1'])
  dns.setAddresses('some-inner.example', [NOWHERE, '10.0.0.1'])
  return assertNobodyCalled(scene, async () => {
    for (const type of KINDS) {
      const body = exportTo(type, withHost(type, CONFIGS[type]!, host, inner.port)!)
      for (const path of [exports, `${exports}run_test_step_new/`]) {
        const reply = await call('POST', path, { key: home.owner.key, body })
        expect([type, reply.status]).toEqual([type, 400])
        expect(reply.body.attr).toMatch(/^destination(__(host|url))?$/)
      }
    }
    await withExport(scene, 'HTTP')
  })
}

const named = (host: string) => `a destination at ${host.slice(0, 40)}`

export const attacks: Attack<Scene>[] = [
  ...attackEach<Scene, string>('S4', SPELLINGS, named, refuses),
  ...attackEach<Scene, string>('S5', IN_IPV6, named, refuses),
]
