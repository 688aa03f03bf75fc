// Says which packages for this system are in the lock file and not installed: npm leaves out an optional package whose
// download fails, without a word, and everything native is one.
import { existsSync, readFileSync } from 'node:fs'

const root = new URL('..', import.meta.url)
const { packages } = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8'))
const libc = process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc'

const isForThisSystem = ({ os, cpu, libc: libcs }) =>
  (os ?? cpu) !== undefined &&
  (os ?? [process.platform]).includes(process.platform) &&
  (cpu ?? [process.arch]).includes(process.arch) &&
  (process.platform !== 'linux' || (libcs ?? [libc]).includes(libc))

const missing = Object.entries(packages)
  .filter(([path, locked]) => isForThisSystem(locked) && !existsSync(new URL(`${path}/package.json`, root)))
  .map(([path]) => path)
if (missing.length > 0) {
  process.stderr.write(`npm left out: ${missing.join(', ')}\n`)
  process.exitCode = 1
}
