// Microsoft's own stand-in for Azure Blob Storage, as a child process that holds everything in memory.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'

const require = createRequire(import.meta.url)

export type Azurite = { port: number; account_name: string; account_key: string; close(): Promise<void> }

/** Published with Azurite: every copy of it has them. */
const ACCOUNT_NAME = 'devstoreaccount1'
const ACCOUNT_KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='

export async function startAzurite(): Promise<Azurite> {
  const program = require.resolve('azurite/dist/src/blob/main.js')
  const options = ['--inMemoryPersistence', '--skipApiVersionCheck', '--disableTelemetry', '--blobPort', '0']
  const child = spawn(process.execPath, [program, ...options], {
    cwd: tmpdir(),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let port: number | null = null
  for await (const line of createInterface({ input: child.stdout })) {
    port = Number(/listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1] ?? 0) || null
    if (port !== null) break
  }
  if (port === null) throw new Error('azurite did not start')
  child.stdout.resume()
  return {
    port,
    account_name: ACCOUNT_NAME,
    account_key: ACCOUNT_KEY,
    async close() {
      child.kill()
      await once(child, 'exit')
    },
  }
}
