// A certificate for names on loopback, and the file that makes a program trust it (NODE_EXTRA_CA_CERTS).
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type TestTls = { key: string; cert: string; ca_file: string; remove(): void }

export function makeTls(...names: string[]): TestTls {
  const folder = mkdtempSync(join(tmpdir(), 'longshore-tls-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const alternatives = names.map((name) => `DNS:${name}`).join()
  const kind = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2'.split(' ')
  const about = ['-subj', `/CN=${names[0]}`, '-addext', `subjectAltName=${alternatives}`]
  execFileSync('openssl', ['req', ...kind, ...about, '-keyout', key, '-out', cert], { stdio: 'pipe' })
  return {
    key: readFileSync(key, 'utf8'),
    cert: readFileSync(cert, 'utf8'),
    ca_file: cert,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
