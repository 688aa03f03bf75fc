// Drives one version of posthog-node through what every version of its line can do.
import { createRequire } from 'node:module'

/**
 * First and last of each major line; the newest is the package without a number in its name, and runs once more with the
 * path that it can be switched to.
 */
export const NODE_VERSIONS = [
  '1.0.0',
  '1.3.0',
  '2.0.1',
  '2.6.0',
  '3.0.0',
  '3.6.3',
  '4.0.0',
  '4.18.0',
  '5.0.0',
  'newest',
  'newest-v1',
] as const

export type NodeVersion = (typeof NODE_VERSIONS)[number]

type Call = (message: Record<string, unknown>) => unknown
type Client = {
  capture: Call
  identify: Call
  alias: Call
  groupIdentify?: Call
  isFeatureEnabled?(key: string, distinctId: string): Promise<unknown>
  getAllFlags?(distinctId: string): Promise<unknown>
  on?(event: string, listener: (error: unknown) => void): void
  flush(callback?: (error: unknown) => void): unknown
  shutdown?(): unknown
  shutdownAsync?(): Promise<void>
}
type ClientClass = new (token: string, options: Record<string, unknown>) => Client

const require = createRequire(import.meta.url)

export const packageOf = (version: NodeVersion) =>
  version.startsWith('newest') ? 'posthog-node' : `posthog-node-${version}`

export type Sent = {
  /** What the client said had failed. */
  failures: unknown[]
  /** What it answered for a flag, and for all of them; undefined where it cannot be asked. */
  flag: unknown
  flags: unknown
}

/** Sends `node event`, and where the version can an identify, an alias and a group. Ends when all is sent. */
export async function runNodeClient(
  version: NodeVersion,
  { url, token, key }: { url: string; token: string; key: string },
): Promise<Sent> {
  const loaded = require(packageOf(version)) as ClientClass & Record<string, ClientClass>
  const Client = loaded.PostHog ?? loaded.default ?? loaded
  const failures: unknown[] = []
  process.env.POSTHOG_CAPTURE_MODE = version === 'newest-v1' ? 'v1' : 'v0'
  const client = new Client(token, { host: url, flushAt: 20, flushInterval: 60_000, personalApiKey: key })
  delete process.env.POSTHOG_CAPTURE_MODE
  client.on?.('error', (error) => failures.push(error))
  const distinctId = `node-${version}`
  client.capture({ distinctId, event: 'node event', properties: { version, nested: { list: [1, 'ü'] } } })
  client.identify({ distinctId, properties: { email: `${version}@example.com` } })
  client.alias({ distinctId, alias: `alias-${version}` })
  client.groupIdentify?.({ groupType: 'company', groupKey: `company-${version}`, properties: { seats: 3 } })
  const flag = await client.isFeatureEnabled?.('no-such-flag', distinctId)
  const flags = await client.getAllFlags?.(distinctId)
  await end(client, failures)
  return { failures, flag, flags }
}

/** The first line sends by callback, and its poller must be stopped besides. */
async function end(client: Client, failures: unknown[]): Promise<void> {
  if (client.shutdownAsync) return client.shutdownAsync()
  if (client.flush.length === 0) return void (await client.shutdown!())
  await new Promise<void>((resolve) => {
    client.flush((error) => {
      if (error) failures.push(error)
      resolve()
    })
  })
  client.shutdown?.()
}
