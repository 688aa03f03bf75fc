// exportEvents with crypto, zlib and Buffer.
import { createHmac, randomUUID } from 'crypto'
import { gzipSync } from 'zlib'

export async function exportEvents(events: any[], { config }: any): Promise<void> {
  const body = JSON.stringify(events.map(({ uuid, event, properties }) => ({ uuid, event, properties })))
  const answer = await fetch(config.url, {
    method: 'POST',
    headers: {
      'x-signature': createHmac('sha256', config.secret).update(body).digest('hex'),
      'x-bundle': randomUUID(),
      'content-encoding': 'gzip',
    },
    body: gzipSync(Buffer.from(body, 'utf8')),
  })
  if (!answer.ok) throw new RetryError(`answered ${answer.status}`)
}
