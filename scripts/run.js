// Bundles one TypeScript entry and runs it: `node scripts/run.js scripts/bench/main.ts …`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { bundle } from './bundle.js'

const [entry, ...args] = process.argv.slice(2)
const root = new URL('..', import.meta.url).pathname
const start = join(root, 'bin/start.cjs')
// Inside the checkout, so that packages left out of the bundle are found.
const folder = await mkdtemp(join(root, 'node_modules', '.longshore-run-'))
await bundle(entry, folder)
const child = spawn(process.execPath, ['--enable-source-maps', start, join(folder, 'program.js'), ...args], {
  stdio: 'inherit',
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
const [code] = await once(child, 'exit')
await rm(folder, { recursive: true, force: true })
process.exitCode = code ?? 1
