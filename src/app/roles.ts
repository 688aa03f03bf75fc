// What one process does of everything that the program can do. All processes are put together alike (compose.ts): a role opens
// paths and starts clockworks. Processes of different roles meet in PostgreSQL and ClickHouse alone.

export const ROLES = ['api', 'capture', 'worker', 'plugins'] as const

export type Role = (typeof ROLES)[number]

/** Settings that a process needs when others do the rest; each with the roles that need it. */
export const NEEDED_BY_ROLES: readonly (readonly [setting: string, roles: readonly Role[]])[] = [
  ['DATABASE_URL', ROLES],
  ['CLICKHOUSE_URL', ROLES],
  ['SECRET_KEY', ROLES],
  // Links in mails, apps that are told where they run: nobody listens on an address that could stand for it.
  ['SITE_URL', ['api', 'worker', 'plugins']],
]

export const hasEveryRole = (roles: readonly Role[]) => ROLES.every((role) => roles.includes(role))
