// An answer on a bare connection, where no request could be read or none is wanted. The connection ends with it.
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ApiError } from './errors.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

export function answerOn(socket: Socket, error: ApiError): void {
  const body = JSON.stringify(error.body())
  const headers = {
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    ...error.headers,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`)
  socket.destroySoon()
}
