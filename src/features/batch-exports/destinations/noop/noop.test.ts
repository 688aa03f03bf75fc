import { expect, it } from 'vitest'
import { openOutbound } from '../../../../platform/outbound/outbound.ts'
import type { DestinationKind } from '../destination.ts'
import { describeDestination } from '../fixture/suite.ts'
import { noOpKind } from './kind.ts'

describeDestination(
  'NoOp',
  async () => {
    const outbound = openOutbound({ allow: [] })
    return {
      kind: noOpKind as unknown as DestinationKind,
      config: { arg: 'anything' },
      wrong_credentials: null,
      outbound,
      settings: { export_folder: '/nowhere', allow_plaintext: false },
      rows: async () => [],
      makeTableWithout: null,
      leftovers: async () => [],
      cuts: null,
      close: () => outbound.close(),
    }
  },
  { keeps_nothing: true },
)

it('takes its argument as it is, or none', () => {
  expect(noOpKind.config.parse({})).toMatchObject({ arg: '' })
  expect(noOpKind.config.parse({ arg: ' x ' })).toMatchObject({ arg: ' x ' })
})
