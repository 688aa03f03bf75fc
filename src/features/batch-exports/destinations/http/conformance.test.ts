import { startCaptureServer } from '../../../../../test/stand-ins/capture-server.ts'
import { openOutbound } from '../../../../platform/outbound/outbound.ts'
import type { DestinationKind } from '../destination.ts'
import { describeDestination } from '../fixture/suite.ts'
import { httpKind } from './kind.ts'

const TOKEN = 'phc_token_of_the_receiver'

describeDestination(
  'HTTP',
  async () => {
    const endpoint = await startCaptureServer(TOKEN)
    const outbound = openOutbound({ allow: ['127.0.0.1'] })
    return {
      kind: httpKind as unknown as DestinationKind,
      config: { url: endpoint.url, token: TOKEN },
      wrong_credentials: { url: endpoint.url, token: 'phc_token_of_another' },
      outbound,
      settings: { export_folder: '/nowhere', allow_plaintext: false },
      rows: async () =>
        endpoint.batches.flatMap(({ events }) =>
          events.map(({ properties: { $geoip_disable: _ours, ...properties }, ...event }) => ({
            ...event,
            properties,
            elements_chain: '',
          })),
        ),
      makeTableWithout: null,
      leftovers: async () => [],
      cuts: endpoint,
      async close() {
        await outbound.close()
        await endpoint.close()
      },
    }
  },
  { is_at_least_once: true },
)
