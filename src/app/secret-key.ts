// The key that seals stored secrets: the given one, or one made at the first start and kept beside the data.
import { join } from 'node:path'
import { readSecretFile } from '../lib/secret-file.ts'
import type { Config } from './config.ts'

export function readSecretKey(config: Config): string {
  if (config.SECRET_KEY !== null) return config.SECRET_KEY
  const file = join(config.DATA_DIR, 'secret.key')
  const { secret } = readSecretFile(file)
  // A short one would seal everything under a key that anybody can guess.
  if (secret.length < 32) throw new Error(`${file} is damaged: put it back from a backup, or set SECRET_KEY`)
  return secret
}
