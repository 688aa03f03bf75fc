// The program with a clock of its own, which is so many milliseconds off: `node server.js 300000`. Started, and killed,
// by server-process.ts.
import { serve } from '../../../src/app/serve.ts'
import { takeConfig } from '../../../src/cli/environment.ts'

const offset_ms = Number(process.argv[2])
const server = await serve(takeConfig(), () => undefined, { now: () => new Date(Date.now() + offset_ms) })
// In place of that of bin/start.cjs, which just ends the process.
process.removeAllListeners('SIGTERM').on('SIGTERM', () => void stop())
// Nobody is left who could stop it.
process.on('disconnect', () => void stop())
process.send!(server.url)

async function stop(): Promise<void> {
  await server.stop()
  process.exit(0)
}
