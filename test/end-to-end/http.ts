// Requests to a server in another process: plain fetch, and one whose body arrives slowly.
import { once } from 'node:events'
import { connect } from 'node:net'

export type Answer = {
  status: number
  // Tests read answers of every shape; asserting on a field that is not there fails the test, which is the point.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any
  headers: Headers
}

type Options = { key?: string; cookie?: string; headers?: Record<string, string>; body?: unknown }

export async function request(method: string, url: string, options: Options = {}): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(options.key ? { authorization: `Bearer ${options.key}` } : {}),
      ...(options.cookie ? { cookie: options.cookie } : {}),
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers }
}

export const get = (url: string, key?: string) => request('GET', url, key === undefined ? {} : { key })
export const post = (url: string, body: unknown, options: Options = {}) =>
  request('POST', url, { ...options, body })

/** The answer to a sign-in, and the session cookie it sets. */
export async function signIn(url: string, email: string, password: string) {
  const answer = await post(`${url}/api/login/`, { email, password })
  return { ...answer, cookie: answer.headers.get('set-cookie')!.split(';')[0]! }
}

/** A POST that the server has begun to read. `finish` sends the rest of its body and gives the raw answer. */
export async function beginPost(
  address: string,
  key: string,
  body: unknown,
): Promise<{ finish(): Promise<string> }> {
  const url = new URL(address)
  const text = JSON.stringify(body)
  const socket = connect(Number(url.port), url.hostname)
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()))
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  socket.write(
    `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\nExpect: 100-continue\r\n\r\n`,
  )
  // "100 Continue" says that the request has arrived and its body is waited for.
  while (!received.includes('\r\n\r\n')) await once(socket, 'data')
  socket.write(text.slice(0, 5))
  return {
    async finish() {
      received = ''
      socket.write(text.slice(5))
      await closed
      return received
    },
  }
}

/** Why a new connection is not accepted; null when it is. */
export async function refusal(address: string): Promise<string | null> {
  const { hostname, port } = new URL(address)
  const socket = connect(Number(port), hostname)
  try {
    await once(socket, 'connect')
    return null
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown'
  } finally {
    socket.destroy()
  }
}
