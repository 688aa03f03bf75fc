// Everything out there, for apps that are tried: the code host, and one server that stands for every other host.
import { generateKeyPairSync } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { Outbound } from '../../../src/platform/outbound/outbound.ts'
import { startCodeHost, type CodeHost } from '../../stand-ins/code-host.ts'
import { startListener } from '../workbench.ts'

const CODE_HOSTS = /^(?:api\.github\.com|github\.com|codeload\.github\.com|registry\.npmjs\.org)$/

export const GEOIP_DATABASE = fileURLToPath(
  import.meta.resolve('@posthog/geoip-plugin/GeoLite2-City-Test.mmdb'),
)

export type World = {
  host: CodeHost
  outbound: Outbound
  /** `<method> <host><path>` of each request so far. */
  heard: string[]
  /** By a part of the address. */
  answerWith(answers: Record<string, unknown>): void
  close(): Promise<void>
}

export async function openWorld(): Promise<World> {
  const host = await startCodeHost()
  const heard: string[] = []
  let answers: Record<string, unknown> = {}
  const others = await startListener(({ url }) => {
    const known = Object.entries(answers).find(([part]) => url.includes(part))
    return { json: known ? known[1] : url.includes('oauth2.googleapis') ? { access_token: 't' } : {} }
  })
  return {
    host,
    heard,
    answerWith: (given) => void (answers = given),
    outbound: {
      ...host.outbound,
      fetch(address, init) {
        const { host: name, pathname, search } = new URL(address)
        const isCode = CODE_HOSTS.test(name) && !pathname.includes('/releases')
        if (isCode && (init?.method ?? 'GET') === 'GET' && !init?.headers?.['user-agent']?.includes('App'))
          return host.outbound.fetch(address, init)
        heard.push(`${init?.method ?? 'GET'} ${name}${pathname}`)
        return direct(`${others.url}/${name}${pathname}${search}`, init)
      },
      checkedAddress: async () => ({ address: '127.0.0.1', family: 4 }),
    },
    async close() {
      await others.close()
      await host.close()
    },
  }

  /** The code host's own way out leads to the code host alone. */
  async function direct(url: string, init: Parameters<Outbound['fetch']>[1]) {
    const reply = await fetch(url, {
      method: init?.method ?? 'GET',
      headers: init?.headers ?? {},
      ...(init?.body === undefined || init.method === 'GET' ? {} : { body: init.body }),
    })
    return {
      status: reply.status,
      headers: Object.fromEntries(reply.headers),
      body: Buffer.from(await reply.arrayBuffer()),
    }
  }
}

/** A service account of nobody. */
export function serviceAccount(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const private_key = privateKey.export({ type: 'pkcs8', format: 'pem' })
  return JSON.stringify({ project_id: 'shop', client_email: 'a@shop.example', private_key })
}
