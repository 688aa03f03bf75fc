// Reads what a first start has left for its newcomer: nobody watches, so it is in a file.
import { readFile } from 'node:fs/promises'
import type { Running } from './program.ts'

export type Printed = {
  url: string
  email: string
  password: string
  key: string
  token: string
  capture: { url: string; body: Record<string, string> }
  curl: { url: string; headers: Record<string, string> }
}

export async function readFirstStart(server: Running): Promise<Printed> {
  const url = await server.url
  const file = / are in (\S+first-start\.txt): /.exec(server.stdout())?.[1]
  const text = file === undefined ? server.stdout() : await readFile(file, 'utf8')
  const line = (name: string) => new RegExp(`^ {2}${name} +(\\S+)$`, 'm').exec(text)?.[1] ?? ''
  const curl = /^ {2}curl -H '([^:']+): ([^']+)' (\S+)$/m.exec(text)
  const capture = /^ {2}curl (\S+) -d '(\{[^']+\})'$/m.exec(text)
  return {
    url,
    email: line('E-mail'),
    password: line('Password'),
    key: line('API key'),
    token: line('Project'),
    capture: { url: capture?.[1] ?? '', body: JSON.parse(capture?.[2] ?? '{}') as Record<string, string> },
    curl: { url: curl?.[3] ?? '', headers: { [curl?.[1] ?? '']: curl?.[2] ?? '' } },
  }
}
