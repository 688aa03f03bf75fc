// A browser as far as signing in needs one: it keeps cookies, follows redirects and sends forms, between the application
// and the providers on loopback.
import type { Reply, TestApp } from '../harness/app.ts'

export const SITE = 'http://longshore.test'

export type Page = { url: URL; status: number; body: string }

export class HttpBrowser {
  /** By host. */
  readonly #cookies = new Map<string, Map<string, string>>()
  /** Every address on the way, the last page's last. */
  readonly visited: URL[] = []

  /** `servers`: where hosts other than ours listen. */
  constructor(
    private readonly app: TestApp,
    private readonly servers: Record<string, string> = {},
  ) {}

  /** The page at the end of all redirects. */
  async go(address: string, form?: Record<string, string>): Promise<Page> {
    let url = new URL(address, this.visited.at(-1) ?? SITE)
    let sent = form
    for (let hops = 0; hops < 20; hops++) {
      this.visited.push(url)
      const { status, location, body } = await this.#ask(url, sent)
      if (location === undefined) return { url, status, body }
      url = new URL(location, url)
      sent = undefined
    }
    throw new Error(`too many redirects: ${this.visited.join(' ')}`)
  }

  /** One answer of the application, and where it leads. */
  async call(address: string): Promise<Reply> {
    const url = new URL(address, SITE)
    const reply = await this.app.get(`${url.pathname}${url.search}`, {
      headers: { cookie: this.#cookieOf(url) },
    })
    this.#keep(url, [reply.headers['set-cookie'] ?? []].flat().map(String))
    return reply
  }

  get session(): string | undefined {
    return this.#cookies.get(new URL(SITE).host)?.get('sessionid')
  }

  async #ask(url: URL, form: Record<string, string> | undefined) {
    if (url.origin === SITE) {
      // Pages of the console are none of the API.
      if (!/^\/(login|complete)\/./.test(url.pathname)) return { status: 200, location: undefined, body: '' }
      const { status, headers, body } = await this.call(url.href)
      return { status, location: headers.location as string | undefined, body: JSON.stringify(body) }
    }
    const server = this.servers[url.host]
    if (server === undefined) return { status: 0, location: undefined, body: '' }
    const response = await fetch(`${server}${url.pathname}${url.search}`, {
      redirect: 'manual',
      headers: { cookie: this.#cookieOf(url), 'x-forwarded-proto': 'https', 'x-forwarded-host': url.host },
      ...(form ? { method: 'POST', body: new URLSearchParams(form) } : {}),
    })
    this.#keep(url, response.headers.getSetCookie())
    const location = response.headers.get('location') ?? undefined
    return { status: response.status, location, body: await response.text() }
  }

  #cookieOf({ host }: URL): string {
    return [...(this.#cookies.get(host) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  #keep({ host }: URL, cookies: string[]): void {
    const jar = this.#cookies.get(host) ?? new Map<string, string>()
    this.#cookies.set(host, jar)
    for (const cookie of cookies) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (!name) continue
      if (value === '' || /max-age=0|expires=Thu, 01 Jan 1970/i.test(cookie)) jar.delete(name)
      else jar.set(name, value!)
    }
  }
}
