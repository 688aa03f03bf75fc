// What settings there are. All faults are reported together; the result is frozen and handed on.
import ipaddr from 'ipaddr.js'
import { existsSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import pg from 'pg'
import { z } from 'zod'
import { DESTINATIONS } from '../features/batch-exports/destinations/index.ts'
import { LEVELS } from '../platform/http/caller.ts'
import { email } from '../platform/http/fields.ts'
import { DEFAULT_LIMITS, type ServerLimits } from '../platform/http/limits.ts'
import { openMailer } from '../platform/mail/mail.ts'
import { findFaultyAllowEntries } from '../platform/outbound/allow-list.ts'
import { hasEveryRole, NEEDED_BY_ROLES, ROLES } from './roles.ts'
import { showSetting } from './shown-settings.ts'

const list = z
  .string()
  .default('')
  .transform((text) => text.split(/[\s,]+/).filter((entry) => entry !== ''))
const oneOf = <const Choices extends readonly [string, ...string[]]>(choices: Choices) =>
  z.enum(choices, { error: `must be one of ${choices.join(', ')}` })
const onOff = (standard: 'on' | 'off') =>
  oneOf(['on', 'off'])
    .default(standard)
    .transform((value) => value === 'on')
const count = ({ min, max }: { min: number; max: number }) => {
  const error = `must be a number from ${min} to ${max}`
  return z.coerce.number({ error }).int(error).min(min, error).max(max, error)
}
const optional = z
  .string()
  .optional()
  .transform((value) => value || null)

/** Every setting, its default and its check. `.env.example` and the README's table name the same ones. */
export const Environment = z.object({
  ROLES: list
    .refine((names) => names.every(isRole), `must be a list of ${ROLES.join(', ')}`)
    .transform((names) => ROLES.filter((role) => names.length === 0 || names.includes(role))),
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce
    .number({ error: 'must be a port number' })
    .int('must be a port number')
    .min(0, 'must be a port number')
    .max(65535, 'must be a port number')
    .default(8000),
  SITE_URL: optional.refine(
    (url) => url === null || isWebOrigin(url),
    'must be an http or https address without a path',
  ),
  DATA_DIR: z
    .string()
    .default('./data')
    .transform((path) => resolve(path)),
  DATABASE_URL: optional.refine(
    (url) => url === null || isDatabaseUrl(url),
    'must look like postgres://user:password@host:5432/database',
  ),
  CLICKHOUSE_URL: optional.refine(
    (url) => url === null || isClickHouseUrl(url),
    'must look like http://user:password@host:8123/database',
  ),
  CLICKHOUSE_CLUSTER: optional.refine(
    (name) => name === null || /^[\w-]{1,100}$/.test(name),
    'must be the name of a cluster',
  ),
  SECRET_KEY: optional.refine((key) => key === null || key.length >= 32, 'must have at least 32 characters'),
  SECRET_KEY_PREVIOUS: optional,
  BOOTSTRAP_EMAIL: optional
    .refine((address) => address === null || email().safeParse(address).success, 'must be an e-mail address')
    .transform((address) => (address === null ? null : email().parse(address))),
  BOOTSTRAP_PASSWORD: optional.refine(
    (password) => password === null || password.length >= 8,
    'must have at least 8 characters',
  ),
  BOOTSTRAP_API_KEY: optional.refine(
    (key) => key === null || /^phx_[A-Za-z0-9_-]{32,200}$/.test(key),
    'must start with phx_ and have at least 32 letters or digits after it',
  ),
  SMTP_URL: optional.refine(
    (url) => url === null || canMail({ smtp_url: url, from: 'mail@longshore.local' }),
    'must look like smtp://user:password@host:587 or smtps://user:password@host:465',
  ),
  MAIL_FROM: z
    .string()
    .default('Longshore <longshore@localhost>')
    .refine(
      (from) => canMail({ smtp_url: 'smtp://localhost', from }),
      'must be one address, as in Longshore <mail@example.com>',
    ),
  DNS_SERVERS: list.refine(
    (entries) => entries.every(isAddressWithPort),
    'must be a list of addresses, each alone or with a port',
  ),
  DOMAIN_CHALLENGE_PREFIX: z
    .string()
    .regex(/^[a-z0-9_-]{1,63}$/i, 'must be one DNS label')
    .default('_posthog-challenge'),
  OUTBOUND_ALLOW: list.refine(
    (entries) => findFaultyAllowEntries(entries).length === 0,
    'must be a list of hosts, addresses and CIDRs',
  ),
  TRUSTED_PROXIES: list.refine(
    (entries) => entries.every(isProxy),
    'must be a list of addresses, CIDRs, loopback, linklocal and uniquelocal',
  ),
  MAX_CONNECTIONS: count({ min: 10, max: 1_000_000 }).default(DEFAULT_LIMITS.connections),
  MAX_CONNECTIONS_PER_ADDRESS: count({ min: 1, max: 1_000_000 }).default(
    DEFAULT_LIMITS.connections_per_address,
  ),
  HEADER_TIMEOUT_S: count({ min: 1, max: 600 }).default(DEFAULT_LIMITS.header_timeout_ms / 1000),
  IDLE_TIMEOUT_S: count({ min: 1, max: 3600 }).default(DEFAULT_LIMITS.idle_timeout_ms / 1000),
  METRICS_TOKEN: optional,
  MAX_KEYS_PER_USER: count({ min: 1, max: 1000 }).default(10),
  EVENT_MEMORY_MB: count({ min: 96, max: 1_048_576 }).optional(),
  QUERY_TIMEOUT_S: count({ min: 1, max: 3600 }).default(30),
  EXPORT_DIR: optional.transform((path) => (path === null ? null : resolve(path))),
  EXPORT_MAX_RUNS: count({ min: 1, max: 64 }).default(8),
  EXPORT_LOCK_TIMEOUT_S: count({ min: 1, max: 3600 }).default(30),
  DISABLED_DESTINATIONS: list.refine(
    (entries) => entries.every((entry) => DESTINATIONS.has(entry)),
    `must be a list of ${[...DESTINATIONS.keys()].join(', ')}`,
  ),
  SUB_HOURLY_EXPORTS: onOff('on'),
  ALLOW_PLAINTEXT: onOff('off'),
  PLUGINS_LOCAL_DIR: optional.transform((path) => (path === null ? null : resolve(path))),
  PLUGINS_MIN_WRITE_LEVEL: oneOf(['member', 'admin', 'owner'])
    .default('member')
    .transform((name) => LEVELS[name]),
  PLUGINS_REPOSITORY_URL: optional.refine(
    (url) => url === null || /^https?:\/\//.test(url),
    'must be an http or https address',
  ),
  PLUGIN_THREADS: count({ min: 1, max: 64 }).optional(),
  PLUGIN_PATIENCE_MS: count({ min: 10, max: 60_000 }).default(700),
  PLUGIN_HOLD_MB: count({ min: 1, max: 1_000_000 }).default(256),
  GEOIP_DATABASE: optional
    .transform((path) => (path === null ? null : resolve(path)))
    .refine((path) => path === null || existsSync(path), 'must be a file that is there'),
  GITHUB_TOKEN: optional,
  GITLAB_TOKEN: optional,
  NPM_TOKEN: optional,
  SOCIAL_AUTH_GOOGLE_OAUTH2_KEY: optional,
  SOCIAL_AUTH_GOOGLE_OAUTH2_SECRET: optional,
  SOCIAL_AUTH_GITHUB_KEY: optional,
  SOCIAL_AUTH_GITHUB_SECRET: optional,
  SOCIAL_AUTH_GITLAB_KEY: optional,
  SOCIAL_AUTH_GITLAB_SECRET: optional,
  SOCIAL_AUTH_GITLAB_API_URL: optional
    .transform((url) => (url ?? 'https://gitlab.com').replace(/\/+$/, ''))
    .refine(isWebOrigin, 'must be an http or https address without a path'),
  RATE_LIMITS: onOff('on'),
  KEY_LIMITS_PERCENT: count({ min: 1, max: 100_000 }).default(100),
  OPEN_SIGNUP: onOff('off'),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  LOG_FORMAT: oneOf(['pretty', 'json']).optional(),
})

export type Config = Readonly<z.output<typeof Environment>>

export class ConfigError extends Error {}

export function readConfig(env: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const result = Environment.safeParse(given)
  const faults = [
    ...(result.error?.issues ?? []).map(({ path, message }) => ({ name: String(path[0]), message })),
    ...halves(given),
    ...(result.success ? missingForRoles(result.data, given) : []),
  ].map(({ name, message }) => `  ${showSetting(name, given[name])}: ${message}`)
  if (result.success && faults.length === 0) return Object.freeze(result.data)
  throw new ConfigError(`These settings cannot be used:\n${[...new Set(faults)].join('\n')}`)
}

/** Settings that do nothing without another one, each with what it needs. */
const NEEDS: readonly (readonly [name: string, other: string])[] = [
  ['CLICKHOUSE_URL', 'DATABASE_URL'],
  ...['GOOGLE_OAUTH2', 'GITHUB', 'GITLAB'].flatMap((provider) => {
    const [key, secret] = [`SOCIAL_AUTH_${provider}_KEY`, `SOCIAL_AUTH_${provider}_SECRET`] as const
    return [[key, secret] as const, [secret, key] as const]
  }),
]

/** A key without its secret would switch its provider off, and nobody would know why. */
function halves(given: Record<string, string | undefined>): { name: string; message: string }[] {
  return NEEDS.filter(([name, other]) => given[name] !== undefined && given[other] === undefined).map(
    ([name, other]) => ({ name, message: `needs ${other} beside it` }),
  )
}

/** Processes that share the work meet in stores that all of them reach. */
function missingForRoles(
  { ROLES: roles }: Config,
  given: Record<string, string | undefined>,
): { name: string; message: string }[] {
  if (hasEveryRole(roles)) return []
  return NEEDED_BY_ROLES.filter(
    ([setting, users]) => given[setting] === undefined && roles.some((role) => users.includes(role)),
  ).map(([setting]) => ({
    name: 'ROLES',
    message: `a process that does not have all roles needs ${setting}`,
  }))
}

function isRole(name: string): boolean {
  return ROLES.some((role) => role === name)
}

export function serverLimits(config: Config): ServerLimits {
  return {
    connections: config.MAX_CONNECTIONS,
    connections_per_address: config.MAX_CONNECTIONS_PER_ADDRESS,
    header_timeout_ms: config.HEADER_TIMEOUT_S * 1000,
    idle_timeout_ms: config.IDLE_TIMEOUT_S * 1000,
  }
}

function isWebOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  return ['http:', 'https:'].includes(url.protocol) && url.pathname === '/' && url.search === ''
}

function isClickHouseUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

/** Asked of the driver itself: it also takes `postgres://user@/database?host=/folder/of/the/socket`. */
function isDatabaseUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text) && succeeds(() => new pg.Client({ connectionString: text }))
}

/** Opening connects to nobody. */
function canMail(settings: Parameters<typeof openMailer>[0]): boolean {
  return succeeds(() => openMailer(settings).close())
}

/** Node ends the whole process on port 0, and wraps a port above 65535 round. */
function isAddressWithPort(entry: string): boolean {
  if (isIP(entry) !== 0) return true
  const [, v6, v4, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(entry) ?? []
  const isAddress = v6 === undefined ? isIP(v4 ?? '') === 4 : isIP(v6) === 6
  return isAddress && Number(port) >= 1 && Number(port) <= 65535
}

function isProxy(entry: string): boolean {
  return (
    ['loopback', 'linklocal', 'uniquelocal'].includes(entry) || isIP(entry) !== 0 || ipaddr.isValidCIDR(entry)
  )
}

function succeeds(attempt: () => unknown): boolean {
  try {
    attempt()
    return true
  } catch {
    return false
  }
}
