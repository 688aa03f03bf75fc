// Settings in a file named .env in the folder that the program is started in. Those of the process win.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { errorCode } from '../lib/error-code.ts'
import { ConfigError } from './config.ts'

/** Nothing when there is no such file. */
export function readEnvFile(folder: string): Record<string, string | undefined> {
  const file = join(folder, '.env')
  try {
    return parseEnv(readFileSync(file, 'utf8'))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return {}
    throw new ConfigError(`${file} cannot be read (${errorCode(error)}): make it readable, or move it away`)
  }
}
