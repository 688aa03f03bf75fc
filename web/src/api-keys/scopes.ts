// What a key may do, as a grid: each kind of thing, and whether it may be read, or read and changed. What the server checks
// is in the grid; scopes made for PostHog's other products are kept as they are.

export type Access = 'none' | 'read' | 'write'
export type ScopeKind = { object: string; label: string; text: string; canWrite: boolean }

export const SCOPE_KINDS: readonly ScopeKind[] = [
  { object: 'query', label: 'Events and queries', text: 'List events, run HogQL', canWrite: false },
  { object: 'person', label: 'People', text: 'Look people up', canWrite: false },
  { object: 'group', label: 'Groups', text: 'Types of groups', canWrite: false },
  { object: 'batch_export', label: 'Exports', text: 'Batch exports, runs, backfills, logs', canWrite: true },
  { object: 'plugin', label: 'Apps', text: 'Apps, their settings and logs', canWrite: true },
  { object: 'event_definition', label: 'Event definitions', text: 'The catalogue of events', canWrite: true },
  {
    object: 'property_definition',
    label: 'Property definitions',
    text: 'The catalogue of properties',
    canWrite: true,
  },
  { object: 'annotation', label: 'Annotations', text: 'Notes on days', canWrite: true },
  { object: 'feature_flag', label: 'Feature flags', text: 'For client libraries that ask', canWrite: false },
  { object: 'project', label: 'Projects', text: 'Projects and their settings', canWrite: true },
  { object: 'access_control', label: 'Access', text: 'Who may use which project', canWrite: true },
  {
    object: 'organization',
    label: 'Organization',
    text: 'Settings, domains, service keys, roles',
    canWrite: true,
  },
  { object: 'organization_member', label: 'Members', text: 'Members and invites', canWrite: true },
  { object: 'activity_log', label: 'Activity log', text: 'Who changed what', canWrite: false },
  { object: 'user', label: 'Your account', text: 'Name, address, notifications', canWrite: true },
]

export const EVERYTHING = '*'

export function accessOf(scopes: readonly string[], object: string): Access {
  if (scopes.includes(EVERYTHING) || scopes.includes(`${object}:write`)) return 'write'
  return scopes.includes(`${object}:read`) ? 'read' : 'none'
}

export function withAccess(scopes: readonly string[], object: string, access: Access): string[] {
  const others = scopes.filter((scope) => scope !== EVERYTHING && !scope.startsWith(`${object}:`))
  return access === 'none' ? others : [...others, `${object}:${access}`]
}

/** Those that the grid has no line for. */
export function otherScopes(scopes: readonly string[]): string[] {
  const known = new Set(SCOPE_KINDS.map(({ object }) => object))
  return scopes.filter((scope) => scope !== EVERYTHING && !known.has(scope.split(':')[0]!))
}

/** In a few words, for lists. */
export function scopesText(scopes: readonly string[]): string {
  if (scopes.includes(EVERYTHING)) return 'everything'
  const objects = new Set(scopes.map((scope) => scope.split(':')[0]))
  if (scopes.length === 1) return scopes[0]!
  const writes = scopes.filter((scope) => scope.endsWith(':write')).length
  return `${objects.size} kinds of things, ${writes === 0 ? 'read only' : `${writes} to change`}`
}
