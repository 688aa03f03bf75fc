// Reads what a first start prints, as a newcomer would.
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
  const line = (name: string) => new RegExp(`^ {2}${name} +(\\S+)$`, 'm').exec(server.stdout())?.[1] ?? ''
  const curl = /^ {2}curl -H '([^:']+): ([^']+)' (\S+)$/m.exec(server.stdout())
  const capture = /^ {2}curl (\S+) -d '(\{[^']+\})'$/m.exec(server.stdout())
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
