// What a browser does between us and an identity provider: it follows redirects, keeps a cookie and posts a form.
import { expect } from 'vitest'
import { inflateRawSync } from 'node:zlib'
import type { Reply } from '../harness/app.ts'

type Options = { body?: unknown; headers?: Record<string, string> }
type Send = (method: string, path: string, options?: Options) => Promise<Reply>

export type Begun = { url: URL; request: string; request_id: string; relay_state: string; cookie: string }

/** Goes to the start page; what the provider gets to see. */
export async function beginSignIn(send: Send, parameters: Record<string, string>): Promise<Begun> {
  const reply = await send('GET', `/login/saml/?${new URLSearchParams(parameters).toString()}`)
  expect([reply.status, reply.headers.location]).toEqual([303, expect.stringContaining('SAMLRequest=')])
  const url = new URL(String(reply.headers.location))
  const request = inflateRawSync(Buffer.from(url.searchParams.get('SAMLRequest')!, 'base64')).toString()
  return {
    url,
    request,
    request_id: / ID="([^"]+)"/.exec(request)![1]!,
    relay_state: url.searchParams.get('RelayState')!,
    cookie: cookieOf(reply),
  }
}

/** Posts the form of the provider's page, from its site, and follows where that leads on ours. */
export async function postAnswer(
  send: Send,
  { relay_state, cookie }: Pick<Begun, 'relay_state' | 'cookie'>,
  SAMLResponse: string,
): Promise<Reply> {
  const posted = await send('POST', '/complete/saml/', {
    body: new URLSearchParams({ SAMLResponse, RelayState: relay_state }).toString(),
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      origin: 'https://idp.example',
      'sec-fetch-site': 'cross-site',
    },
  })
  const location = String(posted.headers.location)
  expect([posted.status, posted.session]).toEqual([303, undefined])
  if (!location.startsWith('/complete/saml/')) return posted
  const own = [cookie, cookieOf(posted)].filter(Boolean).join('; ')
  return send('GET', location, own === '' ? {} : { headers: { cookie: own } })
}

/** The code and the record of a refusal, as the page's address has them. */
export function refusalOf({ headers }: Reply): { code: string | null; id: string | null } {
  const { searchParams } = new URL(String(headers.location), 'http://longshore.test')
  return { code: searchParams.get('error_code'), id: searchParams.get('sign_in') }
}

function cookieOf({ headers }: Reply): string {
  return /sign_on_\w+=[^;]+/.exec([headers['set-cookie'] ?? ''].flat().join('\n'))?.[0] ?? ''
}
