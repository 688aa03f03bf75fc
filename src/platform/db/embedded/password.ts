// The password of our PostgreSQL: made at the first start, kept in a file that others cannot read, and demanded from every
// connection. Called by embedded.ts and postmaster.ts.

import { chmod, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readSecretFile } from '../../../lib/secret-file.ts'
import { connect, user } from './client.ts'
import type { Cluster } from './cluster.ts'
import type { ClusterPaths } from './paths.ts'
import { giveTo } from './run-as.ts'

const demanding = `# Written by Longshore. The password is in the file postgres.password, beside this folder.
local all all scram-sha-256
`
const trusting = `# Written by Longshore, until it has set a new password.
local all all trust
`

/** Known before PostgreSQL runs, so that processes starting at once agree on it. */
export function readPassword(paths: ClusterPaths): { password: string; isNew: boolean } {
  const { secret, isNew } = readSecretFile(paths.passwordFile)
  if (secret.length < 32)
    throw new Error(
      `${paths.passwordFile} is damaged: remove it, and a new password is made at the next start`,
    )
  return { password: secret, isNew }
}

/**
 * A new password is set through a connection that needs none. Nobody slips in meanwhile: others do not get into the
 * folder of the socket.
 */
export async function letPasswordBeSet(cluster: Cluster) {
  if ((await readFile(rulesFile(cluster), 'utf8').catch(() => '')) === demanding)
    await writeRules(cluster, trusting)
}

/** Once for each data folder, also for one from the time before passwords. */
export async function demandPassword(cluster: Cluster, host: string) {
  if ((await readFile(rulesFile(cluster), 'utf8')) === demanding) return
  const client = await connect({ host, password: cluster.password })
  try {
    // 256 random bits need no slow hash, and every connection would pay for it.
    await client.query('set scram_iterations = 1')
    await client.query(`alter role ${user} password ${client.escapeLiteral(cluster.password)}`)
    await writeRules(cluster, demanding)
    await client.query('select pg_reload_conf()')
  } finally {
    await client.end()
  }
}

function rulesFile({ paths }: Cluster): string {
  return join(paths.folder, 'pg_hba.conf')
}

async function writeRules(cluster: Cluster, rules: string) {
  const draft = `${rulesFile(cluster)}.${process.pid}`
  await writeFile(draft, rules, { mode: 0o600, flush: true })
  await chmod(draft, 0o600)
  await giveTo(cluster.runner.owner, draft)
  await rename(draft, rulesFile(cluster))
}
