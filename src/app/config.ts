// The only reader of the environment. All faults are reported together; the result is frozen and handed on.
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { findFaultyAllowEntries } from '../platform/outbound/allow-list.ts'

const list = z
  .string()
  .default('')
  .transform((text) => text.split(/[\s,]+/).filter((entry) => entry !== ''))
const onOff = (standard: 'on' | 'off') => z.enum(['on', 'off']).default(standard).transform((value) => value === 'on')
const optional = z.string().optional().transform((value) => value || null)

/** Every setting, its default and its check. `.env.example` and the README's table name the same ones. */
export const Environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number({ error: 'must be a port number' }).int().min(0).max(65535).default(8000),
  SITE_URL: optional.refine((url) => url === null || isWebOrigin(url), 'must be an http or https address without a path'),
  DATA_DIR: z.string().default('./data').transform((path) => resolve(path)),
  DATABASE_URL: optional.refine((url) => url === null || /^postgres(ql)?:\/\//.test(url), 'must start with postgres://'),
  SECRET_KEY: optional.refine((key) => key === null || key.length >= 32, 'must have at least 32 characters'),
  SECRET_KEY_PREVIOUS: optional,
  BOOTSTRAP_EMAIL: optional.refine((email) => email === null || /^[^\s@]+@[^\s@]+$/.test(email), 'must be an e-mail address'),
  BOOTSTRAP_PASSWORD: optional.refine((password) => password === null || password.length >= 8, 'must have at least 8 characters'),
  BOOTSTRAP_API_KEY: optional.refine(
    (key) => key === null || /^phx_[A-Za-z0-9_-]{32,200}$/.test(key),
    'must start with phx_ and have at least 32 letters or digits after it',
  ),
  SMTP_URL: optional.refine((url) => url === null || /^smtps?:\/\//.test(url), 'must start with smtp:// or smtps://'),
  MAIL_FROM: z.string().default('Longshore <longshore@localhost>'),
  DNS_SERVERS: list.refine((entries) => entries.every(isAddressWithPort), 'must be a list of ip or ip:port'),
  DOMAIN_CHALLENGE_PREFIX: z.string().regex(/^[a-z0-9_-]{1,63}$/i, 'must be one DNS label').default('_posthog-challenge'),
  OUTBOUND_ALLOW: list.refine((entries) => findFaultyAllowEntries(entries).length === 0, 'must be a list of hosts, addresses and CIDRs'),
  TRUSTED_PROXIES: list,
  METRICS_TOKEN: optional,
  MAX_KEYS_PER_USER: z.coerce.number({ error: 'must be a number' }).int().min(1).max(1000).default(10),
  RATE_LIMITS: onOff('on'),
  OPEN_SIGNUP: onOff('off'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  LOG_FORMAT: z.enum(['pretty', 'json']).optional(),
})

export type Config = Readonly<z.output<typeof Environment>>

export class ConfigError extends Error {}

export function readConfig(env: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const result = Environment.safeParse(given)
  if (result.success) return Object.freeze(result.data)
  // Names and rules only: the value may be a password.
  const faults = result.error.issues.map((issue) => `  ${String(issue.path[0])}: ${issue.message}`)
  throw new ConfigError(`These settings cannot be used:\n${[...new Set(faults)].join('\n')}`)
}

/** The key that seals stored secrets: the given one, or one made at first start and kept beside the data. */
export function readSecretKey(config: Config): string {
  if (config.SECRET_KEY !== null) return config.SECRET_KEY
  const file = join(config.DATA_DIR, 'secret.key')
  if (!existsSync(file)) {
    mkdirSync(config.DATA_DIR, { recursive: true, mode: 0o700 })
    try {
      writeFileSync(file, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' })
    } catch (error) {
      // Another process starting at the same moment made it: that one counts.
      if (!existsSync(file)) throw error
    }
  }
  chmodSync(file, 0o600)
  return readFileSync(file, 'utf8').trim()
}

function isWebOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  return ['http:', 'https:'].includes(url.protocol) && url.pathname === '/' && url.search === ''
}

function isAddressWithPort(entry: string): boolean {
  const host = entry.replace(/:\d{1,5}$/, '')
  return isIP(entry) !== 0 || isIP(host.replace(/^\[|\]$/g, '')) !== 0
}
