// What tests of whole apps need: an app installed from its folder, switched on, fed with events, and watched.
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import {} from 'vitest'
import { createOrganization, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { untilTrue } from '../harness/until.ts'

const APPS = join(import.meta.dirname, '../apps')

export type Got = {
  event: string
  distinct_id: string
  timestamp: string
  properties: Record<string, unknown>
}

export class Workbench {
  private constructor(
    readonly app: TestApp,
    readonly workspace: Workspace,
  ) {}

  static async open(env: Record<string, string> = {}): Promise<Workbench> {
    const app = await startTestApp({
      OUTBOUND_ALLOW: '127.0.0.1',
      PLUGINS_LOCAL_DIR: APPS,
      // However busy the machine is.
      PLUGIN_PATIENCE_MS: '30000',
      ...env,
    })
    return new Workbench(app, await createOrganization(app))
  }

  /** The same application, with an organization of its own. */
  async another(): Promise<Workbench> {
    return new Workbench(this.app, await createOrganization(this.app))
  }

  get key(): string {
    return this.workspace.owner.key
  }

  get organizationUrl(): string {
    return `/api/organizations/${this.workspace.organization.id}`
  }

  get projectUrl(): string {
    return `/api/projects/${this.workspace.project.id}`
  }

  /** From its folder, as an operator's own app. */
  async installLocal(name: string): Promise<{ id: number; capabilities: Record<string, string[]> }> {
    return this.#installed({ url: `file:${join(APPS, name)}` })
  }

  /** From an address, as from a repository. */
  async installFrom(
    url: string,
  ): Promise<{ id: number; capabilities: Record<string, string[]>; name: string }> {
    return this.#installed({ url })
  }

  /** By writing its files here. The code always goes by the name index.ts. */
  async write(name: string): Promise<{ id: number; capabilities: Record<string, string[]> }> {
    const { id } = await this.#installed({ name, plugin_type: 'source' })
    const names = await readdir(join(APPS, name))
    const files = await Promise.all(
      names.map(async (file) => [
        file.replace(/^index\.js$/, 'index.ts'),
        await readFile(join(APPS, name, file), 'utf8'),
      ]),
    )
    const { status, body } = await this.app.patch(
      `${this.organizationUrl}/plugins/${id}/update_source/`,
      Object.fromEntries(files),
      { key: this.key },
    )
    if (status !== 200) throw new Error(`${name}: ${JSON.stringify(body)}`)
    return body
  }

  async #installed(body: object) {
    const reply = await this.app.post(`${this.organizationUrl}/plugins/`, body, { key: this.key })
    if (reply.status !== 201) throw new Error(`${JSON.stringify(body)}: ${JSON.stringify(reply.body)}`)
    return reply.body
  }

  /** Its config's id, once it runs. */
  async switchOn(plugin: { id: number }, config: object = {}): Promise<number> {
    const body = { plugin: plugin.id, enabled: true, config }
    const reply = await this.app.post(`${this.projectUrl}/plugin_configs/`, body, { key: this.key })
    if (reply.status !== 201) throw new Error(JSON.stringify(reply.body))
    await this.app.plugins.idle()
    return reply.body.id
  }

  async switchOff(config_id: number): Promise<void> {
    await this.app.patch(
      `${this.projectUrl}/plugin_configs/${config_id}/`,
      { enabled: false },
      { key: this.key },
    )
    await this.app.plugins.idle()
  }

  async config(id: number) {
    return (await this.app.get(`${this.projectUrl}/plugin_configs/${id}/`, { key: this.key })).body
  }

  async capture(event: string, properties: object = {}, fields: object = {}): Promise<void> {
    const body = {
      api_key: this.workspace.project.api_token,
      event,
      distinct_id: 'ann',
      properties,
      ...fields,
    }
    const { status } = await this.app.post('/capture/', body)
    if (status !== 200) throw new Error(`not taken: ${status}`)
  }

  /** Newest first. */
  async stored(event?: string): Promise<Got[]> {
    const filter = event === undefined ? '' : `?event=${encodeURIComponent(event)}`
    return (await this.app.get(`${this.projectUrl}/events/${filter}`, { key: this.key })).body.results
  }

  async logs(config_id: number): Promise<{ type: string; source: string; message: string }[]> {
    await this.app.plugins.logs.flush()
    const reply = await this.app.get(`${this.projectUrl}/plugin_configs/${config_id}/logs/`, {
      key: this.key,
    })
    return reply.body.results
  }

  /** Timetables, jobs and deliveries, until `isDone`. */
  async work(isDone: () => boolean | Promise<boolean>): Promise<void> {
    await untilTrue(async () => {
      const { plugins } = this.app
      await plugins.tick()
      await plugins.delivery.tick()
      await plugins.idle()
      await plugins.delivery.idle()
      return isDone()
    })
  }

  close(): Promise<void> {
    return this.app.close()
  }
}

export type Heard = { method: string; url: string; headers: IncomingMessage['headers']; body: Buffer }
type Reply = { status?: number; json?: unknown; headers?: Record<string, string> }

/** A server out there, which apps talk to. Everything it hears is kept. */
export async function startListener(answer: (heard: Heard) => Reply = () => ({})) {
  const heard: Heard[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method, url, headers } = request
      const one = { method: method!, url: url!, headers, body: Buffer.concat(chunks) }
      heard.push(one)
      const { status = 200, json = {}, headers: extra = {} } = answer(one)
      response.writeHead(status, { 'content-type': 'application/json', ...extra }).end(JSON.stringify(json))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, heard, close: () => new Promise<void>((resolve) => server.close(() => resolve())) }
}
