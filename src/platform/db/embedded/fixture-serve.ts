// A program that opens the embedded PostgreSQL and nothing else, for embedded.test.ts to start, stop and kill. Takes
// the options as JSON, says 'open <connection>' once it is open, and stops when its input ends.

import { openEmbeddedPostgres } from './embedded.ts'

const { dataDir, role, settings } = JSON.parse(process.argv[2] ?? '') as {
  dataDir: string
  role: 'server' | 'command'
  settings: Record<string, string>
}
const say = (line: string) => process.stdout.write(`${line}\n`)
const logTo = (level: string) => (fields: object, message: string) =>
  say(`${level} ${message} ${JSON.stringify(fields)}`)
const log = { info: logTo('info'), warn: logTo('warn'), error: logTo('error') }

try {
  const postgres = await openEmbeddedPostgres({ dataDir, role, settings, log })
  say(`open ${JSON.stringify(postgres.connection)}`)
  await new Promise((resolve) => process.stdin.once('end', resolve).resume())
  await Promise.all([postgres.stop(), postgres.stop()])
  say('stopped')
} catch (error) {
  say(`failed ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
