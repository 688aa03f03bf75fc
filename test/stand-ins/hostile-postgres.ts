// Servers that call themselves PostgreSQL and send what none would send, to whoever logs in.
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'

const SECURE_REQUEST = 80877103
const CHUNK = Buffer.alloc(64 * 1024, 'x')

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as never)))

function message(kind: string, ...parts: (string | number[])[]): Buffer {
  const body = bytes(...parts)
  const header = Buffer.alloc(5)
  header.write(kind)
  header.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([header, body])
}

const WELCOME = Buffer.concat([message('R', [0, 0, 0, 0]), message('Z', 'I')])

/** By name: what is sent, at the login or as the answer to the first statement; `repeated` goes on for ever. */
export const HOSTILE_ANSWERS: Record<string, { at: 'login' | 'statement'; sent: Buffer; repeated?: Buffer }> =
  {
    'an error without its end': { at: 'login', sent: message('E', 'Sx') },
    'a notice without its end': { at: 'login', sent: message('N', 'Sx\0M') },
    'an unknown way to log in': { at: 'login', sent: message('R', [0, 0, 0, 99]) },
    'a list of ways without its end': { at: 'login', sent: message('R', [0, 0, 0, 10], 'SCRAM') },
    'a login cut short': { at: 'login', sent: message('R', [0, 0]) },
    'an unknown message': { at: 'login', sent: message('!', 'x') },
    'a length of nothing': { at: 'login', sent: bytes('E', [0, 0, 0, 0]) },
    'no protocol at all': { at: 'login', sent: bytes('HTTP/1.1 400 Bad Request\r\n\r\n') },
    'fewer columns than none': { at: 'statement', sent: message('T', [255, 255]) },
    'a column cut short': { at: 'statement', sent: message('T', [0, 1], 'name') },
    'fewer values than none': { at: 'statement', sent: message('D', [255, 255]) },
    'a value that reaches back': { at: 'statement', sent: message('D', [0, 2], [255, 255, 255, 248]) },
    'a value longer than its row': { at: 'statement', sent: message('D', [0, 1], [0, 0, 255, 255], 'x') },
    'a message of 2 GB': { at: 'statement', sent: bytes('D', [127, 255, 255, 255]), repeated: CHUNK },
    'rows without end': {
      at: 'statement',
      sent: message('T', [0, 1], 'a\0', [0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 0, 0, 0, 0, 0, 0, 0, 0]),
      repeated: message('D', [0, 1], [0, 1, 0, 0], CHUNK.toString()),
    },
  }

export type HostilePostgres = { port: number; use(name: string): void; close(): Promise<void> }

export async function startHostilePostgres(): Promise<HostilePostgres> {
  let answer = Object.values(HOSTILE_ANSWERS)[0]!
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => undefined).on('close', () => open.delete(socket))
    let isLoggedIn = false
    socket.on('data', (data: Buffer) => {
      if (data.length === 8 && data.readInt32BE(4) === SECURE_REQUEST) return void socket.write('N')
      if (answer.at === 'statement' && !isLoggedIn) {
        isLoggedIn = true
        return void socket.write(WELCOME)
      }
      socket.write(answer.sent)
      if (answer.repeated) repeat(socket, answer.repeated)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    use: (name) => void (answer = HOSTILE_ANSWERS[name]!),
    async close() {
      for (const socket of open) socket.destroy()
      await once(server.close(), 'close')
    },
  }
}

function repeat(socket: Socket, chunk: Buffer): void {
  while (!socket.destroyed && socket.write(chunk));
  if (!socket.destroyed) socket.once('drain', () => repeat(socket, chunk))
}
