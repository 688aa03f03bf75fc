// How a setting is named in an error: with its value, unless that is a secret.

/** Never shown, and taken out of the environment once they are read. */
export const SECRET_SETTINGS: readonly string[] = [
  'DATABASE_URL',
  'CLICKHOUSE_URL',
  'SECRET_KEY',
  'SECRET_KEY_PREVIOUS',
  'BOOTSTRAP_PASSWORD',
  'BOOTSTRAP_API_KEY',
  'SMTP_URL',
  'METRICS_TOKEN',
  'PLUGINS_REPOSITORY_URL',
  'GITHUB_TOKEN',
  'GITLAB_TOKEN',
  'NPM_TOKEN',
  'SOCIAL_AUTH_GOOGLE_OAUTH2_SECRET',
  'SOCIAL_AUTH_GITHUB_SECRET',
  'SOCIAL_AUTH_GITLAB_SECRET',
]

const MAX_LENGTH = 200

export function showSetting(name: string, value: string | number | undefined): string {
  if (value === undefined || SECRET_SETTINGS.includes(name)) return name
  return `${name}=${shownValue(value)}`
}

export function shownValue(value: unknown): string {
  const word = typeof value === 'boolean' ? (value ? 'on' : 'off') : value
  const text = Array.isArray(word) ? word.join(', ') : String(word)
  // Addresses may hold a password.
  const open = text.replace(/\/\/.*@/, '//***@')
  return open.replace(/\p{Cc}/gu, '?').slice(0, MAX_LENGTH)
}
