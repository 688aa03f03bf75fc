// Settings for a command: read from the environment, then the secrets are taken out of it.
import { readConfig, type Config } from '../app/config.ts'

const SECRETS = [
  'SECRET_KEY',
  'SECRET_KEY_PREVIOUS',
  'BOOTSTRAP_PASSWORD',
  'BOOTSTRAP_API_KEY',
  'DATABASE_URL',
  'SMTP_URL',
  'METRICS_TOKEN',
]

/** A child process or a crash report cannot show what is no longer there. */
export function takeConfig(): Config {
  const config = readConfig(process.env)
  for (const name of SECRETS) delete process.env[name]
  return config
}
