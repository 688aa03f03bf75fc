// The paths that client libraries ask for, as the code has them: what a proxy has to lead to processes of the role capture.
import fastify from 'fastify'
import { IngestTally } from '../../src/features/events/ingest-tally.ts'
import { addCapture } from '../../src/features/events/capture/serve.ts'
import { addSiteApps } from '../../src/features/plugins/site-apps/serve.ts'
import type { Services } from '../../src/platform/services.ts'

export async function capturePaths(): Promise<string[]> {
  const http = fastify()
  const paths = new Set<string>()
  http.addHook('onRoute', ({ url }) => void paths.add(url))
  // Nothing is asked of it: paths are added and never called.
  const services = { changes: { listen: () => () => undefined } } as unknown as Services
  addCapture(
    http,
    services,
    { accept: () => Promise.reject(new Error('not here')), tally: new IngestTally() },
    addSiteApps(http, services),
  )
  await http.ready()
  await http.close()
  return [...paths].toSorted()
}

/** The first part of a path, and the second for those under /api. */
export function prefixesOf(paths: readonly string[]): string[] {
  const prefixes = paths.map((path) => /^(?:\/api)?\/[^/]+/.exec(path)![0])
  return [...new Set(prefixes)].toSorted()
}
