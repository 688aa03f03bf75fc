// bin/start.cjs and signals: from its first line on they end the process, unless somebody has something to close.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const START = join(import.meta.dirname, '../bin/start.cjs')
const CLOSING = 'setTimeout(() => { console.log("closed"); process.exit(0) }, 50)'

test.each([
  ['SIGTERM', '', 143, ''],
  ['SIGINT', '', 130, ''],
  ['SIGTERM', `process.once("SIGTERM", () => ${CLOSING})`, 0, 'closed\n'],
  ['SIGINT', `process.removeAllListeners("SIGINT").on("SIGINT", () => ${CLOSING})`, 0, 'closed\n'],
])('%s with handlers of the program’s own: %j', (signal, handler, code, printed) => {
  const script = `require(${JSON.stringify(START)}); ${handler}; setInterval(() => {}, 1000); process.kill(process.pid, "${signal}")`
  const { status, stdout } = spawnSync(process.execPath, ['-e', script], {
    encoding: 'utf8',
    timeout: 20_000,
  })
  expect([status, stdout]).toEqual([code, printed])
})
