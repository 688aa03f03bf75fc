// Spellings of inner addresses, each as the host of a database and in an address of HTTP.
import { expect } from 'vitest'
import { withHost } from '../../src/features/batch-exports/fixture/every-kind.ts'
import { INNER_IPV4, INNER_IPV6 } from '../../src/features/batch-exports/fixture/hostile-values.ts'
import { attackEach, type Attack } from './attack.ts'
import { assertNobodyCalled, exportTo, withExport } from './s01-s02-outbound.ts'
import { CONFIGS, NOWHERE, type Scene } from './scene.ts'

const SPELLINGS = [
  ...INNER_IPV4,
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
  ...attackEach<Scene, string>('S5', INNER_IPV6, named, refuses),
]
