// An event as persons and groups see it.

export type PersonEvent = {
  project_id: number
  uuid: string
  event: string
  distinct_id: string
  /** Parsed JSON that can be stored: no NUL, no half characters, bounded nesting. `$group_0` to `$group_4` are added. */
  properties: Record<string, unknown>
  /** Microseconds since 1970, UTC. */
  timestamp: bigint
  /** False: the event asked for no person profile, so only its groups count. */
  has_person: boolean
  /** Set when the event is applied: the person then, its properties as JSON text. Null without a profile. */
  person: { id: string; properties: string } | null
}
