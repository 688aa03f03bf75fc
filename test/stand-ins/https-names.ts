// Servers on loopback under names of the internet, by https: a connection goes to the server of the name that it asks for.
import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { createServer } from 'node:tls'

export type HttpsNames = { port: number; close(): void }

/** `servers`: base addresses by name. Others are cut off. */
export async function startHttpsNames(
  tls: { key: string; cert: string },
  host: string,
  servers: Record<string, string>,
): Promise<HttpsNames> {
  const server = createServer(tls, (socket) => {
    const { servername } = socket as { servername?: string | false }
    const url = servers[String(servername)]
    if (url === undefined) return socket.destroy()
    const { hostname, port } = new URL(url)
    const behind = connect(Number(port), hostname)
    for (const [from, to] of [[socket, behind] as const, [behind, socket] as const])
      from
        .on('error', () => to.destroy())
        .on('close', () => to.destroy())
        .pipe(to)
  })
  server.on('tlsClientError', () => {})
  server.listen(0, host)
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => server.close() }
}
