// API key scopes: which exist, and when a set of them satisfies a demand.

export const SCOPE_OBJECTS = [
  'action',
  'activity_log',
  'annotation',
  'batch_export',
  'cohort',
  'dashboard',
  'dashboard_template',
  'early_access_feature',
  'error_tracking',
  'event_definition',
  'experiment',
  'export',
  'feature_flag',
  'group',
  'hog_function',
  'insight',
  'notebook',
  'organization',
  'organization_member',
  'person',
  'plugin',
  'project',
  'property_definition',
  'query',
  'session_recording',
  'session_recording_playlist',
  'sharing_configuration',
  'subscription',
  'survey',
  'user',
  'webhook',
  'warehouse_view',
  'warehouse_table',
] as const

export type Scope = `${(typeof SCOPE_OBJECTS)[number]}:${'read' | 'write'}`

const KNOWN = new Set(['*', ...SCOPE_OBJECTS.flatMap((object) => [`${object}:read`, `${object}:write`])])

export function isScope(text: string): boolean {
  return KNOWN.has(text)
}

/** `*` passes everything; `x:write` includes `x:read`; nothing else implies anything. */
export function hasScope(held: readonly string[], wanted: Scope): boolean {
  return (
    held.includes('*') ||
    held.includes(wanted) ||
    (wanted.endsWith(':read') && held.includes(wanted.replace(':read', ':write')))
  )
}
