// SimpleSAMLphp as Debian packages it, on PHP's own web server: an identity provider that others wrote, with a page to sign in
// on. Install it with `apt-get install simplesamlphp php-cli php-xml php-mbstring`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCertificate } from '../../src/features/domains/fixture/certificate.ts'

const ROOT = '/usr/share/simplesamlphp'

export const IS_SIMPLESAMLPHP_HERE = existsSync(`${ROOT}/www/module.php`) && existsSync('/usr/bin/php')

export type ServiceProvider = { entity_id: string; acs_url: string; certificate: string }
export type SimpleSamlPhp = {
  url: string
  metadata_url: string
  /** Until then it knows nobody; requests have to be signed with this certificate. */
  trust(provider: ServiceProvider): Promise<void>
  close(): Promise<void>
}

/** `users`: attributes by "name:password". */
export async function startSimpleSamlPhp(
  users: Record<string, Record<string, string>>,
): Promise<SimpleSamlPhp> {
  const folder = await mkdtemp(join(tmpdir(), 'simplesamlphp-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/`
  const { pem, private_key_pem } = makeCertificate({ type: 'rsa', name: 'simplesamlphp' })
  const folders = ['metadata', 'cert', 'data', 'log', 'tmp'].map((name) => join(folder, name))
  for (const each of folders) await mkdir(each)
  const write = (name: string, text: string) => writeFile(join(folder, name), text)
  await write('cert/idp.pem', private_key_pem)
  await write('cert/idp.crt', pem)
  await write('config.php', `<?php\n$config = ${php(configOf(url, folder))};\n`)
  await write(
    'authsources.php',
    `<?php\n$config = ${php({ people: { 0: 'exampleauth:UserPass', ...users } })};\n`,
  )
  const hosted = { host: '__DEFAULT__', privatekey: 'idp.pem', certificate: 'idp.crt', auth: 'people' }
  await write('metadata/saml20-idp-hosted.php', `<?php\n$metadata['__DYNAMIC:1__'] = ${php(hosted)};\n`)
  await write('router.php', ROUTER)
  // Without its cache of code, which looks for changed files every two seconds only.
  const options = ['-d', 'opcache.enable=0', '-S', `127.0.0.1:${port}`, '-t', `${ROOT}/www`]
  const server = spawn('php', [...options, join(folder, 'router.php')], {
    env: { ...process.env, SIMPLESAMLPHP_CONFIG_DIR: folder },
    stdio: 'ignore',
  })
  const metadata_url = `${url}saml2/idp/metadata.php`
  await untilItAnswers(metadata_url)
  return {
    url,
    metadata_url,
    trust: ({ entity_id, acs_url, certificate }) =>
      write(
        'metadata/saml20-sp-remote.php',
        `<?php\n$metadata[${php(entity_id)}] = ${php({
          AssertionConsumerService: acs_url,
          certData: certificate.replace(/-----[^-]+-----|\s/g, ''),
          'validate.authnrequest': true,
        })};\n`,
      ),
    async close() {
      server.kill()
      await once(server, 'exit')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** PHP's server takes what ends in .php for a file of its own, also behind module.php. */
const ROUTER = `<?php
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if (!preg_match('#^/module\\.php(/.*)?$#', $path, $found)) return false;
$_SERVER['SCRIPT_NAME'] = '/module.php';
$_SERVER['SCRIPT_FILENAME'] = '${ROOT}/www/module.php';
$_SERVER['PATH_INFO'] = $found[1] ?? '';
$_SERVER['PHP_SELF'] = '/module.php' . ($found[1] ?? '');
chdir('${ROOT}/www');
require '${ROOT}/www/module.php';
`

function configOf(url: string, folder: string): Record<string, unknown> {
  return {
    baseurlpath: url,
    certdir: `${folder}/cert/`,
    datadir: `${folder}/data/`,
    loggingdir: `${folder}/log/`,
    tempdir: `${folder}/tmp`,
    metadatadir: `${folder}/metadata/`,
    secretsalt: 'a salt that only tests use',
    'auth.adminpassword': 'nobody signs in as admin here',
    timezone: 'UTC',
    'logging.handler': 'file',
    'enable.saml20-idp': true,
    'module.enable': { exampleauth: true, core: true, saml: true },
    'session.cookie.secure': false,
    'session.phpsession.savepath': `${folder}/tmp`,
    'store.type': 'phpsession',
    'metadata.sources': [{ type: 'flatfile' }],
    'language.available': ['en'],
    'language.default': 'en',
  }
}

function php(value: unknown): string {
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  if (typeof value !== 'object' || value === null) return String(value)
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value)
  return `[${[...entries].map(([key, each]) => `${/^\d+$/.test(String(key)) ? key : php(key)} => ${php(each)}`).join(', ')}]`
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function untilItAnswers(url: string): Promise<void> {
  for (const end = Date.now() + 30_000; Date.now() < end;) {
    const answer = await fetch(url).catch(() => null)
    if (answer?.ok) return
    if (answer)
      throw new Error(`SimpleSAMLphp answered ${answer.status}: ${(await answer.text()).slice(0, 500)}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('SimpleSAMLphp does not answer')
}
